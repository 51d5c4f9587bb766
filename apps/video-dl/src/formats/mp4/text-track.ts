import type { Cue } from '../subtitles/cues.js';
import { childBoxes, fullBox, makeBox, uint32, uint64, withChildren } from './box.js';
import { emptyTables, handlerBox, selfContained, unityMatrix } from './remux/movie-boxes.js';

/** Subtitles to show in an MP4. */
export interface TextTrack {
  /** BCP 47. */
  readonly language: string;
  readonly label: string;
  /** In order of their starts. */
  readonly cues: readonly Cue[];
}

/** Units per second of a text track's times. */
const timescale = 1000;

interface TrackState {
  readonly id: number;
  readonly text: TextTrack;
  readonly samples: readonly Sample[];
  /** Of the next sample. */
  number: number;
  decodeTime: number;
}

/**
 * Tracks of text (3GPP TS 26.245) for a fragmented movie. Each fragment of media follows a fragment with the text that is
 * shown until its end: VLC ignores samples that `moov` lists if there are fragments.
 */
export class TextTracks {
  readonly #tracks: readonly TrackState[];

  /** @param firstId the number of the first track */
  constructor(texts: readonly TextTrack[], firstId: number) {
    this.#tracks = texts.map((text, index) => ({
      id: firstId + index,
      text,
      samples: samplesOf(text.cues),
      number: 0,
      decodeTime: 0,
    }));
  }

  /** The movie with these tracks. */
  inMovie(moov: Buffer): Buffer {
    const lastTrack = childBoxes(moov).findLast(({ type }) => type === 'trak')?.bytes;
    const defaults = this.#tracks.map(({ id }) =>
      fullBox('trex', 0, 0, [uint32(id), uint32(1), uint32(0), uint32(0), uint32(0)]),
    );
    return withChildren(moov, ({ type, bytes }) => {
      if (type === 'mvex') return [makeBox('mvex', [bytes.subarray(8), ...defaults])];
      return bytes.byteOffset === lastTrack?.byteOffset ? [bytes, ...this.#tracks.map(trackBox)] : [bytes];
    });
  }

  /** A fragment with the text from the end of the last one to this time; empty if nothing changes until then. */
  fragmentUntil(seconds: number, sequence: number): Buffer {
    const runs = this.#tracks.flatMap((track) => {
      const { number, decodeTime, samples } = track;
      while ((samples[track.number]?.duration ?? 0) > 0 && track.decodeTime < seconds * timescale) {
        track.decodeTime += samples[track.number]?.duration ?? 0;
        track.number += 1;
      }
      const taken = samples.slice(number, track.number);
      return taken.length === 0 ? [] : [{ id: track.id, decodeTime, samples: taken }];
    });
    if (runs.length === 0) return Buffer.alloc(0);
    const build = (base: number) => {
      let offset = base;
      const boxes = runs.map((run) => {
        const box = runBox(run, offset);
        offset += run.samples.reduce((sum, { bytes }) => sum + bytes.length, 0);
        return box;
      });
      return makeBox('moof', [fullBox('mfhd', 0, 0, [uint32(sequence)]), ...boxes]);
    };
    // The size of the boxes doesn't depend on the offsets in them.
    const moof = build(build(0).length + 8);
    return Buffer.concat([
      moof,
      makeBox(
        'mdat',
        runs.flatMap((run) => run.samples.map(({ bytes }) => bytes)),
      ),
    ]);
  }
}

interface TextRun {
  readonly id: number;
  readonly decodeTime: number;
  readonly samples: readonly Sample[];
}

/** @param offset of its first byte, counted from the start of `moof` */
function runBox({ id, decodeTime, samples }: TextRun, offset: number): Buffer {
  const entries = samples.flatMap(({ duration, bytes }) => [uint32(duration), uint32(bytes.length)]);
  return makeBox('traf', [
    // Offsets count from `moof`.
    fullBox('tfhd', 0, 0x2_0000, [uint32(id)]),
    fullBox('tfdt', 1, 0, [uint64(decodeTime)]),
    // The offset, and the duration and size of each sample.
    fullBox('trun', 0, 0x301, [uint32(samples.length), uint32(offset), ...entries]),
  ]);
}

interface Sample {
  /** In units of the timescale. */
  readonly duration: number;
  readonly bytes: Buffer;
}

