import { DomainError, type ErrorCode } from '@media-services/http-common';
import { errorTable } from '../errors.js';
import { engineFailureSchema, type EngineFailure } from './engine-messages.js';
import { causeOfFailure, plainWords } from './failure-causes.js';

/** What happened on a host, by code. The error table says what to do. */
const happened: Partial<Record<ErrorCode, (host: string) => string>> = {
  private_video: (host) => `The video on ${host} is private.`,
  login_required: (host) => `${host} shows this video only to users who are logged in.`,
  age_restricted: (host) => `${host} shows this video only to viewers with a confirmed age.`,
  video_not_found: (host) => `The video on ${host} does not exist or was removed.`,
  not_started: (host) => `The video on ${host} has not started yet.`,
  live_not_supported: (host) => `The video on ${host} is live, or its recording is not finished.`,
  playlist_not_supported: (host) => `The URL on ${host} is a playlist, a channel or a search.`,
  unsupported_url: (host) => `No video was found on this page of ${host}.`,
  no_media: (host) => `The page on ${host} has no media that can be downloaded.`,
  drm_protected: (host) => `The video on ${host} is protected by DRM.`,
  geo_blocked: (host) => `${host} does not show this video in the region that this service runs in.`,
  upstream_unreachable: (host) => `${host}, or a URL it leads to, could not be reached.`,
  upstream_rate_limited: (host) => `${host} has received too many requests from this service.`,
  bot_check: (host) => `${host} asks this service to prove that it is not a bot.`,
  upstream_timeout: (host) => `${host} did not respond in time.`,
  invalid_url: (host) => `The URL on ${host} is incomplete or wrong.`,
  upstream_error: (host) => `${host} returned an error, or something that yt-dlp does not understand.`,
};

const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { upstream_rate_limited: 120, bot_check: 600 };

const outdatedEngineDetail = (host: string): string =>
  `${host} currently serves its media only to players that the download engine can't emulate. Try again later. If you run this server: update yt-dlp (\`npm run update:yt-dlp\`); /api/health reports whether a JavaScript runtime is missing.`;

/** What exceeds a limit of the engine (`engine/download_engine/limits.py`). */
const exceeded: Readonly<Record<string, string>> = {
  PageTooLargeError: 'is larger than this service can read',
  TooManyRequestsError: 'leads to more pages than this service follows',
  ResultTooLargeError: 'lists more media than this service can read',
  OutOfMemoryError: 'takes more memory to read than this service allows',
};

/** Codes for an unspecified network failure. The guard saw it and has a more precise error. */
const vagueCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_error',
]);

/**
 * The error of a failed extraction.
 * @param payload the engine's report
 * @param rejections errors of the guard during the job
 */
export function extractionError(
  payload: unknown,
  rejections: readonly DomainError[],
  url: string,
): DomainError {
  const parsed = engineFailureSchema.safeParse(payload);
  if (!parsed.success) return codedError('upstream_error', url, parsed.error);
  const failure = parsed.data;
  const cause = new EngineFailureError(failure);
  const { host } = new URL(url);
  // The proxy returns 403 for a forbidden address, which looks like a rejection by the site.
  const forbidden = rejections.find((error) => error.code === 'forbidden_address');
  if (forbidden !== undefined) return forbidden;
  if (failure.itemCount != null) return noSuchItem(failure.itemCount, host);
  if (failure.kind === 'OwnApiError') {
    const detail = `The page on ${host} leads to an API like the one of this service. Send the URL of the page itself.`;
    return new DomainError('forbidden_address', detail, { cause });
  }
  const limit = exceeded[failure.kind];
  if (limit !== undefined) return pageTooLarge(`The page on ${host} ${limit}.`, { cause });
  const code = causeOfFailure(failure);
  if (code === 'outdated_engine')
    return new DomainError('upstream_error', outdatedEngineDetail(host), { cause });
  return (vagueCodes.has(code) ? rejections.at(-1) : undefined) ?? codedError(code, url, cause);
}

function noSuchItem(count: number, host: string): DomainError {
  const has = count === 1 ? 'one video' : `${count} videos`;
  return new DomainError('invalid_request', `The page on ${host} has ${has}. Request one of those.`, {
    fields: [{ field: 'item', message: `must be at most ${count} for this page` }],
  });
}

/** yt-dlp's messages for the log, without text from the page, which may contain tokens. */
export class EngineFailureError extends Error {
  override readonly name = 'EngineFailureError';

  constructor({ kind, message, httpStatus, warnings }: EngineFailure) {
    const said = [message, ...warnings.slice(-5)].map(plainWords).join(' | ');
    super(`${kind}${httpStatus == null ? '' : ` (HTTP ${httpStatus})`}: ${said.slice(0, 800)}`);
  }
}

/** An error about this page's host. */
export function codedError(code: ErrorCode, url: string, cause?: unknown): DomainError {
  const what = happened[code]?.(new URL(url).host) ?? errorTable[code].cause;
  const retryAfter = retryAfterSeconds[code];
  return new DomainError(code, `${what} ${errorTable[code].remedy}`, {
    cause,
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  });
}

/** The error for a page beyond a limit, which a retry would exceed again. */
export function pageTooLarge(what: string, { cause, setting }: { cause?: unknown; setting?: string } = {}) {
  const advice = setting === undefined ? '' : ` If you run this server: raise ${setting}.`;
  return new DomainError('unsupported_url', `${what} Send the URL of a single video.${advice}`, { cause });
}
