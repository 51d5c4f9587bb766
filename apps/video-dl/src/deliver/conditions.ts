import { DomainError } from '@media-services/http-common';
import type { ServerResponse } from 'node:http';

/** The headers of a request that depend on the version it knows (RFC 9110 §13.1). */
export interface ConditionHeaders {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/**
 * Whether the client has this version already, so that it needs only a 304 (RFC 9110 §13.2.2).
 * @param etag the version's strong validator; null if it has none
 * @throws DomainError `precondition_failed`
 */
export function hasCurrentVersion({ ifMatch, ifNoneMatch }: ConditionHeaders, etag: string | null): boolean {
  if (ifMatch !== undefined && !matches(ifMatch, etag)) {
    throw new DomainError(
      'precondition_failed',
      `The file ${etag === null ? 'has no ETag' : `has the ETag ${etag}`}, which does not meet the If-Match header of the request. Send the request without it.`,
    );
  }
  return etag !== null && ifNoneMatch !== undefined && matches(ifNoneMatch.replaceAll('W/"', '"'), etag);
}

/** `*` matches whatever exists. */
function matches(header: string, etag: string | null): boolean {
  return header.trim() === '*' || (etag !== null && header.split(',').some((each) => each.trim() === etag));
}

/** Sends a 304 if the client has this version. @throws as `hasCurrentVersion` */
export function isAnswered(
  request: ConditionHeaders,
  response: ServerResponse,
  etag: string | null,
): boolean {
  if (!hasCurrentVersion(request, etag)) return false;
  response.writeHead(304, { ETag: String(etag), 'Cache-Control': 'no-store' }).end();
  return true;
}
