import { DomainError, type ErrorCode } from '@media-services/http-common';
import { engineFailureSchema, type EngineFailure } from './engine-messages.js';

/** How to recognise a failure. Any one match is enough. */
interface Cause {
  readonly code: ErrorCode;
  /** Class names of the exception, its bases or its causes. */
  readonly kinds?: readonly string[];
  readonly statuses?: readonly number[];
  /** Matched against the message in lower case with straight apostrophes. */
  readonly messages?: readonly RegExp[];
}

/**
 * Maps causes to codes. The first matching row wins. Sites wrap a specific reason in a
 * general one ("Video unavailable. The uploader has not made this video available in your
 * country"), so specific rows come first.
 */
const failureTable: readonly Cause[] = [
  {
    code: 'invalid_url',
    messages: [/incomplete \w+ id\b/, /^invalid url\b|url (was given without|is missing)\b/],
  },
  { code: 'playlist_not_supported', kinds: ['PlaylistError'], messages: [/\bis a (playlist|channel)\b/] },
  {
    code: 'bot_check',
    // Bilibili; no site answers a page without conditions with it for another reason.
    statuses: [412],
    messages: [
      /not a bot\b/,
      /\bcaptcha\b/,
      /anti-?bot/,
      /verify (that )?you are (a )?human/,
      /unusual traffic|requests automated/,
      /\bip (address )?((is|may be) (likely being |being )?blocked|is unable to access)/,
      /tls fingerprint|client challenge/,
      // Bilibili's -352 and -412.
      /request (is|was) (blocked|rejected|banned)|unable to download video info: (352|401)/,
    ],
  },
  {
    code: 'upstream_rate_limited',
    statuses: [429],
    messages: [
      /too many (requests|users have)/,
      /rate.?limit/,
      /http error 429/,
      // YouTube; yt-dlp doesn't always recognise its apostrophe.
      /content isn't available,? (please )?try again later/,
    ],
  },
  {
    code: 'age_restricted',
    messages: [
      /confirm (that )?you(r age|'re (over )?18| are (over )?18)/,
      /\bage.?(restrict|gate|limit|verif)|adult verification/,
      /inappropriate for some users/,
      /\b(over|under|older than) 1[89]\b|\b18 years/,
      /mature (audience|content)/,
    ],
  },
  {
    code: 'private_video',
    messages: [
      /private (video|content)/,
      /\b(is|are|been made|marked as) private\b/,
      /private (account|profile|post)/,
      /not been made available to anyone|\bin (a )?private show\b/,
    ],
  },
  {
    code: 'geo_blocked',
    kinds: ['GeoRestrictedError'],
    statuses: [451],
    messages: [
      /geo.?(restrict|block|location)/,
      /(not|n't|un) ?(made this video )?(currently )?available (in|from|for|to) (your|this) (country|location|region|area)/,
      /(blocked|restricted|forbidden) (it )?(in|from|for) (your|this) (country|location|region|area)/,
      /available in \w+ only|not licen[cs]ed (in|for) your|blocked by (decision of|\w+ censorship)/,
      /is only (available|licensed to users) in (?!the )\w/,
      /\bwithheld (in|for)\b|\bwithheld\b.*\b(legal demand|local law)/,
    ],
  },
  { code: 'drm_protected', messages: [/\bdrm\b/, /\bwidevine\b/, /\bfairplay\b/] },
  {
    code: 'not_started',
    kinds: ['UserNotLive', 'NotStartedError'],
    messages: [
      /\bpremieres? (in|on|at|will|shortly)/,
      /\b(will )?begins? (in|at|shortly)/,
      /(has|have)(n't| not) (yet )?(started|aired|begun|premiered)|not started yet/,
      /not (yet|currently) (started|available|live|published|aired)|not available yet/,
      /\b(upcoming|scheduled)\b/,
      /\b(starts? (in|at) \d|will (start|be available) (at|after|in))/,
      /only available after|(video is|we're|still) (being )?process(ing|ed)|uploading or processing/,
      /waiting for (the )?(live )?(stream|broadcast|premiere)/,
      /this event video is unavailable/,
      /\b(stream|streamer|user|channel|radio|video|model) is (now |currently )?(offline|not live)|\blive ?stream is (now |currently )?(offline|not available)/,
    ],
  },
  {
    code: 'live_not_supported',
    kinds: ['UnfinishedBroadcastError'],
    messages: [
      /live ?streams? (are|is) not supported/,
      /\b(live|live ?stream|event|broadcast|space) (has |was )?ended/,
      /\bis (currently )?(a )?live\b(?! recording)/,
    ],
  },
  {
    code: 'no_media',
    messages: [
      /\bno (suitable |supported |embedded |valid |active )?(video|audio|media|playable|downloadable)?[ -]?(urls?|formats?|streams?|sources?|media|videos?|entries|downloads?)( embeds?)? (was |were |are |could be )?(found|available)/,
      /(could not|failed to) find (any |suitable |a )?(video|media|source|format)s?\b/,
      /requested format is not available/,
      /response data has no .{1,10} header/,
      /(there('s| is) no|\bno|does(n't| not) (contain|have)( any?| a)?) (video|audio|media)/,
      /\bis not a (video|file)\b|^not a (video|media file)|could not extract a video/,
      /found at the provided url|can(not|'t) find (any )?video|does(n't| not) contain any tracks/,
    ],
  },
  {
    code: 'login_required',
    statuses: [401, 402],
    messages: [
      /registered users|content setting must be enabled|track is restricted|access to .* forbidden/,
      /\b(log|sign)(ging|ing|ged)?[ -]?in\b|\blogin\b|log into/,
      // yt-dlp appends this when an account would help.
      /--(cookies|username|netrc)\b/,
      /\bauthenticat|not authori[sz]ed|access (is )?denied/,
      /account (credentials|cookies|is (needed|required)|does not have|cannot access)|(do|does) not have (access|permission)/,
      /because of (its|the) privacy settings|privacy settings|\bembed-only\b/,
      /\blimits who can (view|see|watch)/,
      /(members?|supporters?|followers?|patrons?|fans?)[- ]only|\bis locked\b|adobe pass|only available (for|to) .*members|channel's members/,
      /join this channel/,
      /subscri(be|ption)/,
      /\bpremium\b|\bvip\b/,
      /requires? (payment|purchase|rental)|\bpaid\b|\bpay for\b|\bpurchase/,
      /password|passcode/,
    ],
  },
  {
    code: 'video_not_found',
    statuses: [404, 410],
    messages: [
      /http error (404|410)/,
      /isn't available any ?more/,
      /(video|content|post|track) isn't available/,
      /\bsuspended\b|\bviolat(ed|es|ing|ion)\b/,
      /(video|content|media|post|tweet|page|track|clip|episode|event)( \S+)? (is |was |has been )?(currently )?(unavailable|not available|removed|deleted|not found|taken down)/,
      /(channel|lecture|show|song|station|stream|space|playlist)( \S+)? (was )?not found/,
      /(has been|was|been) (removed|deleted|terminated|taken down)/,
      /no longer (available|exists?)|(link|stream|content) (is|has) expired|likely expired/,
      /(does|did)(n't| not) exist|no such |^no .* exists\b|not archived or indexed|\bexpired or no\b|is unplayable/,
      /recording is not available|content is unreachable/,
      /\bcopyright(ed)?\b/,
    ],
  },
  {
    code: 'unsupported_url',
    kinds: ['UnsupportedError'],
    messages: [
      /unsupported url/,
      /is not a valid url/,
      /website is (not|no longer) supported|(videos|embeds|formats) are (currently )?(not |un)supported|^unsupported (embed|page|media|entity|showcase)/,
    ],
  },
  {
    code: 'upstream_timeout',
    kinds: ['TimeoutError', 'timeout', 'ReadTimeout', 'ConnectTimeout'],
    statuses: [408, 504, 522, 524],
    messages: [/timed out/],
  },
  {
    code: 'upstream_unreachable',
    kinds: ['ConnectionError', 'gaierror', 'CertificateVerifyError', 'SSLError', 'ProxyError'],
    messages: [
      /failed to resolve\b|name or service not known|nodename nor servname|no address associated/,
      /connection (refused|reset|aborted|broken)|remote end closed|actively refused/,
      /network is unreachable|no route to host/,
      /certificate verify failed|\bssl\b.*(error|failure)/,
    ],
  },
];

/** Kinds of yt-dlp warnings, in both failed and successful extractions. */
export const warningKinds = [
  'preview_only',
  'rate_limited',
  'refused',
  'no_javascript_runtime',
  'challenge_failed',
  'sabr_only',
  'po_token_missing',
  'site_failed',
  'other',
] as const;
export type WarningKind = (typeof warningKinds)[number];

/** The first matching row wins. */
const warningTable: readonly (readonly [WarningKind, RegExp])[] = [
  ['preview_only', /only (the |extracting )?(the )?preview|just a preview|preview video is limited/],
  ['rate_limited', /http error 429|too many requests|rate.?limit/],
  ['no_javascript_runtime', /no supported javascript runtime|without a js runtime/],
  [
    'challenge_failed',
    /(\bn|\bsig(nature)?|js) challenge|(signature|challenge) solving failed|(signature|nsig) extraction failed/,
  ],
  ['sabr_only', /\bsabr\b|only images are available/],
  ['po_token_missing', /\bpo token\b/],
  ['refused', /http error 403|forbidden/],
  [
    'site_failed',
    /precondition check failed|http error (400|5\d\d)|said: error|(unable|failed) to (download|extract|fetch|parse|query)|player error|invalid .*response/,
  ],
];

export function warningKind(warning: string): WarningKind {
  const text = matchable(warning);
  return warningTable.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other';
}

/** The cause of a failed extraction. */
export interface FailureCause {
  readonly code: ErrorCode;
  /** The download engine is outdated or incomplete; the page is fine. */
  readonly engineIsOutdated: boolean;
}

/** YouTube's messages to players that it no longer supports. */
const unsupportedPlayer = /content is not available on this app|watch on the latest version of youtube/;

/** Codes that yt-dlp also causes after the site blocked its requests. */
const doubtfulCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'no_media',
  'upstream_error',
  'unsupported_url',
  'video_not_found',
]);

/**
 * Classifies a failure by its message or, if that is ambiguous, by the warnings before it.
 * Falls back to `upstream_error`.
 */
export function causeOfFailure(failure: EngineFailure): FailureCause {
  if (unsupportedPlayer.test(textOf(failure))) return { code: 'upstream_error', engineIsOutdated: true };
  const code = codeOfMessage(failure);
  if (!doubtfulCodes.has(code)) return { code, engineIsOutdated: false };
  const kinds = new Set(failure.warnings.map(warningKind));
  if (kinds.has('rate_limited')) return { code: 'upstream_rate_limited', engineIsOutdated: false };
  if (code === 'video_not_found') return { code, engineIsOutdated: false };
  if (kinds.has('refused') && failure.httpStatus == null)
    return { code: 'bot_check', engineIsOutdated: false };
  // yt-dlp found nothing because the site returned nothing.
  if (code === 'no_media' && kinds.has('site_failed'))
    return { code: 'upstream_error', engineIsOutdated: false };
  const isOutdated =
    kinds.has('no_javascript_runtime') || kinds.has('challenge_failed') || kinds.has('sabr_only');
  return isOutdated ? { code: 'upstream_error', engineIsOutdated: true } : { code, engineIsOutdated: false };
}

function textOf(failure: EngineFailure): string {
  return [failure.message, ...failure.causes].map(matchable).join('\n');
}

function codeOfMessage(failure: EngineFailure): ErrorCode {
  const text = textOf(failure);
  // An HTTP status means that the connection worked, whatever the exception's class.
  const kinds =
    failure.httpStatus == null ? failure.kinds : failure.kinds.filter((kind) => !isNetworkKind(kind));
  const row = failureTable.find(
    (cause) =>
      cause.kinds?.some((kind) => kinds.includes(kind)) === true ||
      (failure.httpStatus != null && cause.statuses?.includes(failure.httpStatus) === true) ||
      cause.messages?.some((message) => message.test(text)) === true,
  );
  return row?.code ?? 'upstream_error';
}

function isNetworkKind(kind: string): boolean {
  return /^(ConnectionError|ProxyError|SSLError|TimeoutError|timeout)$/.test(kind);
}

function matchable(message: string): string {
  return plainWords(message).toLowerCase().replaceAll(/[’‘]/g, "'");
}

/** yt-dlp's message prefix: the extractor's name and the video's id. */
const prefix = /^\[[\w:+.-]{1,60}\] (?:[^\s:]{1,500}: )?/;
/** An ordinary word or a short number, with surrounding punctuation. */
const plainWord = /^[("'“‘[<]*(?:--)?(?:\p{L}+(?:[’'-]\p{L}+)*|\d{1,4})[)\]>"'”’.,:;!?+]*$/u;
const maxWordCharacters = 30;

/**
 * A yt-dlp message without URLs, ids and tokens from the page. They may be secret, and words in
 * them ("/premium/clip") aren't the site's reason.
 */
export function plainWords(message: string): string {
  return message
    .replace(prefix, '')
    .replaceAll(/["'“]?[a-z][a-z0-9+.-]{0,20}:\/\/\S*/gi, '…')
    .split(/\s+/)
    .map((word) => (word.length <= maxWordCharacters && plainWord.test(word) ? word : '…'))
    .join(' ');
}

/** The detail of each code, given the host of the page. */
const details: Partial<Record<ErrorCode, (host: string) => string>> = {
  private_video: (host) => `The video on ${host} is private. Ask its owner for a public link.`,
  login_required: (host) =>
    `${host} shows this video only to users who are logged in. Use a public video. If you run this server: COOKIES_FILE can provide a session of the site.`,
  age_restricted: (host) =>
    `${host} shows this video only to viewers with a confirmed age. Use another video. If you run this server: COOKIES_FILE can provide a session with a confirmed age.`,
  video_not_found: (host) =>
    `The video on ${host} does not exist or was removed. Open the URL in a browser and check that the video plays.`,
  not_started: (host) => `The video on ${host} has not started yet. Try again after it has been published.`,
  live_not_supported: (host) =>
    `The video on ${host} is live, or its recording is not finished. Try again when the recording is available.`,
  playlist_not_supported: (host) =>
    `The URL on ${host} is a playlist, a channel or a search. Send the URL of a single video.`,
  unsupported_url: (host) =>
    `No video was found on this page of ${host}. Send the URL of the page that plays the video. If it does play there, the download engine may be out of date.`,
  no_media: (host) =>
    `The page on ${host} has no media that can be downloaded. Check that the video plays in a browser.`,
  drm_protected: (host) =>
    `The video on ${host} is protected by DRM and cannot be downloaded. Use another source.`,
  geo_blocked: (host) =>
    `${host} does not show this video in the region that this service runs in. Use another source. If you run this server: OUTBOUND_PROXY can use another region.`,
  upstream_unreachable: (host) =>
    `${host}, or a URL it leads to, could not be reached. Check the URL, or try again later.`,
  upstream_rate_limited: (host) =>
    `${host} has received too many requests from this service. Try again in a few minutes.`,
  bot_check: (host) =>
    `${host} asks this service to prove that it is not a bot. Try again later. If you run this server: set COOKIES_FILE or OUTBOUND_PROXY.`,
  upstream_timeout: (host) => `${host} did not respond in time. Try again later.`,
  invalid_url: (host) => `The URL on ${host} is incomplete or wrong. Copy the whole URL of the page.`,
  upstream_error: (host) =>
    `${host} returned an error, or something that the download engine does not understand. Try again later. If it persists, the download engine may be out of date.`,
};

const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { upstream_rate_limited: 120, bot_check: 600 };

const outdatedEngineDetail = (host: string): string =>
  `${host} currently serves its media only to players that the download engine can't emulate. Try again later. If you run this server: update yt-dlp (\`npm run update:yt-dlp\`); /api/health reports whether a JavaScript runtime is missing.`;

/** Limits of the engine (`engine/download_engine/limits.py`) and their details. */
const limitDetails: Readonly<Record<string, (host: string) => string>> = {
  PageTooLargeError: (host) => `The page on ${host} is larger than this service can read.`,
  TooManyRequestsError: (host) => `The page on ${host} leads to more pages than this service follows.`,
  ResultTooLargeError: (host) => `The page on ${host} lists more media than this service can read.`,
  OutOfMemoryError: (host) => `Reading the page on ${host} takes more memory than this service allows.`,
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
  const limit = limitDetails[failure.kind];
  if (limit !== undefined) return new DomainError('upstream_error', limit(host), { cause });
  const { code, engineIsOutdated } = causeOfFailure(failure);
  if (engineIsOutdated) return new DomainError(code, outdatedEngineDetail(host), { cause });
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

/** An error with the table's detail for this page's host. */
export function codedError(code: ErrorCode, url: string, cause?: unknown): DomainError {
  const detail = details[code] ?? details.upstream_error;
  const retryAfter = retryAfterSeconds[code];
  return new DomainError(code, detail?.(new URL(url).host) ?? 'The page could not be read.', {
    cause,
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  });
}
