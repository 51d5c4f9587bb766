import { perTarget } from '../../src/targets.js';
import type { Extraction, Format } from '../../src/extract/types.js';

/** A format with every field; by default H.264 and AAC in one file. */
export function format(changes: Partial<Format> = {}): Format {
  return {
    id: 'muxed',
    ext: 'mp4',
    protocol: 'https',
    width: 640,
    height: 360,
    fps: 25,
    videoCodec: 'avc1.42c01e',
    audioCodec: 'mp4a.40.2',
    hasVideo: true,
    hasAudio: true,
    videoBitrateKbps: null,
    audioBitrateKbps: null,
    totalBitrateKbps: null,
    filesizeBytes: null,
    filesizeIsEstimate: false,
    note: null,
    source: { url: 'https://cdn.example/v.mp4', headers: {}, kind: 'file' },
    ...changes,
  };
}

export const videoOnly = (changes: Partial<Format> = {}): Format =>
  format({ id: 'video', audioCodec: null, hasAudio: false, ...changes });

export const audioOnly = (changes: Partial<Format> = {}): Format =>
  format({
    id: 'audio',
    ext: 'm4a',
    width: null,
    height: null,
    fps: null,
    videoCodec: null,
    hasVideo: false,
    ...changes,
  });

/** An extraction in which every target uses the same formats. */
export function extraction(formats: readonly Format[], changes: Partial<Extraction> = {}): Extraction {
  return {
    id: 'id',
    title: 'Title',
    thumbnail: null,
    covers: [],
    durationSeconds: 100,
    durationSource: null,
    mediaStateWrongLength: false,
    uploader: null,
    uploadDate: null,
    description: null,
    webpageUrl: 'https://example.com/watch',
    extractor: 'generic',
    playlistIndex: null,
    playlistCount: null,
    items: [],
    section: null,
    suggestedStartSeconds: null,
    formats,
    selections: perTarget(() => formats),
    audioLanguages: [],
    chapters: [],
    subtitles: [],
    extractedAt: 0,
    expiresAt: 300_000,
    ...changes,
  };
}
