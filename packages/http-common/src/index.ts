export * from './config/index.js';
export * from './errors/index.js';
export * from './health/index.js';
export * from './http/index.js';
export * from './logging/logger.js';
export * from './metrics/index.js';
export * from './openapi/index.js';
export * from './runtime/index.js';
