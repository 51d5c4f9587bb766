import { type BoxHeader, findBox, isLong, Mp4FormatError } from './box.js';
import { BoxStream, type BoxTreatment } from './box-stream.js';
import { flagsOf, readDecodeTime, readFragment, type TrackFragment } from './fragment-boxes.js';
import { movieEssentials } from './movie-essentials.js';
import { assertNotEncrypted, type MovieHeader, type Mp4Track, readMovieHeader } from './movie-header.js';
import type { FirstTimes, Joiner, SegmentFacts, TrackLengths } from '../joiner.js';
import { damaged, notJoinable, protectedByDrm, type Rejection } from '../rejection.js';
import { Timeline } from '../timeline.js';
import { readSegmentIndex } from './segment-index.js';

/** Boxes allowed at the top level of a segment (ISO 14496-12 and 23009-1). */
export const topBoxes: ReadonlySet<string> = new Set([
  ...['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'prft', 'emsg'],
  ...['free', 'skip', 'wide', 'pdin', 'meta', 'uuid', 'mfra', 'udta'],
]);
/** Useless in the joined stream: they refer to positions in the original segment. */
const droppedBoxes = new Set(['ssix', 'mfra', 'prft', 'emsg', 'styp']);
/** Of the boxes that we parse at once. */
const maxHeldBytes: Partial<Record<string, number>> = {
  // Allows for the sample tables of a movie that isn't fragmented.
  moov: 8 * 1024 ** 2,
  // Enough for more than an hour of samples in one fragment.
  moof: 1024 ** 2,
  // Its parts are counted with 16 bits.
  sidx: 1024 ** 2,
};
/** In all tracks of one fragment. */
const maxFragmentBoxes = 4096;
/** An encoder's delay is shorter, except at low sample rates. */
const maxUsualDelaySeconds = 0.15;
/** Less than a frame of video. */
const minFrameSeconds = 0.01;
const maxBoxesWithoutMedia = 1024;
const maxTime = 2 ** 63;

/** The part of a track in a fragment. */
interface TrackRun extends TrackFragment {
  /** In ticks on the source's clock. */
  readonly decodeTime: number;
}

/**
 * Joins segments of fragmented MP4 (ISO 14496-12, 8.8): one initialisation, then fragments.
 * Checks that boxes are complete and maps all decode times to one clock.
 */
export class FragmentedMp4Joiner extends BoxStream implements Joiner {
  readonly #timeline = new Timeline();
  readonly #isOnlySegment: boolean;
  readonly #readsAudioOnly: boolean;
  /** The first one. */
  #movie: MovieHeader | null = null;
  #tracks = new Map<number, Mp4Track>();
  /** Whether the segment has been placed in time. */
  #isPlaced = false;
  #hasMovie = false;
  #hasFragment = false;
  #isMediaDue = false;
  #boxesWithoutMedia = 0;
  #isStandaloneFile = false;
  /** Keyed by track: when its next sample starts on the source's clock, in ticks. */
  readonly #clocks = new Map<number, number>();
  readonly listsTracks = true;
  startSeconds: number | null = null;
  hiddenSeconds = 0;
  readonly #firstTimes = new Map<'video' | 'audio' | 'other', number>();

  /**
   * @param isOnlySegment the list has a single file, which need not be fragmented
   * @param readsAudioOnly whether the video is ignored, so that its encoding may change
   */
  constructor(isOnlySegment: boolean, readsAudioOnly: boolean) {
    super();
    this.#isOnlySegment = isOnlySegment;
    this.#readsAudioOnly = readsAudioOnly;
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
    const audio = lengths.audio === null ? null : Math.max(0, lengths.audio - this.hiddenSeconds);
    return { ...lengths, audio };
  }

  begin(facts: SegmentFacts): void {
    this.#timeline.beginSegment(facts);
    this.#isPlaced = false;
    this.#hasMovie = false;
    this.#hasFragment = false;
    this.#isMediaDue = false;
  }

  override push(chunk: Buffer): Buffer[] {
    try {
      return super.push(chunk);
    } catch (error) {
      if (error instanceof Mp4FormatError || error instanceof RangeError)
        throw damaged('its boxes are invalid');
      throw error;
    }
  }

  end(): readonly Buffer[] {
    if (!this.isComplete) throw damaged('a part of it ends in the middle of a box');
    if (this.#isMediaDue) throw damaged('a part of it ends before its media');
    if (this.#isStandaloneFile) return [];
    // yt-dlp lists the initialisation as the first fragment.
    const isInitialisation =
      this.#timeline.facts.initialisation === null && this.#hasMovie && !this.#hasFragment;
    if (!isInitialisation) {
      const seconds = this.#timeline.endSegment();
      this.#assertPlayed(() => seconds);
    }
    return [];
  }

  finish(): void {
    if (!this.#isStandaloneFile) this.#timeline.finish();
  }

  protected beginBox({ type, size, headerSize }: BoxHeader): BoxTreatment {
    if (type === 'pssh') throw protectedByDrm();
    if (!topBoxes.has(type)) throw damaged("a part of it isn't MP4");
    if (!Number.isFinite(size)) throw damaged('a part of it has no end');
    const maxBytes = maxHeldBytes[type];
    if (maxBytes !== undefined && size > maxBytes) throw damaged('its boxes are too large');
    this.#checkOrder(type, size === headerSize);
    if (maxBytes !== undefined) return 'hold';
    return droppedBoxes.has(type) || (type === 'ftyp' && this.#movie !== null) ? 'drop' : 'pass';
  }

  protected endBox(type: string, held: Buffer): Buffer | null {
    if (type === 'moov') return this.#takeMovie(held);
    if (type === 'moof') return this.#retimed(held);
    this.#assertPlayed(() => readSegmentIndex(held).seconds ?? 0);
    return null;
  }

  /** @param measure reads the segment's length in seconds */
  #assertPlayed(measure: () => number): void {
    if (this.#hasMovie && !this.#isOnlySegment) this.#timeline.assertPlayed(measure);
  }

  #checkOrder(type: string, isEmpty: boolean): void {
    this.#boxesWithoutMedia = type === 'mdat' && !isEmpty ? 0 : this.#boxesWithoutMedia + 1;
    if (this.#boxesWithoutMedia > maxBoxesWithoutMedia) throw damaged('it has boxes without media');
    if (type === 'mdat') {
      if (!this.#isMediaDue && !this.#isStandaloneFile && !this.#isOnlySegment) throw this.#strayMedia();
      this.#isMediaDue = false;
    } else if (type === 'moof') {
      if (this.#isMediaDue) throw damaged('a fragment of it is empty');
      if (this.#movie === null) throw damaged('its beginning is missing');
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
    const movie = readMovieHeader(moov);
    assertNotEncrypted(movie);
    this.#hasMovie = true;
    const isFirst = this.#movie === null;
    this.#movie ??= movie;
    const { isFragmented, tracks } = movie;
    this.#tracks = new Map(isFragmented ? tracks.map((track) => [track.id, track]) : []);
    this.#isStandaloneFile = this.#isOnlySegment && !isFragmented;
    if (this.#isStandaloneFile) return moov;
    if (!hasSameEncoding(this.#movie, movie, this.#readsAudioOnly))
      throw notJoinable('changes its encoding in the middle');
    return isFirst ? withoutEdits(movie) : null;
  }

  /** The fragment with its times on the joined clock. */
  #retimed(moof: Buffer): Buffer {
    const runs = this.#readRuns(moof);
    const firsts = new Map<number, number>();
    const starts: { readonly isAudio: boolean; readonly seconds: number }[] = [];
    for (const { track, decodeTime, firstShown } of runs) {
      if (firsts.has(track.id)) continue;
      firsts.set(track.id, decodeTime / track.timescale);
      const seconds = (decodeTime + firstShown) / track.timescale;
      const kind = kindOf(track.handler);
      starts.push({ isAudio: kind === 'audio', seconds });
      // Everything before zero is hidden, such as an encoder's delay.
      if (!this.#firstTimes.has(kind)) this.#firstTimes.set(kind, Math.max(0, seconds));
    }
    if (starts.length > 0 && this.startSeconds === null) {
      this.startSeconds = Math.min(...starts.map(({ seconds }) => seconds));
      const hidesOnlyAudio = starts.every(({ isAudio, seconds }) => isAudio || seconds > -minFrameSeconds);
      if (hidesOnlyAudio && this.startSeconds < -maxUsualDelaySeconds)
        this.hiddenSeconds = -this.startSeconds;
    }
    if (!this.#isPlaced && firsts.size > 0) {
      this.#timeline.place(firsts);
      this.#isPlaced = true;
    }
    this.#writeTimes(runs);
    return moof;
  }

  #readRuns(moof: Buffer): TrackRun[] {
    return readFragment(moof, this.#tracks, maxFragmentBoxes).map((fragment) => {
      const { track, tfdt } = fragment;
      const shift = Math.round(track.shiftSeconds * track.timescale);
      const due = this.#clocks.get(track.id) ?? 0;
      return { ...fragment, decodeTime: tfdt === null ? due : readDecodeTime(tfdt) + shift };
    });
  }

  /** Modifies the fragment in place. */
  #writeTimes(runs: readonly TrackRun[]): void {
    for (const { track, tfhd, tfdt, decodeTime, duration, samples } of runs) {
      const { id, timescale } = track;
      if (samples > 0) this.#timeline.add(id, decodeTime / timescale, duration / timescale);
      this.#clocks.set(id, decodeTime + duration);
      // The base data offset refers to the original file, so it has to be rewritten.
      if ((flagsOf(tfhd) & 0x01) !== 0) tfhd.writeBigUInt64BE(BigInt(this.writtenBytes), 16);
      if (tfdt !== null) writeDecodeTime(tfdt, decodeTime + Math.round(this.#timeline.offset * timescale));
    }
  }
}

/** ffmpeg reads the edits of fragments since version 7, so their shifts are in the fragments' own times. */
function withoutEdits({ moov, tracks }: MovieHeader): Buffer {
  const changed = Buffer.from(moov);
  for (const { trak } of tracks) {
    const edits = findBox(trak, 'edts')?.bytes;
    if (edits) changed.write('free', edits.byteOffset - moov.byteOffset + 4, 'latin1');
  }
  return changed;
}

/** Whether fragments made for one movie header can be decoded with the other. */
function hasSameEncoding(one: MovieHeader, other: MovieHeader, readsAudioOnly: boolean): boolean {
  if (one.moov.equals(other.moov)) return true;
  return movieEssentials(one, readsAudioOnly).equals(movieEssentials(other, readsAudioOnly));
}

function kindOf(handler: string | undefined): 'video' | 'audio' | 'other' {
  if (handler === 'vide') return 'video';
  return handler === 'soun' ? 'audio' : 'other';
}

function writeDecodeTime(tfdt: Buffer, time: number): void {
  const isWide = isLong({ bytes: tfdt });
  if (time < 0 || time >= (isWide ? maxTime : 2 ** 32)) throw damaged('its timestamps are invalid');
  if (isWide) tfdt.writeBigUInt64BE(BigInt(time), 12);
  else tfdt.writeUInt32BE(time, 12);
}
