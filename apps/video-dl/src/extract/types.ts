import type { Chapter } from '../formats/chapters.js';
import type { HdrTransfer } from '../formats/probed.js';
import type { SubtitleFormat } from '../formats/subtitles/read.js';
import type { Target } from '../targets.js';
import type { MediaSource } from '../upstream/media-source.js';

/** One of the videos of a page with several. */
export interface PageItem {
  readonly title: string | null;
  readonly durationSeconds: number | null;
  readonly thumbnail: string | null;
}

/** The part of a video that its page shows, in seconds of the whole video. */
export interface Section {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** One format that the page offers. */
export interface Format {
  readonly id: string;
  /** File extension, without the dot. */
  readonly ext: string | null;
  readonly protocol: string;
  /** Pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly fps: number | null;
  /** Of a video with a high dynamic range; absent for any other, or if unknown. */
  readonly hdr?: HdrTransfer | undefined;
  /** Which of the file's audio tracks to read, counted from 0; absent means the first. */
  readonly audioTrack?: number;
  /** The site's or ffprobe's name (`avc1.640028`, `h264`); null if absent or unknown. */
  readonly videoCodec: string | null;
  readonly audioCodec: string | null;
  /** Null while unknown. */
  readonly hasVideo: boolean | null;
  readonly hasAudio: boolean | null;
  readonly videoBitrateKbps: number | null;
  readonly audioBitrateKbps: number | null;
  /** How long the audio of a file with video is; null if the file doesn't say, absent if we haven't asked. */
  readonly audioSeconds?: number | null | undefined;
  /** Whether a transport stream lists audio, but the part we read has none. */
  readonly isAudioAbsent?: boolean | undefined;
  /** How much of the beginning of each track the file hides; absent if nothing, or unknown. */
  readonly hiddenVideoSeconds?: number | undefined;
  readonly hiddenAudioSeconds?: number | undefined;
  /** All streams together. */
  readonly totalBitrateKbps: number | null;
  readonly filesizeBytes: number | null;
  readonly filesizeIsEstimate: boolean;
  readonly note: string | null;
  readonly source: MediaSource;
}

/** Formats by target. */
export type Selections = Readonly<Record<Target, readonly Format[]>>;

/** One language of a page's audio. */
export interface AudioLanguage {
  /** As the site states it, such as `de-AT`; `de-desc` for an audio description. */
  readonly language: string;
  /** Whether it is in the page's own selections. */
  readonly isOriginal: boolean;
  readonly selections: Selections;
}

/** Subtitles that the page offers. */
export interface Subtitles {
  /** As the site states it. */
  readonly language: string;
  readonly label: string;
  /** Whether a machine wrote them. */
  readonly isAutomatic: boolean;
  readonly format: SubtitleFormat;
  readonly source: MediaSource;
}

/** What the download engine found on a page. */
export interface Extraction {
  readonly id: string;
  readonly title: string;
  readonly thumbnail: string | null;
  /** URLs of images for a cover, best first. */
  readonly covers: readonly string[];
  /** Duration of the whole video, even if the page shows only a clip of it. */
  readonly durationSeconds: number | null;
  /** Whether the page states the duration or its media do; null if it is unknown. */
  readonly durationSource: 'page' | 'media' | null;
  /** Whether its media state another, wrong duration. */
  readonly mediaStateWrongLength: boolean;
  readonly uploader: string | null;
  /** `2026-01-31` */
  readonly uploadDate: string | null;
  readonly description: string | null;
  readonly webpageUrl: string;
  readonly extractor: string;
  /** Set if the page has several videos; counted from 1. */
  readonly playlistIndex: number | null;
  readonly playlistCount: number | null;
  /** The first videos of a page with several; empty if it has only one. */
  readonly items: readonly PageItem[];
  /** Set if the page shows a clip of a longer video. */
  readonly section: Section | null;
  /** In order, without overlaps. */
  readonly chapters: readonly Chapter[];
  readonly subtitles: readonly Subtitles[];
  /** The start time in a link such as `t=90`. */
  readonly suggestedStartSeconds: number | null;
  readonly formats: readonly Format[];
  /** What yt-dlp's selector chose per target: none, one (muxed) or two (video, audio). */
  readonly selections: Selections;
  /** Those that the site states. */
  readonly audioLanguages: readonly AudioLanguage[];
  /** Milliseconds since the epoch. */
  readonly extractedAt: number;
  /** Expiry of the media URLs, stated or assumed; milliseconds since the epoch. */
  readonly expiresAt: number;
}
