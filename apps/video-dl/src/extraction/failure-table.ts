import type { ErrorCode } from '@media-services/http-common';
import type { EngineFailure } from './engine-messages.js';

/** What a failure is recognised by: any of the given is enough. */
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
      /unusual traffic/,
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
      /\bage.?(restricted|restriction|gate|limit|verif)/,
      /inappropriate for some users/,
      /\b(over|under) 18\b/,
      /18 years/,
      /mature (audience|content)/,
    ],
  },
  {
    code: 'private_video',
    messages: [
      /private video/,
      /\b(is|are|been made|marked (as )?) ?private\b/,
      /private (account|profile|post)/,
    ],
  },
  {
    code: 'geo_blocked',
    kinds: ['GeoRestrictedError'],
    statuses: [451],
    messages: [
      /geo.?(restrict|block|location)/,
      /(not|n't|un)( made this video )?(currently )?available (in|from|for|to) (your|this) (country|location|region|area)/,
      /(blocked|restricted|forbidden) (it )?(in|from|for) your (country|location|region|area)/,
      /not licen[cs]ed (in|for) your/,
    ],
  },
  { code: 'drm_protected', messages: [/\bdrm\b/, /\bwidevine\b/, /\bfairplay\b/] },
  {
    code: 'not_started',
    kinds: ['UserNotLive'],
    messages: [
      /\bpremieres? (in|on|at|will|shortly)/,
      /\b(will )?begins? (in|at|shortly)/,
      /(has|have)(n't| not) (yet )?(started|aired|begun|premiered)/,
      /not (yet|currently) (started|available|live|published|aired)/,
      /\b(upcoming|scheduled)\b/,
      /\bstarts? (in|at) \d/,
      /waiting for (the )?(live )?(stream|broadcast|premiere)/,
    ],
  },
  {
    code: 'live_not_supported',
    messages: [
      /live ?streams? (are|is) not supported/,
      /live event has ended/,
      /is (currently )?(a )?live\b(?! recording)/,
    ],
  },
  {
    code: 'no_media',
    messages: [
      /no (video|audio|media|playable|downloadable)?[ -]?(formats?|streams?|sources?|media|videos?|entries) (was |were |could be )?found/,
      /requested format is not available/,
      /(there('s| is) no|no|does(n't| not) (contain|have) an?y?) (video|audio|media)/,
    ],
  },
  {
    code: 'login_required',
    statuses: [401, 402],
    messages: [
      /registered users/,
      /\b(log|sign)(ging|ing)?[ -]?in\b/,
      /\blogin\b/,
      /\bauthenticat/,
      /account (credentials|cookies)/,
      /members?[- ]only|channel's members|available to (this channel's )?members/,
      /join this channel/,
      /subscri(bers?|ption)/,
      /\bpremium\b/,
      /requires? (payment|purchase|rental)|\bpaid\b|\bpurchase/,
    ],
  },
  {
    code: 'video_not_found',
    statuses: [404, 410],
    messages: [
      /http error (404|410)/,
      /(video|content|media|post|page|track|clip|episode) (is |was |has been )?(currently )?(unavailable|not available|removed|deleted|not found|taken down)/,
      /(has been|was|been) (removed|deleted|terminated|taken down)/,
      /no longer (available|exists?)/,
      /(does|did)(n't| not) exist/,
      /recording is not available/,
      /\bcopyright\b/,
    ],
  },
  {
    code: 'unsupported_url',
    kinds: ['UnsupportedError'],
    messages: [/unsupported url/, /is not a valid url/],
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
      /failed to resolve|name or service not known|nodename nor servname|no address associated/,
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
