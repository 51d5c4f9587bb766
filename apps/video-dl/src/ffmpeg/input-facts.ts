import { isUnknownLength } from '../parsing/ffprobe-report.js';

/** What ffmpeg found out about one input when it opened it. */
export interface InputFacts {
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  format: string;
  /** Length from the container's own header, null where it has none. */
  durationSeconds: number | null;
  /** ffmpeg guessed the length from the bit rate: nothing can be measured against it. */
  guessed: boolean;
  /** Whether the input has video, so that its length need not be that of its audio. */
  hasVideo: boolean;
  /** Seconds of audio that were decoded, as ffmpeg reports at its end; null before, and for audio that is copied. */
  decodedSeconds: number | null;
}

/** The demuxer of transport streams and the parser of H.264 and HEVC report noise, but never let ffmpeg fail. */
const noiseReport = /^\[[^\]]{1,80}\] \[error\] (?:max resync size reached|Invalid NAL unit size)/u;

/** One packet that no decoder could read, as ffmpeg 4 to 5 and 6 to 8 report it. */
const decodeError = /\[error\] (?:Error while decoding stream|Error submitting packet to decoder)/u;

/**
 * Reads input facts out of ffmpeg's diagnostics (`-loglevel level+verbose`). The
 * container's own statement is what a finished output is measured against: a
 * page's metadata may be wrong, and a demuxer stops silently where bytes end.
 *
 * The lines carry text of the file, so every pattern takes linear time.
 */
export class InputFactsReader {
  readonly #inputs: InputFacts[] = [];
  #guessed = false;
  #isOutput = false;
  /** A part of a transport stream was noise, or a copied H.264 or HEVC picture has units that don't fill it. */
  hasNoise = false;
  /** Packets that could not be decoded. */
  decodeErrors = 0;
  /** Samples a second by `input:stream`. */
  readonly #sampleRates = new Map<string, number>();

  get inputs(): readonly InputFacts[] {
    return this.#inputs;
  }

  readLine(line: string): void {
    if (line.includes('Estimating duration from bitrate')) {
      this.#guessed = true;
      return;
    }
    if (noiseReport.test(line)) this.hasNoise = true;
    if (decodeError.test(line)) this.decodeErrors += 1;
    if (line.startsWith('[info] Output #')) this.#isOutput = true;
    const opened = /^\[info\] Input #\d+, (\S{1,100}), from /u.exec(line);
    if (opened?.[1] !== undefined) {
      this.#inputs.push({
        format: opened[1],
        durationSeconds: null,
        guessed: this.#guessed,
        hasVideo: false,
        decodedSeconds: null,
      });
      this.#guessed = false;
      return;
    }
    const input = this.#inputs.at(-1);
    if (input === undefined) return;
    // The output's streams are listed the same way, after all inputs.
    if (!this.#isOutput && isVideoStream(line)) input.hasVideo = true;
    this.#readAudio(line);
    const stated = /^\[info\] {3}Duration: (\d+):(\d\d):(\d\d\.\d+)(?:, start: (-?[\d.]+))?/u.exec(line);
    if (stated === null || input.guessed) return;
    const start = stated[4];
    // Matroska's length counts from zero, not from the first timestamp.
    const lead = input.format.includes('matroska') ? Math.max(0, Number(start ?? 0)) : 0;
    const seconds = readClock(stated.slice(1, 4));
    // ffmpeg prints two decimals.
    if (!isUnknownLength(seconds, 0.006)) input.durationSeconds = seconds - lead;
  }

  #readAudio(line: string): void {
    const audio = /^\[info\] {3}Stream #(\d+:\d+).{0,80}?: Audio: .{1,200}?, (\d+) Hz/u.exec(line);
    if (audio !== null && !this.#isOutput) this.#sampleRates.set(audio[1] ?? '', Number(audio[2]));
    const decoded =
      /^\[verbose\] {3}Input stream #((\d+):\d+) \(audio\): .{1,200}? frames decoded.{0,40}? \((\d+) samples\)/u.exec(
        line,
      );
    const input = this.#inputs[Number(decoded?.[2])];
    const sampleRate = this.#sampleRates.get(decoded?.[1] ?? '') ?? 0;
    const samples = Number(decoded?.[3]);
    if (input !== undefined && sampleRate > 0 && samples > 0) input.decodedSeconds = samples / sampleRate;
  }
}

function isVideoStream(line: string): boolean {
  return /^\[info\] {3}Stream #.{1,80}?: Video: /u.test(line) && !line.includes('(attached pic)');
}

function readClock([hours, minutes, seconds]: readonly (string | undefined)[]): number {
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
