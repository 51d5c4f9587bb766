import type { ErrorCode } from '@media-services/http-common';
import { causeOfFailure, plainWords, warningKind } from '../../src/extract/failure-causes.js';
import { EngineFailureError } from '../../src/extract/failures.js';

/** Messages of sites and yt-dlp, keyed by their code. */
const sayings: Partial<Record<ErrorCode, string[]>> = {
  bot_check: [
    'Sign in to confirm you’re not a bot. Use --cookies-from-browser or --cookies for the authentication.',
    "Sign in to confirm you're not a bot. This helps protect our community.",
    'Got HTTP Error 403 caused by Cloudflare anti-bot challenge; try again with  --extractor-args "generic:impersonate"',
    'All player responses are invalid. Your IP is likely being blocked by Youtube',
    'Request is blocked by server (412), please wait and try later.',
    'Request is rejected by server (352)',
    'Unable to download video info: 352: request was banned, please wait and try later',
    'Unable to download video info: 401: 非法访问, please wait and try later',
    'Got HTTP Error 403. If you are using a data center IP or VPN/proxy, your IP may be blocked',
  ],
  upstream_rate_limited: [
    'Unable to download webpage: HTTP Error 429: Too Many Requests',
    'Video unavailable. This content isn’t available, try again later.',
    "This content isn't available, please try again later",
    "Sorry, you can't view or download this file at this time. Too many users have viewed or downloaded this file recently.",
    "Video unavailable. This content isn't available, try again later. The current session has been rate-limited by YouTube for up to an hour.",
  ],
  age_restricted: [
    'Sign in to confirm your age. This video may be inappropriate for some users. Use --cookies-from-browser or --cookies',
    'This video is age-restricted and only available on YouTube',
    'Adult verification is required for this stream. Use --cookies',
  ],
  private_video: [
    "Private video. Sign in if you've been granted access to this video",
    'This video is private',
    'Video unavailable. This video is private',
    'dailymotion said: Private content',
  ],
  geo_blocked: [
    'This video is not available from your location due to geo restriction',
    'Video unavailable. The uploader has not made this video available in your country',
    'Video unavailable. This video contains content from X, who has blocked it in your country on copyright grounds',
    'Twitter API says: This Post from @somebody has been withheld in Germany in response to a legal demand',
    'Youku said: Sorry, this video is available in China only',
  ],
  drm_protected: [
    'This video is DRM protected',
    'The requested site is known to use DRM protection. It will NOT be supported.',
  ],
  not_started: [
    'Premieres in 3 hours',
    'This live event will begin in 2 days.',
    'Premiere will begin shortly',
    'This live event is scheduled for 2026-12-01T18:00:00+00:00',
    'Twitter Space not started yet',
    "We're processing this video. Check back later.",
    'This video is still being processed',
    'The channel is not currently live',
    'The video has not started yet',
  ],
  live_not_supported: [
    'This live event has ended.',
    'Livestream has ended.',
    'Live streams are not supported',
    'The video is live',
  ],
  no_media: [
    'Response data has no m3u header',
    'No video formats found!',
    'Requested format is not available. Use --list-formats for a list of available formats',
    'No video could be found in this tweet',
    'There is no video in this post',
    'This article does not contain a video',
  ],
  login_required: [
    'This video is only available for registered users. Use --cookies, --cookies-from-browser, --username and --password',
    'Login required to access this video',
    'Join this channel to get access to members-only content like this video, and other exclusive perks.',
    "This video is available to this channel's members on level: X",
    'This video requires payment to watch.',
    'Cannot download embed-only video without embedding URL. Please call yt-dlp with the URL of the page that embeds this video.',
    'Because of its privacy settings, this video cannot be played here.',
    'This video is only available for subscribers',
    'Twitter API says: You’re unable to view this Post because this account owner limits who can view their Posts',
    'This video is protected by a password, use the --video-password option',
    'You do not have access to this class. Use --cookies-from-browser',
  ],
  video_not_found: [
    'Video unavailable',
    'Video unavailable. This video has been removed by the uploader',
    'This video is no longer available because the YouTube account associated with this video has been terminated.',
    'Unable to download webpage: HTTP Error 404: Not Found',
    'Unable to download JSON metadata: HTTP Error 410: Gone',
    'Video 12345 does not exist',
    'Twitter API says: This Post is from a suspended account',
    'Twitter API says: This Post violated the X Rules',
    'dailymotion said: Copyrighted content, access forbidden',
    "Video unavailable. This content isn't available",
    'This live stream recording is not available.',
    'Channel not found',
    "Video unavailable. This video isn't available anymore",
    'This video has been removed for violating YouTube’s Terms of Service',
  ],
  playlist_not_supported: ['This is a playlist'],
  invalid_url: ['Incomplete YouTube ID abc. URL https://www.youtube.com/watch?v=abc looks truncated.'],
  unsupported_url: ['Unsupported URL: https://example.com/', "'x' is not a valid URL"],
  upstream_timeout: ['Unable to download webpage: The read operation timed out', '<urlopen error timed out>'],
  upstream_unreachable: [
    'Unable to download webpage: [Errno -2] Name or service not known',
    "HTTPSConnection(host='x.invalid', port=443): Failed to resolve 'x.invalid' ([Errno -2] Name or service not known)",
    'Unable to download webpage: <urlopen error [Errno 111] Connection refused>',
    '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate',
  ],
  upstream_error: [
    'Unable to download webpage: HTTP Error 403: Forbidden',
    'Unable to download webpage: HTTP Error 500: Internal Server Error',
    'Unable to extract video info',
    'API returned error status 7',
    "'NoneType' object is not subscriptable",
    'Precondition check failed.',
  ],
};

