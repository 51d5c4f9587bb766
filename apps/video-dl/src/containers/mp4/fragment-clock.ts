import { childBoxes } from './box.js';
import type { Box } from './box.js';
import type { Mp4Track } from './movie-header.js';

const flag = {
  baseDataOffset: 0x01,
  sampleDescriptionIndex: 0x02,
  defaultSampleDuration: 0x08,
  dataOffset: 0x01,
  firstSampleFlags: 0x04,
  sampleDuration: 0x100,
  sampleSize: 0x200,
  sampleFlags: 0x400,
  sampleCompositionOffset: 0x800,
};

/** How far a track has come. */
export interface TrackProgress {
  handler: string;
  /** Presentation time at which the last sample seen ends. */
  endSeconds: number;
  /** Of it without sound, between samples; 0 for pictures, which may stand still. */
  gapSeconds: number;
  samples: number;
}

/** No codec has frames of sound as long as this. */
const longestSoundSeconds = 0.25;

interface TrackState {
  track: Mp4Track;
  /** Decode time of the next sample. */
  decodeTime: number;
  /** Latest end of a sample, in composition time: B-frames are shown later than they are decoded. */
  end: number;
  gap: number;
  samples: number;
}

/** Adds up, fragment by fragment, how much media has passed (ISO 14496-12, 8.8: moof, traf, tfhd, tfdt, trun). */
export class FragmentClock {
  readonly #tracks = new Map<number, TrackState>();

  constructor(tracks: readonly Mp4Track[]) {
    for (const track of tracks)
      this.#tracks.set(track.id, { track, decodeTime: 0, end: 0, gap: 0, samples: 0 });
  }

  /** In the order of the moov box. */
  get progress(): TrackProgress[] {
    return [...this.#tracks.values()].map(({ track, end, gap, samples }) => ({
      handler: track.handler,
      endSeconds: samples === 0 ? 0 : end / track.timescale + track.shiftSeconds,
      gapSeconds: gap / track.timescale,
      samples,
    }));
  }

  add(moof: Buffer): void {
    for (const box of childBoxes(moof)) if (box.type === 'traf') this.#addTrack(box.bytes);
  }

  #addTrack(traf: Buffer): void {
    const boxes = childBoxes(traf);
    const tfhd = boxes.find(({ type }) => type === 'tfhd');
    const state = tfhd && this.#tracks.get(tfhd.bytes.readUInt32BE(12));
    if (tfhd === undefined || state === undefined) return;
    const defaultDuration = readDefaultDuration(tfhd) ?? state.track.defaultSampleDuration;
    const tfdt = boxes.find(({ type }) => type === 'tfdt');
    if (tfdt !== undefined) state.decodeTime = readDecodeTime(tfdt);
    for (const box of boxes) if (box.type === 'trun') addRun(state, box, defaultDuration);
  }
}

function flags(box: Box): number {
  return box.bytes.readUIntBE(9, 3);
}

function readDefaultDuration(tfhd: Box): number | undefined {
  const set = flags(tfhd);
  if (!(set & flag.defaultSampleDuration)) return undefined;
  const before = [flag.baseDataOffset, flag.baseDataOffset, flag.sampleDescriptionIndex].filter(
    (bit) => set & bit,
  );
  return tfhd.bytes.readUInt32BE(16 + 4 * before.length);
}

function readDecodeTime(tfdt: Box): number {
  return tfdt.bytes.readUInt8(8) === 1 ? Number(tfdt.bytes.readBigUInt64BE(12)) : tfdt.bytes.readUInt32BE(12);
}

function addRun(state: TrackState, trun: Box, defaultDuration: number): void {
  const { bytes } = trun;
  const set = flags(trun);
  const samples = bytes.readUInt32BE(12);
  const { handler, timescale } = state.track;
  const longestUngapped = handler === 'soun' ? longestSoundSeconds * timescale : Infinity;
  const fixedSize =
    4 * [flag.sampleDuration, flag.sampleSize, flag.sampleFlags].filter((bit) => set & bit).length;
  let offset = 16 + (set & flag.dataOffset ? 4 : 0) + (set & flag.firstSampleFlags ? 4 : 0);
  for (let index = 0; index < samples; index += 1) {
    const duration = set & flag.sampleDuration ? bytes.readUInt32BE(offset) : defaultDuration;
    offset += fixedSize;
    // Version 0 has them unsigned, but writers (ffmpeg among them) put negative ones there too.
    const composition = set & flag.sampleCompositionOffset ? bytes.readInt32BE(offset) : 0;
    if (set & flag.sampleCompositionOffset) offset += 4;
    state.end = Math.max(state.end, state.decodeTime + composition + duration);
    if (duration > longestUngapped) state.gap += duration;
    state.decodeTime += duration;
  }
  state.samples += samples;
}
