export * from './config/load-config.js';
export * from './config/settings.js';
export * from './errors/domain-error.js';
export * from './errors/error-table.js';
export * from './errors/problem.js';
export * from './health/health.js';
export { attachment } from './http/attachment.js';
export { fileName } from './http/file-name.js';
export * from './http/http-app.js';
export { gatewayClient, type GatewayClient } from './http/client.js';
export { requestContext, StageTimings, type Outcome, type RequestContext } from './http/request-context.js';
export { resetConnection, resetSocket } from './http/reset-connection.js';
export { methods, type MethodHandlers } from './http/routes.js';
export * from './logging/logger.js';
export * from './metrics/metrics.js';
export {
  createOpenApiDocument,
  type DocumentOptions,
  type Operation,
  type Success,
} from './openapi/document.js';
export { jsonSchema, type JsonObject } from './openapi/common-parts.js';
export { abortReason, untilAborted, withDeadline } from './runtime/deadline.js';
export * from './runtime/machine.js';
export * from './runtime/run-main.js';
export * from './runtime/run-service.js';
