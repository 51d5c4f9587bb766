export * from './error-code.js';
export * from './domain-error.js';
export * from './error-table.js';
export * from './parse-request.js';
export * from './problem.js';
