export { exposeActivations, MagnitudeMeter, measuredMagnitudes } from './magnitude-meter.js';
export { attributeType, dataType, decodeModel, encodeModel, type OnnxModel } from './onnx-schema.js';
export { quantiseGraph } from './quantise.js';
export { rewriteGraph } from './rewrite.js';