const failure = (message: string, more = {}) => ({
  kind: 'ExtractorError',
  kinds: ['ExtractorError', 'YoutubeDLError'],
  message,
  causes: [],
  expected: true,
  warnings: [],
  ...more,
});

describe('causeOfFailure', () => {
  const rows = Object.entries(sayings).flatMap(([code, messages]) =>
    messages.map((message) => [message, code]),
  );

  it.each(rows)('“%s” is %s', (message, code) => {
    expect(causeOfFailure(failure(message))).toBe(code);
  });

  it.each([
    ['GeoRestrictedError', 'geo_blocked'],
    ['UnsupportedError', 'unsupported_url'],
    ['UserNotLive', 'not_started'],
    ['TimeoutError', 'upstream_timeout'],
    ['CertificateVerifyError', 'upstream_unreachable'],
  ])('recognises the class %s without a message', (kind, code) => {
    expect(causeOfFailure(failure('Something', { kind, kinds: [kind, 'ExtractorError'] }))).toBe(code);
  });

  it.each([
    [401, 'login_required'],
    [404, 'video_not_found'],
    [410, 'video_not_found'],
    [429, 'upstream_rate_limited'],
    [451, 'geo_blocked'],
    [504, 'upstream_timeout'],
    [500, 'upstream_error'],
    [503, 'upstream_error'],
    [412, 'bot_check'],
  ])('recognises the status %i', (httpStatus, code) => {
    const kinds = ['ExtractorError', 'HTTPError', 'URLError', 'OSError', 'ConnectionError'];
    expect(causeOfFailure(failure('Unable to download webpage', { httpStatus, kinds }))).toBe(code);
  });
});

