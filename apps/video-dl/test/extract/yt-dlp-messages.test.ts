import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { causeOfFailure, warningKind } from '../../src/extract/failure-causes.js';
import { locatePython } from '../../src/extract/engine.js';

const script = fileURLToPath(new URL('support/messages.py', import.meta.url));

/** Messages that the failure table is based on, keyed by their code, with the extractor they come from. */
const expected: Readonly<Record<string, readonly (readonly [module: string, message: string])[]>> = {
  invalid_url: [
    ['kaltura', 'Invalid URL'],
    ['youtube/_mistakes', 'Incomplete YouTube ID …. URL … looks truncated.'],
    ['youtube/_tab', 'A video URL was given without video ID'],
  ],
  bot_check: [
    ['bilibili', 'Request is blocked by server (412), please wait and try later.'],
    ['bilibili', 'Request is rejected by server (352)'],
    ['bilibili', 'Request is rejected by server (352)'],
    ['generic', 'Got HTTP Error 403 caused by Cloudflare anti-bot challenge; '],
    ['reddit', 'Your IP address is unable to access the Reddit API'],
    ['tiktok', 'Your IP address is blocked from accessing this post'],
    ['vimeo', 'If you are using a data center IP or VPN/proxy, your IP may be blocked'],
    ['youtube/_video', 'All player responses are invalid. Your IP is likely being blocked by Youtube'],
  ],
  upstream_rate_limited: [['bilibili', 'You have exceeded the rate limit. Try again later']],
  private_video: [
    ['camsoda', 'Model is in private show.'],
    ['tiktok', "This user's account is private. Log into an account that has access"],
    ['vimeo', 'This event has not been made available to anyone'],
  ],
  geo_blocked: [
    ['common', 'This video is not available from your location due to geo restriction'],
    [
      'common',
      'Access to this webpage has been blocked by Indian censorship. Use a VPN or proxy server (with --proxy) to route around it.',
    ],
    ['mixcloud', 'Track unavailable in your country due to licensing restrictions'],
    ['sohu', '… said: The video is only licensed to users in Mainland China.'],
    ['svt', 'This video is only available in Sweden'],
  ],
  drm_protected: [['common', 'This video is DRM protected']],
  not_started: [
    ['camsoda', 'Model is offline.'],
    ['cbsnews', 'Livestream is not available'],
    ['niconicochannelplus', 'This event has not started yet'],
    ['reddit', 'This video is processing'],
    ['streamable', 'This video is currently unavailable. It may still be uploading or processing.'],
    ['twitter', 'Twitter Space not started yet'],
    ['twitter', 'This live broadcast has not yet started'],
    ['vimeo', 'This event video is unavailable'],
    ['vimeo', 'This live event is scheduled for …'],
  ],
  live_not_supported: [
    ['tiktok', 'This livestream has ended'],
    ['twitter', 'Twitter Space ended and replay is disabled'],
  ],
  no_media: [
    ['../YoutubeDL', 'Requested format is not available. Use --list-formats for a list of available formats'],
    ['bandcamp', "The page doesn't contain any tracks"],
    ['bluesky', 'No video could be found in this post'],
    ['box', 'The requested resource is not a file'],
    ['imgur', '… is not a video or animated image'],
    ['instagram', 'There is no video in this post'],
    ['piapro', 'The URL does not contain audio.'],
    ['reddit', 'No media found'],
    ['rtnews', 'No video/audio found at the provided url.'],
    ['twitter', 'No video could be found in this tweet'],
  ],
  login_required: [
    ['bilibili', 'This is a supporter-only video: …'],
    ['instagram', 'This content is only available for registered users who follow this account'],
    ['kick', 'This video requires a channel subscription'],
    ['iprima', 'Access to stream infos forbidden'],
    ['loom', 'This video is password-protected, use the --video-password option'],
    ['mixcloud', 'Track is restricted'],
    ['niconico', 'Sensitive content setting must be enabled'],
    ['patreon', 'You do not have access to this post'],
    ['tiktok', 'TikTok is requiring login for access to this content'],
    ['twitter', 'NSFW tweet requires authentication'],
    ['twitter', 'You are not authorized to view this protected tweet'],
    [
      'vimeo',
      'Cannot download embed-only video without embedding URL. Please call yt-dlp with the URL of the page that embeds this video.',
    ],
    ['vimeo', 'This video is protected by a password, use the --video-password option'],
  ],
  video_not_found: [
    ['archiveorg', 'The requested video is not archived or indexed'],
    ['instagram', 'This content is unreachable'],
    ['iwara', 'This video is unplayable'],
    ['nintendo', 'No Nintendo Direct with id … exists'],
    ['rtrfm', 'Expired or no episode on this date'],
    ['twitter', 'Requested tweet is unavailable'],
    ['twitter', 'Broadcast no longer exists'],
    ['twitter', 'Twitter Space not found'],
  ],
  unsupported_url: [
    ['generic', '… is not a valid URL'],
    ['nekohacker', 'Spotify embeds are not supported'],
    ['vrsquare', 'VR SQUARE app-only videos are not supported'],
  ],
  upstream_error: [
    ['tiktok', 'Unable to extract universal data for rehydration'],
    ['twitter', 'Error(s) while querying API: …'],
    ['youtube/_video', 'Failed to extract any player response'],
  ],
};

const rows = Object.entries(expected).flatMap(([code, sayings]) =>
  sayings.map(([module, message]) => [module, message, code] as const),
);

const previews = [
  ['bilibili', 'This is a supporter-only video, only the preview will be extracted: …'],
  [
    'bilibili',
    'Only preview format is available, you have to become a premium member to access full video. …',
  ],
  ['manyvids', 'Only extracting preview. Video may be paid or subscription only. …'],
] as const;

const pathOf = (module: string): string =>
  `${module.startsWith('../') ? module.slice(3) : `extractor/${module}`}.py`;

/** Every message of the modules in the pinned yt-dlp; `…` stands for values known only at run time. */
async function messagesOfYtDlp(): Promise<Readonly<Record<string, readonly string[]>>> {
  const paths = new Set([...rows, ...previews].map(([module]) => pathOf(module)));
  const { stdout } = await promisify(execFile)(await locatePython(''), [script, ...paths], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as Record<string, string[]>;
}

const messages = await messagesOfYtDlp();

/** A message as it could appear in a run of yt-dlp. */
const spoken = (message: string): string => message.replaceAll('…', 'x1');

describe('messages of the pinned yt-dlp', () => {
  it.each(rows)('%s: “%s” still exists and is %s', (module, message, code) => {
    expect(messages[pathOf(module)]).toContain(message);
    const kinds = ['ExtractorError', 'YoutubeDLError'];
    const failure = { kind: 'ExtractorError', kinds, message: spoken(message), causes: [], warnings: [] };
    expect(causeOfFailure(failure)).toBe(code);
  });

  it.each(previews)('%s: “%s” still warns of a preview', (module, message) => {
    expect(messages[pathOf(module)]).toContain(message);
    expect(warningKind(spoken(message))).toBe('preview_only');
  });
});
