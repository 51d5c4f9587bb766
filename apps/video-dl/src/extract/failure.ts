import { DomainError, type ErrorCode } from '@media-services/http-common';
import type { EngineFailure } from './engine-messages.js';
import { codeOfFailure } from './failure-table.js';

/** What each code says to the user, given the host of the page. */
const details: Partial<Record<ErrorCode, (host: string) => string>> = {
  private_video: (host) => `The video on ${host} is private. Ask its owner for a public link.`,
  login_required: (host) =>
    `${host} shows this video only to users who are logged in. Use a public video; an operator can give this service a session of the site (COOKIES_FILE).`,
  age_restricted: (host) =>
    `${host} shows this video only after the viewer's age was confirmed. Use another video; an operator can give this service a session with a confirmed age (COOKIES_FILE).`,
  video_not_found: (host) =>
    `The video on ${host} does not exist or was removed. Open the address in a browser and check that the video plays.`,
  not_started: (host) => `The video on ${host} has not started yet. Try again after it has been published.`,
  live_not_supported: (host) =>
    `The video on ${host} is live, or its recording is not finished. Try again when the recording is available.`,
  playlist_not_supported: (host) =>
    `The address on ${host} is a playlist, a channel or a search. Send the address of a single video.`,
  unsupported_url: (host) =>
    `No video was found on this page of ${host}. Send the address of the page that plays the video; if it does play there, the download engine may be out of date.`,
  no_media: (host) =>
    `The page on ${host} has no media that can be downloaded. Check that the video plays in a browser.`,
  drm_protected: (host) =>
    `The video on ${host} is protected by DRM and cannot be downloaded. Use another source.`,
  geo_blocked: (host) =>
    `${host} does not show this video in the region that this service runs in. Use another source; an operator can lead out through another region (OUTBOUND_PROXY).`,
  upstream_unreachable: (host) =>
    `${host}, or an address it leads to, could not be reached. Check the address; try again later.`,
  upstream_rate_limited: (host) =>
    `${host} has received too many requests from this service. Try again in a few minutes.`,
  bot_check: (host) =>
    `${host} asks this service to prove that it is not a bot. Try again later; an operator can set COOKIES_FILE or OUTBOUND_PROXY.`,
  upstream_timeout: (host) => `${host} did not answer in time. Try again later.`,
  upstream_error: (host) =>
    `${host} answered with an error or with something the download engine does not understand. Try again later; if it persists, the download engine may be out of date.`,
};

const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { upstream_rate_limited: 120, bot_check: 600 };

/** Codes that say no more than that something on the way failed: the guard, which saw it, knows better. */
const vagueCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_error',
  'unsupported_url',
  'no_media',
]);

/**
 * The error of a failed extraction.
 * @param refusals what the guard refused or could not reach during the job
 */
export function extractionError(
  failure: EngineFailure,
  refusals: readonly DomainError[],
  url: string,
): DomainError {
  const code = codeOfFailure(failure);
  if (vagueCodes.has(code)) {
    const refusal = refusals.find((error) => error.code === 'forbidden_address');
    if (refusal !== undefined) return refusal;
    const unreached = refusals.at(-1);
    if (unreached !== undefined && code !== 'unsupported_url' && code !== 'no_media') return unreached;
  }
  return codedError(code, url, new EngineFailureError(failure));
}

/** What yt-dlp said, for the log: without addresses, which can hold tokens. */
export class EngineFailureError extends Error {
  override readonly name = 'EngineFailureError';

  constructor({ kind, message, warnings }: EngineFailure) {
    const said = [message, ...warnings].join(' | ').replaceAll(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '<address>');
    super(`${kind}: ${said.slice(0, 800)}`);
  }
}

/** An error with the table's words for this page's host. */
export function codedError(code: ErrorCode, url: string, cause?: unknown): DomainError {
  const detail = details[code] ?? details.upstream_error;
  const retryAfter = retryAfterSeconds[code];
  return new DomainError(code, detail?.(new URL(url).host) ?? 'The page could not be read.', {
    cause,
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  });
}
