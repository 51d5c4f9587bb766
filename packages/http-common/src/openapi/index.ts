export { createOpenApiDocument, type DocumentOptions, type Operation, type Success } from './document.js';
export { jsonSchema, type JsonObject } from './json-schema.js';
