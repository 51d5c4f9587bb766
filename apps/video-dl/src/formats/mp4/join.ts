import { childBoxes, findBox, Mp4FormatError, type Box, type BoxHeader } from './box.js';
import { BoxStream, type BoxTreatment } from './box-stream.js';
import { assertNotEncrypted } from './encryption.js';
import { flagsOf, readDecodeTime, readDefaultDuration, readRun, withWideTimes } from './fragment-boxes.js';
import { fragmentedTracks, movieEssentials, type Mp4Track } from './movie-header.js';
import type { FirstTimes, Joiner, SegmentFacts, TrackLengths } from '../joiner.js';
import { damaged, notJoinable, protectedByDrm, type Rejection } from '../rejection.js';
import { Timeline } from '../timeline.js';

/** Boxes allowed at the top level of a segment (ISO 14496-12 and 23009-1). */
const topBoxes = new Set([
  ...['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'prft', 'emsg'],
  ...['free', 'skip', 'wide', 'pdin', 'meta', 'uuid', 'mfra', 'udta'],
]);
/** Useless in the joined stream: they refer to positions in the original segment. */
const droppedBoxes = new Set(['sidx', 'ssix', 'mfra', 'prft', 'emsg', 'styp']);
/** Allows for the sample tables in the `moov` of a movie that isn't fragmented. */
const maxMovieBytes = 8 * 1024 ** 2;
/** Enough for more than an hour of samples in one fragment. */
const maxFragmentBytes = 1024 ** 2;
/** In all tracks of one fragment. */
const maxFragmentBoxes = 4096;
/** An encoder's delay is shorter, except at low sample rates. */
const maxUsualDelaySeconds = 0.15;
/** Less than a frame of video. */
const minFrameSeconds = 0.01;
const maxBoxesWithoutMedia = 1024;
const maxTime = 2 ** 63;

/** The part of one track in a fragment. */
interface TrackRun {
  readonly trackId: number;
  readonly track: Mp4Track;
  readonly header: Box;
  readonly tfdt: Box | null;
  /** Ticks. */
  readonly decodeTime: number;
  readonly duration: number;
  readonly samples: number;
  /** Composition offset of the first sample, in ticks. */
  readonly composition: number;
}

/**
 * Joins segments of fragmented MP4 (ISO 14496-12, 8.8): one initialisation, then fragments.
 * Checks that boxes are complete and maps all decode times to one clock.
 */
export class FragmentedMp4Joiner implements Joiner {
  readonly #timeline = new Timeline();
  readonly #boxes = new BoxStream({
    begin: (box) => this.#begin(box),
    end: ({ type }, held) => held && (type === 'moov' ? this.#takeMovie(held) : this.#retimed(held)),
  });
  readonly #isOnlySegment: boolean;
  readonly #readsAudioOnly: boolean;
  #facts: SegmentFacts = { seconds: null, isRounded: false, isDiscontinuity: false, initialisation: null };
  #moov: Buffer | null = null;
  #tracks = new Map<number, Mp4Track>();
  /** Keyed by track: by how much the current initialisation's edits shift its times, in ticks. */
  #shifts = new Map<number, number>();
  /** Whether the segment has been placed in time. */
  #isPlaced = false;
  #hasMovie = false;
  #hasFragment = false;
  #isMediaDue = false;
  #boxesWithoutMedia = 0;
  #isStandaloneFile = false;
  /** Keyed by track: when its next sample starts on the source's clock, in ticks. */
  readonly #clocks = new Map<number, number>();
  #startSeconds: number | null = null;
  #hiddenSeconds = 0;
  readonly #firstTimes = new Map<'video' | 'audio' | 'other', number>();

  /**
   * @param isOnlySegment the list has a single file, which need not be fragmented
   * @param readsAudioOnly whether the video is ignored, so that its encoding may change
   */
  constructor(isOnlySegment: boolean, readsAudioOnly: boolean) {
    this.#isOnlySegment = isOnlySegment;
    this.#readsAudioOnly = readsAudioOnly;
  }

  get startSeconds(): number | null {
    return this.#startSeconds;
  }

  get hiddenSeconds(): number {
    return this.#hiddenSeconds;
  }

  get firstTimes(): FirstTimes {
    const of = (kind: 'video' | 'audio') => this.#firstTimes.get(kind) ?? null;
    const kinds = [...this.#tracks.values()].map(({ handler }) => kindOf(handler));
    const areAllKnown = kinds.length > 0 && kinds.every((kind) => kind === 'other' || of(kind) !== null);
    return { video: of('video'), audio: of('audio'), areAllKnown };
  }

  get lengths(): TrackLengths | null {
    if (this.#isStandaloneFile) return null;
    const lengths = this.#timeline.lengths((id) => kindOf(this.#tracks.get(id)?.handler));
    const audio = lengths.audio === null ? null : Math.max(0, lengths.audio - this.#hiddenSeconds);
    return { ...lengths, audio };
  }

  begin(facts: SegmentFacts): void {
    this.#facts = facts;
    this.#isPlaced = false;
    this.#hasMovie = false;
    this.#hasFragment = false;
    this.#isMediaDue = false;
  }

  push(chunk: Buffer): readonly Buffer[] {
    try {
      return this.#boxes.push(chunk);
    } catch (error) {
      if (error instanceof Mp4FormatError || error instanceof RangeError)
        throw damaged('its boxes are invalid');
      throw error;
    }
  }

  end(): readonly Buffer[] {
    if (!this.#boxes.isBetweenBoxes) throw damaged('a part of it ends in the middle of a box');
    if (this.#isMediaDue) throw damaged('a part of it ends before its media');
    if (this.#isStandaloneFile) return [];
    // yt-dlp lists the initialisation as the first fragment.
    const isInitialisation = this.#facts.initialisation === null && this.#hasMovie && !this.#hasFragment;
    if (!isInitialisation) this.#timeline.endSegment(this.#facts);
    return [];
  }

  finish(): void {
    if (!this.#isStandaloneFile) this.#timeline.finish();
  }

  #begin({ type, size, headerSize }: BoxHeader): BoxTreatment {
    if (type === 'pssh') throw protectedByDrm();
    if (!topBoxes.has(type)) throw damaged("a part of it isn't MP4");
    if (!Number.isFinite(size)) throw damaged('a part of it has no end');
    const maxBytes = maxHeldBytes(type);
    if (maxBytes !== null && size > maxBytes) throw damaged('its boxes are too large');
    this.#checkOrder(type, size === headerSize);
    if (maxBytes !== null) return 'hold';
    return droppedBoxes.has(type) || (type === 'ftyp' && this.#moov !== null) ? 'drop' : 'pass';
  }

  #checkOrder(type: string, isEmpty: boolean): void {
    this.#boxesWithoutMedia = type === 'mdat' && !isEmpty ? 0 : this.#boxesWithoutMedia + 1;
    if (this.#boxesWithoutMedia > maxBoxesWithoutMedia) throw damaged('it has boxes without media');
    if (type === 'mdat') {
      if (!this.#isMediaDue && !this.#isStandaloneFile && !this.#isOnlySegment) throw this.#strayMedia();
      this.#isMediaDue = false;
    } else if (type === 'moof') {
      if (this.#isMediaDue) throw damaged('a fragment of it is empty');
      if (this.#moov === null) throw damaged('its beginning is missing');
      this.#isMediaDue = true;
      this.#hasFragment = true;
    }
  }

  #strayMedia(): Rejection {
    return this.#tracks.size === 0
      ? notJoinable('starts again in each part')
      : damaged('a part of it has media without a description');
  }

  /** @returns the first movie header; the others must describe the same encoding */
  #takeMovie(moov: Buffer): Buffer | null {
    assertNotEncrypted(moov);
    this.#hasMovie = true;
    const isFirst = this.#moov === null;
    this.#moov ??= moov;
    const tracks = fragmentedTracks(moov);
    this.#tracks = tracks;
    this.#isStandaloneFile = this.#isOnlySegment && this.#tracks.size === 0;
    if (this.#isStandaloneFile) return moov;
    if (!hasSameEncoding(this.#moov, moov, this.#readsAudioOnly))
      throw notJoinable('changes its encoding in the middle');
    this.#shifts = new Map(
      [...tracks].map(([id, { shiftSeconds, timescale }]) => [id, Math.round(shiftSeconds * timescale)]),
    );
    return isFirst ? withoutEdits(moov) : null;
  }

  /** The fragment with its times on the joined clock. */
  #retimed(moof: Buffer): Buffer {
    const runs = readRuns(moof, this.#tracks, this.#clocks, this.#shifts);
    const firsts = new Map<number, number>();
    const starts: { readonly isAudio: boolean; readonly seconds: number }[] = [];
    for (const { trackId, track, decodeTime, composition } of runs) {
      if (firsts.has(trackId)) continue;
      firsts.set(trackId, decodeTime / track.timescale);
      const seconds = (decodeTime + composition) / track.timescale;
      const kind = kindOf(track.handler);
      starts.push({ isAudio: kind === 'audio', seconds });
      // Everything before zero is hidden, such as an encoder's delay.
      if (!this.#firstTimes.has(kind)) this.#firstTimes.set(kind, Math.max(0, seconds));
    }
    if (starts.length > 0 && this.#startSeconds === null) {
      this.#startSeconds = Math.min(...starts.map(({ seconds }) => seconds));
      const hidesOnlyAudio = starts.every(({ isAudio, seconds }) => isAudio || seconds > -minFrameSeconds);
      if (hidesOnlyAudio && this.#startSeconds < -maxUsualDelaySeconds)
        this.#hiddenSeconds = -this.#startSeconds;
    }
    if (!this.#isPlaced && firsts.size > 0) {
      this.#timeline.begin(firsts, this.#facts.isDiscontinuity);
      this.#isPlaced = true;
    }
    const hasRoom = runs.every(({ track, tfdt, decodeTime }) => fits(tfdt, this.#shifted(decodeTime, track)));
    if (hasRoom) return this.#writeTimes(moof, runs);
    const wide = withWideTimes(moof);
    return this.#writeTimes(wide, readRuns(wide, this.#tracks, this.#clocks, this.#shifts));
  }

  /** A decode time on the joined clock, in ticks. */
  #shifted(decodeTime: number, { timescale }: Mp4Track): number {
    return decodeTime + Math.round(this.#timeline.offset * timescale);
  }

  /** Modifies `moof` in place. */
  #writeTimes(moof: Buffer, runs: readonly TrackRun[]): Buffer {
    for (const { trackId, track, header, tfdt, decodeTime, duration, samples } of runs) {
      if (samples > 0) this.#timeline.add(trackId, decodeTime / track.timescale, duration / track.timescale);
      this.#clocks.set(trackId, decodeTime + duration);
      // The base data offset refers to the original file, so it has to be rewritten.
      if ((flagsOf(header.bytes) & 0x01) !== 0)
        header.bytes.writeBigUInt64BE(BigInt(this.#boxes.writtenBytes), 16);
      if (tfdt === null) continue;
      writeDecodeTime(tfdt, this.#shifted(decodeTime, track));
    }
    return moof;
  }
}

/** The size limit of a box that we parse at once; null for other boxes. */
function maxHeldBytes(type: string): number | null {
  if (type === 'moov') return maxMovieBytes;
  return type === 'moof' ? maxFragmentBytes : null;
}

/** ffmpeg reads the edits of fragments since version 7, so their shifts are in the fragments' own times. */
function withoutEdits(moov: Buffer): Buffer {
  const changed = Buffer.from(moov);
  for (const trak of childBoxes(changed)) {
    const edits = trak.type === 'trak' ? findBox(trak, 'edts') : undefined;
    edits?.bytes.write('free', 4, 'latin1');
  }
  return changed;
}

/** Whether fragments made for one movie header can be decoded with the other. */
function hasSameEncoding(one: Buffer, other: Buffer, readsAudioOnly: boolean): boolean {
  if (one.equals(other)) return true;
  return movieEssentials(one, readsAudioOnly).equals(movieEssentials(other, readsAudioOnly));
}

function readRuns(
  moof: Buffer,
  tracks: ReadonlyMap<number, Mp4Track>,
  clocks: ReadonlyMap<number, number>,
  shifts: ReadonlyMap<number, number>,
): TrackRun[] {
  let total = 0;
  return childBoxes(moof).flatMap((traf) => {
    if (traf.type !== 'traf') return [];
    const boxes = childBoxes(traf.bytes);
    total += boxes.length;
    if (total > maxFragmentBoxes) throw new Mp4FormatError('a fragment has too many boxes');
    const header = boxes.find(({ type }) => type === 'tfhd');
    const trackId = header?.bytes.readUInt32BE(12) ?? 0;
    const track = tracks.get(trackId);
    if (header === undefined || track === undefined) return [];
    const defaultDuration = readDefaultDuration(header.bytes) ?? track.defaultSampleDuration;
    const tfdt = boxes.find(({ type }) => type === 'tfdt') ?? null;
    const totals = boxes
      .filter(({ type }) => type === 'trun')
      .map(({ bytes }) => measure(bytes, defaultDuration));
    return [
      {
        trackId,
        track,
        header,
        tfdt,
        // A run without its own time continues where the previous one ended.
        decodeTime:
          tfdt === null
            ? (clocks.get(trackId) ?? 0)
            : readDecodeTime(tfdt.bytes) + (shifts.get(trackId) ?? 0),
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

function measure(
  trun: Buffer,
  defaultDuration: number,
): Pick<TrackRun, 'duration' | 'samples' | 'composition'> {
  const { samples, start, entryBytes, hasDuration, hasComposition } = readRun(trun);
  const composition = hasComposition && samples > 0 ? trun.readInt32BE(start + entryBytes - 4) : 0;
  if (!hasDuration) return { samples, composition, duration: samples * defaultDuration };
  let duration = 0;
  for (let index = 0; index < samples; index += 1) duration += trun.readUInt32BE(start + index * entryBytes);
  return { samples, composition, duration };
}

/** Whether a decode time fits in its box. 32 bits of a fast clock overflow within minutes. */
function fits(tfdt: Box | null, time: number): boolean {
  return tfdt === null || tfdt.bytes.readUInt8(8) === 1 || time < 2 ** 32;
}

function writeDecodeTime({ bytes }: Box, time: number): void {
  const isLong = bytes.readUInt8(8) === 1;
  if (time < 0 || time >= (isLong ? maxTime : 2 ** 32)) throw damaged('its timestamps are invalid');
  if (isLong) bytes.writeBigUInt64BE(BigInt(time), 12);
  else bytes.writeUInt32BE(time, 12);
}
