import type { Tone } from '../media.js';

/** YouTube's data for one video, and the behaviour of its media servers. */
export interface Video {
  /** What clients that get URLs (`tv`) receive. */
  readonly itags: readonly number[];
  /** Heights in the playlist of clients that get one (`visionos`). */
  readonly hlsHeights: readonly number[];
  /** Its largest file has more bytes than one request may read. */
  readonly isLarge: boolean;
  readonly tracks: readonly Track[];
  /** Seconds of advertisements before media become available. */
  readonly adSeconds: number;
  /** How long its media URLs are valid. */
  readonly lifeSeconds: number;
  /** The media servers reject every request for it. */
  readonly isRefused: boolean;
  readonly drm: boolean;
  readonly isLive: boolean;
  readonly isUpcoming: boolean;
  readonly description?: string;
  readonly hasCaptions?: true;
  /** Why it can't be played. */
  readonly fault?: Fault;
  readonly playability: Playability;
}

export type Fault = 'rate limit' | 'forbidden' | 'precondition' | 'another video' | 'unreadable player';

export interface Playability {
  readonly status: string;
  readonly reason?: string;
  readonly errorScreen?: unknown;
}

/** One language or mix of the audio. */
export interface Track {
  readonly id: string;
  readonly language: string;
  readonly name: string;
  readonly tone: Tone;
  readonly isDefault: boolean;
  readonly isCompressed?: boolean;
  /** Bits a second on top: sites' dubs are a little larger than their originals. */
  readonly extraBitrate?: number;
}

const original: Track = { id: '', language: 'en', name: '', tone: 'original', isDefault: true };
const dubbed: readonly Track[] = [
  { id: 'de.3', language: 'de', name: 'German', tone: 'dub', isDefault: false, extraBitrate: 100 },
  { id: 'en.4', language: 'en', name: 'English original', tone: 'original', isDefault: true },
];
const mixes: readonly Track[] = [
  { ...original, tone: 'compressed', isCompressed: true, extraBitrate: 2000 },
  {
    id: 'en.10',
    language: 'en',
    name: 'English descriptive',
    tone: 'described',
    isDefault: false,
    extraBitrate: 1000,
  },
  { id: 'en.4', language: 'en', name: 'English original', tone: 'original', isDefault: true },
];

const ok: Playability = { status: 'OK' };
const allItags = [18, 134, 136, 137, 140, 248, 251];

const usual: Video = {
  itags: allItags,
  hlsHeights: [360, 720, 1080],
  isLarge: false,
  tracks: [original],
  adSeconds: 0,
  lifeSeconds: 6 * 3600,
  isRefused: false,
  drm: false,
  isLive: false,
  isUpcoming: false,
  playability: ok,
};

/** Its description lists chapters. */
const inChapters: Video = { ...usual, description: '0:00 Anfang ä\n0:01 Mitte\n0:03 Ende' };

const withoutMedia = (status: string, reason: string, subreason?: string): Video => ({
  ...usual,
  playability: {
    status,
    reason,
    ...(subreason !== undefined && {
      errorScreen: {
        playerErrorMessageRenderer: { reason: { simpleText: reason }, subreason: { simpleText: subreason } },
      },
    }),
  },
});

/** By the prefix of the video's id, before the number. */
const videos = {
  plain: usual,
  files: { ...usual, hlsHeights: [], isLarge: true },
  single: { ...usual, itags: [18], hlsHeights: [] },
  webm: { ...usual, itags: [248, 251], hlsHeights: [] },
  playlst: { ...usual, itags: [] },
  dubbed: { ...usual, tracks: dubbed },
  dubfile: { ...usual, tracks: dubbed, hlsHeights: [] },
  dubhls: { ...usual, tracks: dubbed, itags: [] },
  mixes: { ...usual, tracks: mixes, hlsHeights: [] },
  chapters: inChapters,
  spoken: { ...inChapters, tracks: dubbed, hasCaptions: true },
  captions: { ...usual, hasCaptions: true },
  capfile: { ...usual, hlsHeights: [], hasCaptions: true },
  chapfile: { ...inChapters, hlsHeights: [] },
  chaphls: { ...inChapters, itags: [] },
  'ad-3': { ...usual, adSeconds: 3 },
  'ad-5': { ...usual, adSeconds: 5 },
  'ad-15': { ...usual, adSeconds: 15 },
  adhls: { ...usual, itags: [], adSeconds: 3 },
  refused: { ...usual, isRefused: true },
  sabr: { ...usual, itags: [], hlsHeights: [] },
  drm: { ...usual, hlsHeights: [], drm: true },
  live: { ...usual, isLive: true },
  soon: { ...withoutMedia('LIVE_STREAM_OFFLINE', 'Premieres in 3 hours'), isUpcoming: true },
  private: withoutMedia(
    'LOGIN_REQUIRED',
    'Private video',
    "Sign in if you've been granted access to this video",
  ),
  bot: withoutMedia(
    'LOGIN_REQUIRED',
    'Sign in to confirm you’re not a bot',
    'This helps protect our community. Learn more',
  ),
  age: withoutMedia(
    'LOGIN_REQUIRED',
    'Sign in to confirm your age',
    'This video may be inappropriate for some users.',
  ),
  geo: withoutMedia(
    'UNPLAYABLE',
    'Video unavailable',
    'The uploader has not made this video available in your country',
  ),
  blocked: withoutMedia(
    'UNPLAYABLE',
    'Video unavailable',
    'This video contains content from Somebody, who has blocked it in your country on copyright grounds',
  ),
  removed: withoutMedia('ERROR', 'Video unavailable', 'This video has been removed by the uploader'),
  closed: withoutMedia(
    'ERROR',
    'This video is no longer available because the YouTube account associated with this video has been terminated.',
  ),
  gone: withoutMedia('ERROR', 'Video unavailable', "This video isn't available anymore"),
  ended: withoutMedia('LIVE_STREAM_OFFLINE', 'This live event has ended.'),
  members: withoutMedia(
    'UNPLAYABLE',
    'Join this channel to get access to members-only content like this video, and other exclusive perks.',
  ),
  paid: withoutMedia('UNPLAYABLE', 'This video requires payment to watch.'),
  working: withoutMedia('ERROR', "We're processing this video. Check back later."),
  limited: withoutMedia('UNPLAYABLE', 'Video unavailable', "This content isn't available, try again later."),
  captcha: {
    ...usual,
    playability: {
      status: 'LOGIN_REQUIRED',
      reason: 'Unable to play',
      errorScreen: { playerCaptchaViewModel: { site: 'x' } },
    },
  },
  http429: { ...usual, fault: 'rate limit' },
  http403: { ...usual, fault: 'forbidden' },
  unmet: { ...usual, fault: 'precondition' },
  other: { ...usual, fault: 'another video' },
  puzzle: { ...usual, hlsHeights: [], fault: 'unreadable player' },
  pzlhls: { ...usual, fault: 'unreadable player' },
} satisfies Record<string, Video>;

export type VideoName = keyof typeof videos;

/** The id of the `number`th video of a kind: eleven characters. */
export function videoId(name: VideoName, number = 1): string {
  return `${name}-${String(number).padStart(10 - name.length, '0')}`;
}

/** @returns undefined if there is no such video */
export function videoOf(id: string): Video | undefined {
  const name = id.slice(0, id.lastIndexOf('-'));
  return isKnown(name) ? videos[name] : undefined;
}

function isKnown(name: string): name is keyof typeof videos {
  return Object.hasOwn(videos, name);
}
