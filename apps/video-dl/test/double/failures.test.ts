import type { ErrorCode } from '@media-services/http-common';
import type { TestService } from '../support/service.js';
import { startBehind, watchPage } from './shapes.js';
import { Double } from '@media-services/fault-site/double';
import type { VideoName } from '@media-services/fault-site/double';

let double: Double;
let service: TestService;

beforeAll(async () => {
  double = await Double.start();
  service = await startBehind(double);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await double[Symbol.asyncDispose]();
});

const youTube: Readonly<Record<string, readonly VideoName[]>> = {
  private_video: ['private'],
  bot_check: ['bot', 'captcha', 'http403', 'other'],
  upstream_rate_limited: ['limited', 'http429'],
  age_restricted: ['age'],
  geo_blocked: ['geo', 'blocked'],
  video_not_found: ['removed', 'closed', 'gone'],
  not_started: ['soon', 'working'],
  live_not_supported: ['live', 'ended'],
  login_required: ['members', 'paid'],
  drm_protected: ['drm'],
  upstream_error: ['sabr', 'puzzle', 'unmet'],
};

/** Expected codes for the messages of each site's extractor. */
const others: readonly (readonly [code: ErrorCode, what: string, page: string])[] = [
  ['invalid_url', 'YouTube: a truncated id', 'https://www.youtube.com/watch?v=abc'],
  ['video_not_found', 'YouTube: an unknown id', 'https://www.youtube.com/watch?v=nothing0000'],
  ['bot_check', 'TikTok: the IP is blocked', 'https://www.tiktok.com/@somebody/video/2'],
  ['login_required', 'TikTok: a private account', 'https://www.tiktok.com/@somebody/video/3'],
  ['login_required', 'X: for adults', 'https://x.com/somebody/status/1000000000000000003'],
  ['login_required', 'X: a protected account', 'https://x.com/somebody/status/1000000000000000004'],
  ['no_media', 'X: text only', 'https://x.com/somebody/status/1000000000000000005'],
  ['login_required', 'Vimeo: privacy settings', 'https://player.vimeo.com/video/100000002'],
  ['video_not_found', 'Vimeo: no such film', 'https://player.vimeo.com/video/100000003'],
  [
    'login_required',
    'Reddit: a private place',
    'https://www.reddit.com/r/somewhere/comments/private1/a_clip/',
  ],
  ['video_not_found', 'Reddit: no such post', 'https://www.reddit.com/r/somewhere/comments/nothing1/a_clip/'],
  ['login_required', 'Instagram: nothing without a session', 'https://www.instagram.com/p/DoubleNone1/'],
  ['geo_blocked', 'SoundCloud: blocked here', 'https://soundcloud.com/somebody/elsewhere'],
  ['video_not_found', 'SoundCloud: no such track', 'https://soundcloud.com/somebody/nothing'],
  ['video_not_found', 'Twitch: no such clip', 'https://clips.twitch.tv/DoubleNone'],
  ['private_video', 'Loom: a private recording', `https://www.loom.com/share/${'1'.repeat(32)}`],
  ['video_not_found', 'Loom: no such recording', `https://www.loom.com/share/${'2'.repeat(32)}`],
  [
    'upstream_rate_limited',
    'Google Drive: downloaded too often',
    `https://drive.google.com/file/d/${'1'.repeat(28)}/view`,
  ],
];

const rows = [
  ...Object.entries(youTube).flatMap(([code, names]) =>
    names.map((name) => [code, `YouTube: ${name}`, watchPage(name)] as const),
  ),
  ...others,
];

it.each(rows)('%s: %s', async (code, _what, page) => {
  const { body } = await service.info(page);
  expect(body).toMatchObject({ code });
});
