export { abortReason, untilAborted, withDeadline } from './deadline.js';
export * from './machine.js';
export * from './package-version.js';
export * from './run-main.js';
export * from './run-service.js';
export * from './shutdown-signal.js';
