import { Mp4FormatError, readBoxHeader, type BoxHeader } from './box.js';
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

/** Measured length of a track so far. */
export interface TrackProgress {
  id: number;
  handler: string;
  /** Presentation time of the end of the last sample. */
  endSeconds: number;
  /** Silence between audio samples; 0 for video, where a frame may last any time. */
  gapSeconds: number;
  /** Presentation time of its first sample. The edit list hides anything before zero, but not every player honours it. */
  startSeconds: number;
  /** Duration of its longest sample. */
  longestSeconds: number;
  samples: number;
}

/** Longer than the audio frames of any codec. */
const maxAudioFrameSeconds = 0.25;

interface TrackState {
  track: Mp4Track;
  /** Decode time of the next sample. */
  decodeTime: number;
  /** Latest end of a sample in composition time: B-frames are shown later than they are decoded. */
  end: number;
  /** Earliest composition time of a sample. */
  start: number;
  gap: number;
  longest: number;
  samples: number;
}

/** `tfhd` and `tfdt` in their longest form. */
const maxSmallBoxBytes = 64;
/** `trun` up to its samples, in its longest form. */
const runHeadBytes = 24;

const nothing: Buffer = Buffer.alloc(0);

/** The `trun` being read. */
interface Run {
  readonly flags: number;
  readonly entryBytes: number;
  samplesLeft: number;
}

/**
 * Measures the media in the fragments of an MP4 (ISO 14496-12, 8.8: moof, traf, tfhd, tfdt,
 * trun), in constant memory however large a fragment is.
 */
export class FragmentClock {
  readonly #tracks = new Map<number, TrackState>();
  /** Bytes left of the fragment and of its current track. */
  #fragmentLeft = 0;
  #trackLeft = 0;
  /** Bytes left of a box to skip. */
  #skip = 0;
  /** An incomplete box or sample. */
  #rest = nothing;
  /** State of the current track; undefined if the track is unknown. */
  #state: TrackState | undefined;
  #defaultDuration = 0;
  #run: Run | null = null;
  /** Bytes after the samples in the `trun` box. */
  #afterRun = 0;