/** Hostile subtitles may show thousands at once. */
const maxShown = 4;

/** One sample for each time between two changes of what is shown, also where that is nothing. */
function samplesOf(cues: readonly Cue[]): Sample[] {
  const unit = (seconds: number) => Math.round(seconds * timescale);
  const changes = cues.flatMap(({ startSeconds, endSeconds }) => [unit(startSeconds), unit(endSeconds)]);
  const times = [...new Set([0, ...changes])].sort((a, b) => a - b);
  let shown: readonly Cue[] = [];
  let next = 0;
  return times.slice(0, -1).map((start, index) => {
    const from = next;
    while (unit(cues[next]?.startSeconds ?? Infinity) <= start) next += 1;
    const still = shown.filter(({ endSeconds }) => unit(endSeconds) > start);
    shown = [...still, ...cues.slice(from, next)].slice(-maxShown);
    const text = Buffer.from(shown.map((cue) => cue.text).join('\n'));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(text.length);
    return { duration: (times[index + 1] ?? start) - start, bytes: Buffer.concat([length, text]) };
  });
}

function trackBox({ id, text: { language, label } }: TrackState, index: number): Buffer {
  // No layer, one group of alternatives, no volume.
  const group = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
  const noTime = [uint64(0), uint64(0)];
  return makeBox('trak', [
    // In the movie; only the first is enabled, so that players may choose it.
    fullBox('tkhd', 1, index === 0 ? 3 : 2, [
      ...[...noTime, uint32(id), uint32(0), uint64(0), group],
      ...[...unityMatrix, uint32(0), uint32(0)],
    ]),
    makeBox('mdia', [
      fullBox('mdhd', 1, 0, [
        ...[...noTime, uint32(timescale), uint64(0)],
        ...[packedLanguage(language), Buffer.alloc(2)],
      ]),
      handlerBox('sbtl', label),
      fullBox('elng', 0, 0, [Buffer.from(`${language}\0`)]),
      makeBox('minf', [
        fullBox('nmhd', 0, 0, []),
        selfContained(),
        makeBox('stbl', [fullBox('stsd', 0, 0, [uint32(1), textDescription]), ...emptyTables]),
      ]),
    ]),
  ]);
}

/** White text in the middle at the bottom, as ffmpeg describes it. */
const textDescription = makeBox('tx3g', [
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]),
  // Flags, alignment, background, box.
  Buffer.from([0, 0, 0, 0, 1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  // Style: range of characters, font, face, size, colour.
  Buffer.from([0, 0, 0, 0, 0, 1, 0, 18, 255, 255, 255, 255]),
  makeBox('ftab', [Buffer.from([0, 1, 0, 1, 5]), Buffer.from('Serif')]),
]);

/** ISO 639-2/T, which `mdhd` needs; players read other languages from `elng`. */
const threeLetters = new Map(
  [
    'ar ara, bg bul, bn ben, bs bos, ca cat, cs ces, cy cym, da dan, de deu, el ell, en eng, es spa, et',
    'est, eu eus, fa fas, fi fin, fr fra, ga gle, gl glg, gu guj, he heb, hi hin, hr hrv, hu hun, hy hye,',
    'id ind, is isl, it ita, ja jpn, ka kat, kk kaz, km khm, kn kan, ko kor, lt lit, lv lav, mk mkd, ml',
    'mal, mn mon, mr mar, ms msa, my mya, nb nob, ne nep, nl nld, no nor, pa pan, pl pol, pt por, ro ron,',
    'ru rus, si sin, sk slk, sl slv, sq sqi, sr srp, sv swe, sw swa, ta tam, te tel, th tha, tl tgl, tr',
    'tur, uk ukr, ur urd, uz uzb, vi vie, zh zho',
  ]
    .flatMap((line) => line.split(/, ?/))
    .map((pair) => [pair.slice(0, 2), pair.slice(3)] as const),
);

/** Five bits per letter. */
function packedLanguage(tag: string): Buffer {
  const language = tag.split('-', 1)[0] ?? '';
  const code = threeLetters.get(language) ?? (/^[a-z]{3}$/.test(language) ? language : 'und');
  const packed = Buffer.alloc(2);
  packed.writeUInt16BE(Buffer.from(code).reduce((sum, letter) => sum * 32 + letter - 0x60, 0));
  return packed;
}
