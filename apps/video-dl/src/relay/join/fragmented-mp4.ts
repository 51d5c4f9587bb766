import { childBoxes, Mp4FormatError, readBoxHeader, type Box } from '../../containers/mp4/box.js';
import { fragmentedTracks, movieEssentials } from '../../containers/mp4/movie-essentials.js';
import type { Mp4Track } from '../../containers/mp4/movie-header.js';
import { damaged, notJoinable, type Joiner, type SegmentFacts, type TrackLengths } from './joiner.js';
import { Timeline } from './timeline.js';

/** What lies at the top of a segment (ISO 14496-12 and 23009-1). */
const topBoxes = new Set([
  ...['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'prft', 'emsg', 'pssh'],
  ...['free', 'skip', 'wide', 'pdin', 'meta', 'uuid', 'mfra', 'udta'],
]);
/** Of no use to a reader of the joined stream: they name places in a segment that has moved. */
const droppedBoxes = new Set(['sidx', 'ssix', 'mfra', 'prft', 'emsg', 'styp']);
const maxHeldBytes = 8 * 1024 ** 2;
const maxTime = 2 ** 63;

/** The box at the top whose bytes are coming. */
interface OpenBox {
  readonly type: string;
  left: number;
  /** Of a box that is looked at as a whole. */
  readonly held: Buffer[] | null;
}

/** A fragment's share of one track. */
interface TrackRun {
  readonly trackId: number;
  readonly track: Mp4Track;
  readonly header: Box;
  readonly tfdt: Box | null;
  /** Ticks. */
  readonly decodeTime: number;
  readonly duration: number;
  readonly samples: number;
  /** Of the first sample, in ticks. */
  readonly composition: number;
}

/**
 * Joins segments of fragmented MP4 (ISO 14496-12, 8.8): one initialisation at the
 * beginning, then fragments, whose boxes must be whole and whose decode times are
 * brought into one clock.
 */
export class FragmentedMp4Joiner implements Joiner {
  readonly #timeline = new Timeline();
  readonly #isOnlySegment: boolean;
  #facts: SegmentFacts = { seconds: null, isRounded: false, isDiscontinuity: false, initialisation: null };
  #moov: Buffer | null = null;
  #tracks = new Map<number, Mp4Track>();
  #header = Buffer.alloc(0);
  #box: OpenBox | null = null;
  /** Whether the segment has been placed in time. */
  #isPlaced = false;
  #hasMovie = false;
  #hasFragment = false;
  #isMediaDue = false;
  #isFileOfItsOwn = false;
  /** Bytes of the joined stream so far. */
  #position = 0;
  /** By track: where its next sample begins on the source's clock, in ticks. */
  readonly #clocks = new Map<number, number>();
  #startSeconds: number | null = null;

  /** @param isOnlySegment the list names one file: that need not be fragmented */
  constructor(isOnlySegment: boolean) {
    this.#isOnlySegment = isOnlySegment;
  }

  get startSeconds(): number | null {
    return this.#startSeconds;
  }

  get lengths(): TrackLengths | null {
    if (this.#isFileOfItsOwn) return null;
    return this.#timeline.lengths((id) => kindOf(this.#tracks.get(id)?.handler));
  }

  begin(facts: SegmentFacts): void {
    this.#facts = facts;
    this.#isPlaced = false;
    this.#hasMovie = false;
    this.#hasFragment = false;
    this.#isMediaDue = false;
  }

  push(chunk: Buffer): readonly Buffer[] {
    const output: Buffer[] = [];
    let rest = chunk;
    try {
      while (rest.length > 0) {
        rest = this.#box === null ? this.#readHeader(rest, output) : this.#readBody(this.#box, rest, output);
      }
    } catch (error) {
      if (error instanceof Mp4FormatError || error instanceof RangeError)
        throw damaged('its boxes make no sense');
      throw error;
    }
    return output;
  }

  end(): readonly Buffer[] {
    if (this.#box !== null || this.#header.length > 0)
      throw damaged('a part of it ends in the middle of a box');
    if (this.#isMediaDue) throw damaged('a part of it ends in front of its media');
    if (this.#isFileOfItsOwn) return [];
    // The first of yt-dlp's fragments is the initialisation.
    const isInitialisation = this.#facts.initialisation === null && this.#hasMovie && !this.#hasFragment;
    if (!isInitialisation) this.#timeline.endSegment(this.#facts);
    return [];
  }

  finish(): void {
    if (!this.#isFileOfItsOwn) this.#timeline.finish();
  }

  #readHeader(rest: Buffer, output: Buffer[]): Buffer {
    const joined = this.#header.length === 0 ? rest : Buffer.concat([this.#header, rest]);
    const box = readBoxHeader(joined);
    if (joined.length >= 8 && !topBoxes.has(joined.toString('latin1', 4, 8)))
      throw damaged('a part of it is no MP4');
    if (box === undefined) {
      this.#header = Buffer.from(joined);
      return Buffer.alloc(0);
    }
    this.#header = Buffer.alloc(0);
    if (!Number.isFinite(box.size)) throw damaged('a part of it has no end');
    const isHeld = box.type === 'moov' || box.type === 'moof';
    if (isHeld && box.size > maxHeldBytes) throw damaged('its boxes are too large');
    this.#note(box.type);
    const header = joined.subarray(0, box.headerSize);
    this.#box = { type: box.type, left: box.size - box.headerSize, held: isHeld ? [header] : null };
    if (this.#isPassed(box.type) && !isHeld) this.#emit(header, output);
    if (this.#box.left === 0) this.#endBox(this.#box, output);
    return joined.subarray(box.headerSize);
  }

  #readBody(box: OpenBox, rest: Buffer, output: Buffer[]): Buffer {
    const part = rest.subarray(0, Math.min(box.left, rest.length));
    box.left -= part.length;
    if (box.held !== null) box.held.push(part);
    else if (this.#isPassed(box.type)) this.#emit(part, output);
    if (box.left === 0) this.#endBox(box, output);
    return rest.subarray(part.length);
  }

  #emit(bytes: Buffer, output: Buffer[]): void {
    this.#position += bytes.length;
    output.push(bytes);
  }

  #isPassed(type: string): boolean {
    return !droppedBoxes.has(type) && !(type === 'ftyp' && this.#moov !== null);
  }

  #note(type: string): void {
    if (type === 'mdat') {
      if (!this.#isMediaDue && !this.#isFileOfItsOwn && !this.#isOnlySegment)
        throw damaged('a part of it has media without a description');
      this.#isMediaDue = false;
    } else if (type === 'moof') {
      if (this.#isMediaDue) throw damaged('a fragment of it is empty');
      if (this.#moov === null) throw damaged('its beginning is missing');
      this.#isMediaDue = true;
      this.#hasFragment = true;
    }
  }

  #endBox({ type, held }: OpenBox, output: Buffer[]): void {
    this.#box = null;
    if (held === null) return;
    const bytes = Buffer.concat(held);
    if (type === 'moov') this.#takeMovie(bytes, output);
    else this.#emit(this.#placed(bytes), output);
  }

  #takeMovie(moov: Buffer, output: Buffer[]): void {
    this.#hasMovie = true;
    if (this.#moov === null) {
      this.#moov = moov;
      this.#tracks = fragmentedTracks(moov);
      this.#isFileOfItsOwn = this.#isOnlySegment && this.#tracks.size === 0;
      this.#emit(moov, output);
      return;
    }
    if (!describesTheSame(this.#moov, moov)) throw notJoinable('changes its encoding in the middle');
  }

  /** The fragment with its times in the one clock. */
  #placed(moof: Buffer): Buffer {
    const runs = readRuns(moof, this.#tracks, this.#clocks);
    const firsts = new Map<number, number>();
    const starts: number[] = [];
    for (const { trackId, track, decodeTime, composition } of runs) {
      if (firsts.has(trackId)) continue;
      firsts.set(trackId, decodeTime / track.timescale);
      starts.push((decodeTime + composition) / track.timescale + track.shiftSeconds);
    }
    if (starts.length > 0) this.#startSeconds ??= Math.min(...starts);
    if (!this.#isPlaced && firsts.size > 0) {
      this.#timeline.begin(firsts, this.#facts.isDiscontinuity);
      this.#isPlaced = true;
    }
    const moved = Buffer.from(moof);
    for (const { trackId, track, header, tfdt, decodeTime, duration, samples } of runs) {
      if (samples > 0) this.#timeline.add(trackId, decodeTime / track.timescale, duration / track.timescale);
      this.#clocks.set(trackId, decodeTime + duration);
      // Positions are those of the file that the fragment lay in.
      if ((flagsOf(header) & 0x01) !== 0)
        moved.writeBigUInt64BE(BigInt(this.#position), header.bytes.byteOffset - moof.byteOffset + 16);
      if (tfdt === null) continue;
      const time = decodeTime + Math.round(this.#timeline.offset * track.timescale);
      writeDecodeTime(moved, tfdt.bytes.byteOffset - moof.byteOffset, tfdt, time);
    }
    return moved;
  }
}

/** Whether fragments made for one movie header can be read with the other. */
function describesTheSame(one: Buffer, other: Buffer): boolean {
  return one.equals(other) || movieEssentials(one).equals(movieEssentials(other));
}

function readRuns(
  moof: Buffer,
  tracks: ReadonlyMap<number, Mp4Track>,
  clocks: ReadonlyMap<number, number>,
): TrackRun[] {
  return childBoxes(moof).flatMap((traf) => {
    if (traf.type !== 'traf') return [];
    const boxes = childBoxes(traf.bytes);
    const header = boxes.find(({ type }) => type === 'tfhd');
    const trackId = header?.bytes.readUInt32BE(12) ?? 0;
    const track = tracks.get(trackId);
    if (header === undefined || track === undefined) return [];
    const defaultDuration = readDefaultDuration(header) ?? track.defaultSampleDuration;
    const tfdt = boxes.find(({ type }) => type === 'tfdt') ?? null;
    const totals = boxes.filter(({ type }) => type === 'trun').map((trun) => readRun(trun, defaultDuration));
    return [
      {
        ...{ trackId, track, header, tfdt },
        // Without a time of its own it goes on where the one before ended.
        decodeTime: tfdt === null ? (clocks.get(trackId) ?? 0) : readDecodeTime(tfdt),
        duration: totals.reduce((sum, { duration }) => sum + duration, 0),
        samples: totals.reduce((sum, { samples }) => sum + samples, 0),
        composition: totals[0]?.composition ?? 0,
      },
    ];
  });
}

function kindOf(handler: string | undefined): 'video' | 'audio' | 'other' {
  if (handler === 'vide') return 'video';
  return handler === 'soun' ? 'audio' : 'other';
}

function flagsOf({ bytes }: Box): number {
  return bytes.readUIntBE(9, 3);
}

/** tfhd: track, then the fields that its flags name, in this order. */
function readDefaultDuration(tfhd: Box): number | undefined {
  const flags = flagsOf(tfhd);
  if ((flags & 0x08) === 0) return undefined;
  return tfhd.bytes.readUInt32BE(16 + (flags & 0x01 ? 8 : 0) + (flags & 0x02 ? 4 : 0));
}

function readRun(trun: Box, defaultDuration: number): Pick<TrackRun, 'duration' | 'samples' | 'composition'> {
  const { bytes } = trun;
  const flags = flagsOf(trun);
  const samples = bytes.readUInt32BE(12);
  const start = 16 + (flags & 0x01 ? 4 : 0) + (flags & 0x04 ? 4 : 0);
  const fields = [0x100, 0x200, 0x400, 0x800].filter((bit) => flags & bit).length;
  if (start + samples * fields * 4 > bytes.length)
    throw new Mp4FormatError('trun has fewer samples than it says');
  const before = [0x100, 0x200, 0x400].filter((bit) => flags & bit).length;
  const composition = flags & 0x800 && samples > 0 ? bytes.readInt32BE(start + before * 4) : 0;
  if ((flags & 0x100) === 0) return { samples, composition, duration: samples * defaultDuration };
  let duration = 0;
  for (let index = 0; index < samples; index += 1) duration += bytes.readUInt32BE(start + index * fields * 4);
  return { samples, composition, duration };
}

function readDecodeTime({ bytes }: Box): number {
  return bytes.readUInt8(8) === 1 ? Number(bytes.readBigUInt64BE(12)) : bytes.readUInt32BE(12);
}

function writeDecodeTime(moof: Buffer, at: number, tfdt: Box, time: number): void {
  const isLong = tfdt.bytes.readUInt8(8) === 1;
  if (time < 0 || time >= (isLong ? maxTime : 2 ** 32)) throw damaged('its times make no sense');
  if (isLong) moof.writeBigUInt64BE(BigInt(time), at + 12);
  else moof.writeUInt32BE(time, at + 12);
}