  constructor(tracks: readonly Mp4Track[]) {
    for (const track of tracks)
      this.#tracks.set(track.id, {
        track,
        decodeTime: 0,
        end: 0,
        start: Infinity,
        gap: 0,
        longest: 0,
        samples: 0,
      });
  }

  /** In the order of the tracks in moov. */
  get progress(): TrackProgress[] {
    return [...this.#tracks.values()].map(({ track, end, start, gap, longest, samples }) => ({
      id: track.id,
      handler: track.handler,
      endSeconds: samples === 0 ? 0 : end / track.timescale + track.shiftSeconds,
      gapSeconds: gap / track.timescale,
      startSeconds: samples === 0 ? 0 : start / track.timescale + track.shiftSeconds,
      longestSeconds: longest / track.timescale,
      samples,
    }));
  }

  /** Starts a fragment. @param bytes size of the content of its moof box */
  begin(bytes: number): void {
    this.#fragmentLeft = bytes;
  }

  /** Takes the next bytes of that content. @throws Mp4FormatError when they aren't boxes */
  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at < bytes.length) {
      const used = this.#step(bytes, at);
      if (used === 0) break;
      at += used;
      this.#fragmentLeft -= used;
      this.#trackLeft = Math.max(0, this.#trackLeft - used);
    }
    this.#rest = at === bytes.length ? nothing : Buffer.from(bytes.subarray(at));
  }

  /** Ends the fragment. @throws Mp4FormatError when a box in it is incomplete */
  end(): void {
    if (this.#fragmentLeft > 0 || this.#trackLeft > 0 || this.#skip > 0 || this.#run !== null)
      throw pastTheEnd();
  }

  /** @returns the number of bytes used; 0 when more are needed */
  #step(bytes: Buffer, at: number): number {
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, bytes.length - at);
      this.#skip -= skipped;
      return skipped;
    }
    return this.#run === null ? this.#readBox(bytes, at) : this.#readSamples(this.#run, bytes, at);
  }

  #readBox(bytes: Buffer, at: number): number {
    const box = readBoxHeader(bytes, at);
    if (box === undefined) return 0;
    const isInTrack = this.#trackLeft > 0;
    if (box.size > (isInTrack ? this.#trackLeft : this.#fragmentLeft)) throw pastTheEnd();
    if (isInTrack && (box.type === 'tfhd' || box.type === 'tfdt')) return this.#readSmallBox(box, bytes, at);
    if (isInTrack && box.type === 'trun') return this.#readRunHead(box, bytes, at);
    if (!isInTrack && box.type === 'traf') {
      this.#state = undefined;
      // The caller subtracts the header, like all bytes used.
      this.#trackLeft = box.size;
    } else this.#skip = box.size - box.headerSize;
    return box.headerSize;
  }

  #readSmallBox({ type, size }: BoxHeader, bytes: Buffer, at: number): number {
    if (size > maxSmallBoxBytes) throw new Mp4FormatError(`box ${type} is too large`);
    if (bytes.length - at < size) return 0;
    const box = bytes.subarray(at, at + size);
    if (type === 'tfhd') {
      this.#state = this.#tracks.get(box.readUInt32BE(12));
      this.#defaultDuration = readDefaultDuration(box) ?? this.#state?.track.defaultSampleDuration ?? 0;
    } else if (this.#state !== undefined) this.#state.decodeTime = readDecodeTime(box);
    return size;
  }

  #readRunHead({ size }: BoxHeader, bytes: Buffer, at: number): number {
    const head = bytes.subarray(at, at + Math.min(size, runHeadBytes));
    if (head.length < Math.min(size, runHeadBytes)) return 0;
    const flags = flagsOf(head);
    const samples = head.readUInt32BE(12);
    const headBytes = 16 + (flags & flag.dataOffset ? 4 : 0) + (flags & flag.firstSampleFlags ? 4 : 0);
    const entryBytes = 4 * sampleFields.filter((bit) => flags & bit).length;
    if (headBytes + samples * entryBytes > size)
      throw new Mp4FormatError('trun has fewer samples than stated');
    if (this.#state === undefined || samples === 0) this.#skip = size - headBytes;
    else if (entryBytes === 0) {
      addEqualSamples(this.#state, samples, this.#defaultDuration);
      this.#skip = size - headBytes;
    } else {
      this.#run = { flags, entryBytes, samplesLeft: samples };
      this.#afterRun = size - headBytes - samples * entryBytes;
    }
    return headBytes;
  }

  #readSamples(run: Run, bytes: Buffer, at: number): number {
    const count = Math.min(run.samplesLeft, Math.floor((bytes.length - at) / run.entryBytes));
    if (this.#state !== undefined)
      addSamples(this.#state, { ...run, bytes, at, count, defaultDuration: this.#defaultDuration });
    run.samplesLeft -= count;
    if (run.samplesLeft === 0) {
      this.#run = null;
      this.#skip = this.#afterRun;
    }
    return count * run.entryBytes;
  }
}

const sampleFields = [flag.sampleDuration, flag.sampleSize, flag.sampleFlags, flag.sampleCompositionOffset];

function pastTheEnd(): Mp4FormatError {
  return new Mp4FormatError('a box extends past the end of its parent');
}

/** The flags of a full box with an 8-byte header. */
function flagsOf(box: Buffer): number {
  return box.readUIntBE(9, 3);
}

function readDefaultDuration(tfhd: Buffer): number | undefined {
  const set = flagsOf(tfhd);
  if (!(set & flag.defaultSampleDuration)) return undefined;
  const before = [flag.baseDataOffset, flag.baseDataOffset, flag.sampleDescriptionIndex].filter(
    (bit) => set & bit,
  );
  return tfhd.readUInt32BE(16 + 4 * before.length);
}

function readDecodeTime(tfdt: Buffer): number {
  return tfdt.readUInt8(8) === 1 ? Number(tfdt.readBigUInt64BE(12)) : tfdt.readUInt32BE(12);
}

function longestUngapped({ handler, timescale }: Mp4Track): number {
  return handler === 'soun' ? maxAudioFrameSeconds * timescale : Infinity;
}

function addEqualSamples(state: TrackState, samples: number, duration: number): void {
  if (samples > 0) state.start = Math.min(state.start, state.decodeTime);
  state.end = Math.max(state.end, state.decodeTime + samples * duration);
  if (duration > longestUngapped(state.track)) state.gap += samples * duration;
  state.decodeTime += samples * duration;
  state.longest = Math.max(state.longest, duration);
  state.samples += samples;
}

interface Samples {
  readonly bytes: Buffer;
  readonly at: number;
  readonly count: number;
  readonly flags: number;
  readonly entryBytes: number;
  readonly defaultDuration: number;
}

function addSamples(
  state: TrackState,
  { bytes, at, count, flags, entryBytes, defaultDuration }: Samples,
): void {
  const longest = longestUngapped(state.track);
  const hasDuration = (flags & flag.sampleDuration) !== 0;
  const hasComposition = (flags & flag.sampleCompositionOffset) !== 0;
  for (let index = 0; index < count; index += 1) {
    const entry = at + index * entryBytes;
    const duration = hasDuration ? bytes.readUInt32BE(entry) : defaultDuration;
    // The last field. Unsigned in version 0, but writers such as ffmpeg use negative values there too.
    const composition = hasComposition ? bytes.readInt32BE(entry + entryBytes - 4) : 0;
    state.start = Math.min(state.start, state.decodeTime + composition);
    state.end = Math.max(state.end, state.decodeTime + composition + duration);
    if (duration > longest) state.gap += duration;
    if (duration > state.longest) state.longest = duration;
    state.decodeTime += duration;
  }
  state.samples += count;
}
