export * from './describe-config.js';
export * from './load-config.js';
export * from './settings.js';
export * from './unknown-settings.js';
