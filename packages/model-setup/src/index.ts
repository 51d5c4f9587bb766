export { installModel, type InstallOptions } from './install-model.js';
export type {
  HubSource,
  InstalledFiles,
  ModelRecipe,
  PackageSource,
  Preprocessing,
  WeightsSource,
} from './recipe.js';
export { packagedWeights } from './sources/packaged-weights.js';
export { WeightsError } from './recipe.js';