describe('text from the page', () => {
  it.each([
    ['Unsupported URL: https://site.example/premium/clip', 'unsupported_url'],
    ['Unsupported URL: https://site.example/upcoming', 'unsupported_url'],
    ['Unsupported URL: https://site.example/captcha-free?login=1', 'unsupported_url'],
    [
      '[generic] premium: Unable to download webpage: HTTP Error 500: Internal Server Error',
      'upstream_error',
    ],
    ["[generic] Unable to read 'https://x.example/private video/drm'", 'upstream_error'],
    ['Unable to extract vip_token=login', 'upstream_error'],
  ])('in “%s” is not taken as the cause', (message, code) => {
    expect(causeOfFailure(failure(message))).toBe(code);
  });

  it.each([
    '[generic] sec9?sig=SECRET: Unable to download webpage: HTTP Error 403: Forbidden',
    'Unable to read https://cdn.example/v.mp4?token=SECRET now',
    "Failed to resolve 'SECRET-7f3a9.example.com'",
    'Id SECRET_8271 of user mail@SECRET.example is wrong',
    'key=SECRET',
  ])('in “%s” never reaches the log', (message) => {
    expect(new EngineFailureError(failure(message, { warnings: [message] })).message).not.toContain('SECRET');
  });

  it('is removed without making the sentence unreadable', () => {
    expect(plainWords('[youtube] dQw4w9WgXcQ: Private video. Sign in if you’ve been granted access')).toBe(
      'Private video. Sign in if you’ve been granted access',
    );
  });

  it('is processed in linear time', () => {
    for (const part of ['a', '[', 'http://', "'", 'a.', '-', ' ', 'a-', '(', '…', 'is not available ']) {
      const message = part.repeat(200_000).slice(0, 200_000);
      const longest = plainWords(message)
        .split(' ')
        .reduce((length, word) => Math.max(length, word.length), 0);
      expect(longest).toBeLessThanOrEqual(30);
    }
  });
});

describe('warnings', () => {
  const warned = (message: string, ...warnings: string[]) => causeOfFailure(failure(message, { warnings }));
  const noFormats = 'No video formats found!';
  const sabr =
    '[youtube] abc: Some web client https formats have been skipped as they are missing a URL. YouTube is forcing SABR streaming for this client.';
  const challenge = '[youtube] abc: n challenge solving failed: Some formats may be missing.';
  const noRuntime =
    'No supported JavaScript runtime could be found. Only deno is enabled by default; to use another runtime add  --js-runtimes RUNTIME[:PATH]';

  it.each([
    [noFormats, '[youtube] YouTube said: ERROR - Precondition check failed.', 'upstream_error'],
    [noFormats, '[youtube] abc: Unable to download API page: HTTP Error 400: Bad Request', 'upstream_error'],
    [
      noFormats,
      '[youtube] Unable to download API page: HTTP Error 429: Too Many Requests',
      'upstream_rate_limited',
    ],
    [
      'Failed to extract any player response',
      '[youtube] Unable to download API page: HTTP Error 403: Forbidden',
      'bot_check',
    ],
    [
      'Video unavailable',
      '[youtube] Unable to download API page: HTTP Error 429: Too Many Requests',
      'upstream_rate_limited',
    ],
    [
      'Video unavailable',
      '[youtube] Unable to download API page: HTTP Error 403: Forbidden',
      'video_not_found',
    ],
    ['Private video', '[youtube] Unable to download API page: HTTP Error 429', 'private_video'],
    [noFormats, '[youtube] abc: Player error: something went wrong', 'upstream_error'],
    [noFormats, '[youtube] abc: Unable to download API page', 'upstream_error'],
    [noFormats, 'Something harmless', 'no_media'],
  ])('determine the cause of “%s” after “%s”: %s', (message, warning, code) => {
    expect(warned(message, warning)).toBe(code);
  });

  it.each([sabr, challenge, noRuntime, 'Only images are available for download'])(
    'tell that the engine is what stands in the way (“%s”)',
    (warning) => {
      for (const message of [noFormats, 'Requested format is not available'])
        expect(warned(message, warning)).toBe('outdated_engine');
    },
  );

  it.each([
    'The following content is not available on this app. Watch on the latest version of YouTube',
    'Video unavailable. The following content is not available on this app..',
  ])('are not needed if the message itself says that the engine is outdated (“%s”)', (message) => {
    expect(warned(message)).toBe('outdated_engine');
  });

  it.each([
    [sabr, 'sabr_only'],
    [challenge, 'challenge_failed'],
    [noRuntime, 'no_javascript_runtime'],
    [
      '[youtube] abc: android client https formats require a GVS PO Token which was not provided.',
      'po_token_missing',
    ],
    ['Signature solving failed', 'challenge_failed'],
    ['HTTP Error 429', 'rate_limited'],
    ['HTTP Error 403: Forbidden', 'refused'],
    ['Falling back on generic information extractor', 'other'],
  ])('have a kind (“%s”)', (warning, kind) => {
    expect(warningKind(warning)).toBe(kind);
  });
});
