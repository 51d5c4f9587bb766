export * from './health-check.js';
export * from './health-registry.js';
