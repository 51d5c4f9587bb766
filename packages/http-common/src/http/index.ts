export * from './gateway-client.js';
export * from './http-app.js';
export { requestContext, type Outcome, type RequestContext } from './request-context.js';
export { resetConnection, resetSocket } from './reset-connection.js';
export { methods, type MethodHandlers } from './routes.js';
export { StageTimings } from './stage-timings.js';
