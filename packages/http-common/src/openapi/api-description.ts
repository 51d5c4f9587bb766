import type { z } from 'zod';
import type { ErrorTable } from '../errors/error-table.js';
import type { JsonObject } from './json-schema.js';

/** What a service tells about its endpoints; the gateway's build makes the OpenAPI document of it. */
export interface ApiDescription {
  /** Groups the operations in documents and generated clients. */
  readonly tag: { readonly name: string; readonly description: string };
  readonly operations: readonly Operation[];
  /** Every error code of the service. */
  readonly errors: ErrorTable;
}

export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The schema that validates the query. */
  readonly query?: z.ZodObject;
  /** The schema that validates the form, and its file. */
  readonly form?: {
    readonly fields: z.ZodObject;
    readonly file: { readonly name: string; readonly description: string };
  };
  readonly success: Success;
  /** The response to a `Range` request; absent if the operation supports no ranges. */
  readonly partial?: Success;
  /** Headers of a `rate_limited` response, besides `Retry-After`. */
  readonly rateLimitHeaders?: HeaderDescriptions;
}

/** A successful response: JSON with a schema, or bytes of a media type. */
export interface Success {
  readonly description: string;
  /** Several if the request chooses. */
  readonly mediaType: string | readonly string[];
  /** Absent: the body is binary. */
  readonly schema?: z.ZodType;
  readonly headers?: HeaderDescriptions;
}

/** Description and schema by header name. */
export type HeaderDescriptions = Readonly<
  Record<string, { readonly description: string; readonly schema: JsonObject }>
>;
