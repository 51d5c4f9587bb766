import type { ErrorCode } from '@media-services/http-common';
import type { EngineFailure } from './engine-messages.js';

/** The second is Google Drive's, where yt-dlp finds no media then and only warns. */
const rateLimited = /too many (requests|users have)|rate.?limit|http error 429/;

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
  { code: 'playlist_not_supported', messages: [/\bis a (playlist|channel)\b/] },
  {
    code: 'bot_check',
    // Bilibili; no site answers a page without conditions with it for another reason.
    statuses: [412],
    messages: [
      /not a bot\b|\bcaptcha\b|anti-?bot|verify (that )?you are (a )?human/,
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
      rateLimited,
      // YouTube; yt-dlp doesn't always recognise its apostrophe.
      /content isn't available,? (please )?try again later/,
    ],
  },
  {
    code: 'age_restricted',
    messages: [
      /confirm (that )?you(r age|'re (over )?18| are (over )?18)/,
      /\bage.?(restrict|gate|limit|verif)|adult verification|inappropriate for some users/,
      /\b(over|under|older than) 1[89]\b|\b18 years|mature (audience|content)/,
    ],
  },
  {
    code: 'private_video',
    messages: [
      /private (video|content)|\b(is|are|been made|marked as) private\b|private (account|profile|post)/,
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
    kinds: ['UserNotLive'],
    messages: [
      /\bpremieres? (in|on|at|will|shortly)|\b(will )?begins? (in|at|shortly)/,
      /(has|have)(n't| not) (yet )?(started|aired|begun|premiered)|not started yet/,
      /not (yet|currently) (started|available|live|published|aired)|not available yet/,
      /\b(upcoming|scheduled)\b|\b(starts? (in|at) \d|will (start|be available) (at|after|in))/,
      /only available after|(video is|we're|still) (being )?process(ing|ed)|uploading or processing/,
      /waiting for (the )?(live )?(stream|broadcast|premiere)|this event video is unavailable/,
      /\b(stream|streamer|user|channel|radio|video|model) is (now |currently )?(offline|not live)|\blive ?stream is (now |currently )?(offline|not available)/,
    ],
  },
  {
    code: 'live_not_supported',
    messages: [
      /live ?streams? (are|is) not supported|\b(live|live ?stream|event|broadcast|space) (has |was )?ended/,
      /\bis (currently )?(a )?live\b(?! recording)/,
    ],
  },
  {
    code: 'no_media',
    messages: [
      /\bno (suitable |supported |embedded |valid |active )?(video|audio|media|playable|downloadable)?[ -]?(urls?|formats?|streams?|sources?|media|videos?|entries|downloads?)( embeds?)? (was |were |are |could be )?(found|available)/,
      /(could not|failed to) find (any |suitable |a )?(video|media|source|format)s?\b/,
      /requested format is not available|response data has no .{1,10} header/,
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
      /--(cookies|username|netrc)\b|\bauthenticat|not authori[sz]ed|access (is )?denied/,
      /account (credentials|cookies|is (needed|required)|does not have|cannot access)|(do|does) not have (access|permission)/,
      /because of (its|the) privacy settings|privacy settings|\bembed-only\b/,
      /\blimits who can (view|see|watch)/,
      /(members?|supporters?|followers?|patrons?|fans?)[- ]only|\bis locked\b|adobe pass|only available (for|to) .*members|channel's members/,
      /join this channel|subscri(be|ption)|\bpremium\b|\bvip\b/,
      /requires? (payment|purchase|rental)|\bpaid\b|\bpay for\b|\bpurchase|password|passcode/,
    ],
  },
  {
    code: 'video_not_found',
    statuses: [404, 410],
    messages: [
      /http error (404|410)|isn't available any ?more|(video|content|post|track) isn't available/,
      /\bsuspended\b|\bviolat(ed|es|ing|ion)\b/,
      /(video|content|media|post|tweet|page|track|clip|episode|event)( \S+)? (is |was |has been )?(currently )?(unavailable|not available|removed|deleted|not found|taken down)/,
      /(channel|lecture|show|song|station|stream|space|playlist)( \S+)? (was )?not found/,
      /(has been|was|been) (removed|deleted|terminated|taken down)/,
      /no longer (available|exists?)|(link|stream|content) (is|has) expired|likely expired/,
      /(does|did)(n't| not) exist|no such |^no .* exists\b|not archived or indexed|\bexpired or no\b|is unplayable/,
      /recording is not available|content is unreachable|\bcopyright(ed)?\b/,
    ],
  },
  {
    code: 'unsupported_url',
    kinds: ['UnsupportedError'],
    messages: [
      /unsupported url|is not a valid url/,
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
      /network is unreachable|no route to host|certificate verify failed|\bssl\b.*(error|failure)/,
    ],
  },
];

/** Kinds of yt-dlp warnings, in both failed and successful extractions. The first matching row wins. */
const warningTable = [
  ['preview_only', /only (the |extracting )?(the )?preview|just a preview|preview video is limited/],
  ['rate_limited', rateLimited],
  ['no_javascript_runtime', /no supported javascript runtime|without a js runtime/],
  [
    'challenge_failed',
    /(\bn|\bsig(nature)?|js) challenge|(signature|challenge) solving failed|(signature|nsig) extraction failed/,
  ],
  ['sabr_only', /\bsabr\b|only images are available/],
  ['po_token_missing', /\bpo token\b/],
  // Loom's.
  ['private', /(raw|transcoded)-url json: http error 40[13]/],
  ['refused', /http error 403|forbidden/],
  ['gone', /http error 4(04|10)/],
  [
    'site_failed',
    /precondition check failed|http error (400|5\d\d)|said: error|(unable|failed) to (download|extract|fetch|parse|query)|player error|invalid .*response/,
  ],
] as const satisfies readonly (readonly [string, RegExp])[];
export type WarningKind = (typeof warningTable)[number][0] | 'other';

export function warningKind(warning: string): WarningKind {
  const text = matchable(warning);
  return warningTable.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other';
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
 * @returns `outdated_engine` if the download engine is outdated or incomplete, and the page is fine
 */
export function causeOfFailure(failure: EngineFailure): ErrorCode | 'outdated_engine' {
  if (unsupportedPlayer.test(textOf(failure))) return 'outdated_engine';
  const code = codeOfMessage(failure);
  if (!doubtfulCodes.has(code)) return code;
  const kinds = new Set(failure.warnings.map(warningKind));
  if (kinds.has('rate_limited')) return 'upstream_rate_limited';
  if (code === 'video_not_found') return code;
  if (kinds.has('private')) return 'private_video';
  if (kinds.has('refused') && failure.httpStatus == null) return 'bot_check';
  if (code === 'no_media' && kinds.has('gone')) return 'video_not_found';
  // yt-dlp found nothing because the site returned nothing.
  if (code === 'no_media' && kinds.has('site_failed')) return 'upstream_error';
  const isOutdated =
    kinds.has('no_javascript_runtime') || kinds.has('challenge_failed') || kinds.has('sabr_only');
  return isOutdated ? 'outdated_engine' : code;
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
