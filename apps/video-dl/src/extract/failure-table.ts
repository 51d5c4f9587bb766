import type { ErrorCode } from '@media-services/http-common';
import type { EngineFailure } from './engine-messages.js';

/** What a failure is recognised by; one of what is given is enough. */
interface Cause {
  readonly code: ErrorCode;
  /** Class names of the exception, its bases or its causes. */
  readonly kinds?: readonly string[];
  readonly statuses?: readonly number[];
  /** Matched against the message in lower case with straight apostrophes. */
  readonly messages?: readonly RegExp[];
}

/**
 * The one table from cause to code. The first row that matches counts: sites
 * wrap a specific reason into a general one ("Video unavailable. The uploader
 * has not made this video available in your country"), so the specific come first.
 */
export const failureTable: readonly Cause[] = [
  { code: 'playlist_not_supported', kinds: ['PlaylistError'], messages: [/\bis a (playlist|channel)\b/] },
  {
    code: 'bot_check',
    messages: [
      /not a bot\b/,
      /\bcaptcha\b/,
      /anti-?bot/,
      /verify (that )?you are (a )?human/,
      /unusual traffic|requests automated/,
      /\bip (address )?is (likely being |being )?blocked/,
      /tls fingerprint|client challenge|blocked by server/,
    ],
  },
  {
    code: 'upstream_rate_limited',
    statuses: [429],
    messages: [/too many requests/, /rate.?limit/, /http error 429/],
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
    messages: [/private video/, /\b(is|are|been made|marked as) private\b/, /private (account|profile|post)/],
  },
  {
    code: 'geo_blocked',
    kinds: ['GeoRestrictedError'],
    statuses: [451],
    messages: [
      /geo.?(restrict|block|location)/,
      /(not|n't|un) ?(made this video )?(currently )?available (in|from|for|to) (your|this) (country|location|region|area)/,
      /(blocked|restricted|forbidden) (it )?(in|from|for) (your|this) (country|location|region|area)/,
      /available in \w+ only|not licen[cs]ed (in|for) your|blocked by decision of/,
    ],
  },
  { code: 'drm_protected', messages: [/\bdrm\b/, /\bwidevine\b/, /\bfairplay\b/] },
  {
    code: 'not_started',
    kinds: ['UserNotLive'],
    messages: [
      /\bpremieres? (in|on|at|will|shortly)/,
      /\b(will )?begins? (in|at|shortly)/,
      /(has|have)(n't| not) (yet )?(started|aired|begun|premiered)|not started yet/,
      /not (yet|currently) (started|available|live|published|aired)|not available yet/,
      /\b(upcoming|scheduled)\b/,
      /\b(starts? (in|at) \d|will (start|be available) (at|after|in))/,
      /only available after|video is processing|uploading or processing/,
      /waiting for (the )?(live )?(stream|broadcast|premiere)/,
      /\b(stream|streamer|user|channel|radio|video) is (currently )?(offline|not live)/,
    ],
  },
  {
    code: 'live_not_supported',
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
      /(there('s| is) no|\bno|does(n't| not) (contain|have) an?y?) (video|audio|media)/,
      /\bis not a video\b|^not a (video|media file)/,
    ],
  },
  {
    code: 'login_required',
    statuses: [401, 402],
    messages: [
      /registered users/,
      /\b(log|sign)(ging|ing|ged)?[ -]?in\b|\blogin\b|log into/,
      // What yt-dlp appends wherever an account would help.
      /--(cookies|username|netrc)\b/,
      /\bauthenticat|not authori[sz]ed|access (is )?denied/,
      /account (credentials|cookies|is (needed|required))|(do|does) not have (access|permission)/,
      /members?[- ]only|only available (for|to) .*members|channel's members/,
      /join this channel/,
      /subscri(be|bers?|ption)/,
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
      /(video|content|media|post|page|track|clip|episode|event)( \S+)? (is |was |has been )?(currently )?(unavailable|not available|removed|deleted|not found|taken down)/,
      /(channel|lecture|show|song|station|stream|space|playlist)( \S+)? (was )?not found/,
      /(has been|was|been) (removed|deleted|terminated|taken down)/,
      /no longer (available|exists?)|(link|stream|content) (is|has) expired|likely expired/,
      /(does|did)(n't| not) exist|no such /,
      /recording is not available/,
      /\bcopyright\b/,
    ],
  },
  {
    code: 'unsupported_url',
    kinds: ['UnsupportedError'],
    messages: [/unsupported url/, /is not a valid url/, /website is (not|no longer) supported/],
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
      /failed to resolve '|name or service not known|nodename nor servname|no address associated/,
      /connection (refused|reset|aborted|broken)|remote end closed|actively refused/,
      /network is unreachable|no route to host/,
      /certificate verify failed|\bssl\b.*(error|failure)/,
    ],
  },
];

/** The code of what yt-dlp raised; `upstream_error` where no row matches. */
export function codeOfFailure(failure: EngineFailure): ErrorCode {
  const text = [failure.message, ...failure.causes].join('\n').toLowerCase().replaceAll(/[’‘]/g, "'");
  // An HTTP status is a connection that worked, however the classes above it are called.
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
