export * from './config/describe-config.js';
export * from './config/load-config.js';
export * from './config/settings.js';
export * from './config/unknown-settings.js';
export * from './errors/error-code.js';
export * from './errors/domain-error.js';
export * from './errors/error-table.js';
export * from './errors/parse-request.js';
export * from './errors/problem.js';
export * from './health/health-check.js';
export * from './health/health-registry.js';
export * from './http/gateway-client.js';
export * from './http/http-app.js';
export { requestContext, type Outcome, type RequestContext } from './http/request-context.js';
export { resetConnection, resetSocket } from './http/reset-connection.js';
export { methods, type MethodHandlers } from './http/routes.js';
export { StageTimings } from './http/stage-timings.js';
export * from './logging/logger.js';
export * from './metrics/metrics.js';
export {
  createOpenApiDocument,
  type DocumentOptions,
  type Operation,
  type Success,
} from './openapi/document.js';
export { jsonSchema, type JsonObject } from './openapi/json-schema.js';
export { abortReason, untilAborted, withDeadline } from './runtime/deadline.js';
export * from './runtime/machine.js';
export * from './runtime/package-version.js';
export * from './runtime/run-main.js';
export * from './runtime/run-service.js';
export * from './runtime/shutdown-signal.js';
