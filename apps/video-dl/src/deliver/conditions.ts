import { DomainError } from '@media-services/http-common';
import type { ServerResponse } from 'node:http';

/** The headers of a request that depend on the version it knows (RFC 9110 §13.1). */
export interface ConditionHeaders {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/**
 * Sends a 304 if the client has this version already (RFC 9110 §13.2.2).
 * @param etag the version's strong validator; null if it has none
 * @throws DomainError `precondition_failed`
 */
export function isAnswered(
  { ifMatch, ifNoneMatch }: ConditionHeaders,
  response: ServerResponse,
  etag: string | null,
): boolean {
  if (ifMatch !== undefined && !matches(ifMatch, etag)) {
    throw new DomainError(
      'precondition_failed',
      `The file ${etag === null ? 'has no ETag' : `has the ETag ${etag}`}, which does not meet the If-Match header of the request. Send the request without it.`,
    );
  }
  if (etag === null || ifNoneMatch === undefined) return false;
  if (!matches(ifNoneMatch.replaceAll('W/"', '"'), etag)) return false;
  response.writeHead(304, { ETag: etag, 'Cache-Control': 'no-store' }).end();
  return true;
}

/** `*` matches whatever exists. */
function matches(header: string, etag: string | null): boolean {
  return header.trim() === '*' || (etag !== null && header.split(',').some((each) => each.trim() === etag));
}
