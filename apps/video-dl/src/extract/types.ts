import type { MediaSource } from '../upstream/media-source.js';

/** What `downloads` of `/api/info` lists. */
export const downloadTargets = ['mp3', 'mp4-720', 'mp4-1080'] as const;
/** What a client can request; `original` is the best audio without re-encoding. */
export type Target = (typeof downloadTargets)[number] | 'original';

/** One of the videos of a page with several. */
export interface PageItem {
  readonly title: string | null;
  readonly durationSeconds: number | null;
  readonly thumbnail: string | null;
}

/** The part of a video that its page is about, in seconds of the whole video. */
export interface Section {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** One way in which the page offers its media. */
export interface Format {
  readonly id: string;
  /** File extension, without the dot. */
  readonly ext: string | null;
  readonly protocol: string;
  /** Pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly fps: number | null;
  /** As the site or ffprobe names it (`avc1.640028`, `h264`); `null` where there is none or it is unknown. */
  readonly videoCodec: string | null;
  readonly audioCodec: string | null;
  /** Whether the format has such a stream; `null` while that is unknown. */
  readonly hasVideo: boolean | null;
  readonly hasAudio: boolean | null;
  readonly videoBitrateKbps: number | null;
  readonly audioBitrateKbps: number | null;
  /** All streams together. */
  readonly totalBitrateKbps: number | null;
  readonly filesizeBytes: number | null;
  readonly filesizeIsEstimate: boolean;
  readonly note: string | null;
  readonly source: MediaSource;
}

/** Formats by target. */
export type Selections = Readonly<Record<Target, readonly Format[]>>;

export function mapSelections(
  selections: Selections,
  change: (formats: readonly Format[]) => readonly Format[],
): Selections {
  return {
    mp3: change(selections.mp3),
    'mp4-720': change(selections['mp4-720']),
    'mp4-1080': change(selections['mp4-1080']),
    original: change(selections.original),
  };
}

/** What the download engine found on a page. */
export interface Extraction {
  readonly id: string;
  readonly title: string;
  readonly thumbnail: string | null;
  /** Of the whole video, also where the page shows a clip of it. */
  readonly durationSeconds: number | null;
  readonly uploader: string | null;
  /** `2026-01-31` */
  readonly uploadDate: string | null;
  readonly description: string | null;
  readonly webpageUrl: string;
  readonly extractor: string;
  /** Set where the page has several videos and this is one of them; counted from 1. */
  readonly playlistIndex: number | null;
  readonly playlistCount: number | null;
  /** The first videos of a page with several; empty where the page has one. */
  readonly items: readonly PageItem[];
  /** Set where the page shows a clip of a longer video. */
  readonly section: Section | null;
  /** Where a link with a time (`t=90`) lets the video begin. */
  readonly suggestedStartSeconds: number | null;
  readonly formats: readonly Format[];
  /** What yt-dlp's selector chose per target: none, one (muxed) or two (video, audio). */
  readonly selections: Selections;
  /** Milliseconds since the epoch. */
  readonly extractedAt: number;
  /** When the media URLs stop working, as far as they say; milliseconds since the epoch. */
  readonly expiresAt: number;
}
