import { posix } from 'node:path';
import { DomainError } from '@media-services/http-common';

/** Under any prefix, because BASE_PATH and proxies add one. */
const apiPath = /\/api\/(?:info|stream|stream\/video|remove-background)\/?$/;
const urlParameters = ['url', 'image_url'];

/**
 * Rejects a request for our own API's paths on any host. Behind NAT or a proxy, a machine doesn't know
 * its public address, and a page that leads into our own API would occupy the service once per hop.
 * @throws DomainError `forbidden_address`
 */
export function assertNotOwnApi(url: URL): void {
  if (!apiPath.test(posix.normalize(decoded(url.pathname)))) return;
  if (!urlParameters.some((name) => url.searchParams.has(name))) return;
  throw new DomainError(
    'forbidden_address',
    `The URL leads to ${url.host}, to an API like the one of this service. Send the URL of the page itself.`,
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // No such path is ours.
    return path;
  }
}
