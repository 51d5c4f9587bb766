import { clockSeconds, knownSeconds, leadOf } from '../parser-process/ffprobe-report.js';

/** What ffmpeg reports about an input. */
export interface InputFacts {
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  format: string;
  /** Duration from the container's header; null if it has none. */
  durationSeconds: number | null;
  /** Its first timestamp, in seconds. Some containers count their duration from zero. */
  startSeconds: number;
  /** If so, the duration may differ from that of the audio. */
  hasVideo: boolean;
  /** Seconds of decoded audio, reported when ffmpeg ends; null until then and for copied audio. */
  decodedSeconds: number | null;
}

/**
 * Problems that ffmpeg reports without failing: invalid data in a transport stream, H.264 or HEVC, and a missing end
 * of an MP4 or Matroska file.
 */
const invalidDataReport =
  /^\[[^\]]{1,80}\] \[error\] (?:max resync size reached|Invalid NAL unit size|stream \d+, offset 0x[\da-f]+: partial file|File ended prematurely)/u;

/** A packet that couldn't be decoded, as reported by ffmpeg 4 to 5 and 6 to 8. */
const decodeError = /\[error\] (?:Error while decoding stream|Error submitting packet to decoder)/u;

/** Copied audio or video whose framing is wrong. */
const filterError = /\[error\] Error applying bitstream filters/u;

/** Sound from all directions, for headsets. ffmpeg decodes it, but can't mix it down. */
const spatialAudio = /channel layout '[^']{0,40}ambisonic/iu;

const lateAudioReport =
  /^\[[^\]]{1,80}\] \[warning\] New audio stream \d+:\d+ at pos:(\d+) and DTS:(-?[\d.]+)s/u;

/**
 * Parses ffmpeg's diagnostics (`-loglevel level+verbose`). We check the finished output
 * against the duration in the container, because the page's metadata may be wrong and a
 * demuxer stops silently where the bytes end.
 *
 * The lines contain text from the file, so every pattern must take linear time.
 */
export class InputFactsReader {
  readonly #inputs: InputFacts[] = [];
  /** Whether ffmpeg only estimates the duration of the next input. */
  #isGuessed = false;
  #isOutput = false;
  /** What ffmpeg read contains invalid data, or ends too early. */
  hasInvalidData = false;
  /** Packets that couldn't be decoded. */
  decodeErrors = 0;
  /** Whether it has audio that can't be mixed down. */
  isSpatial = false;
  /** The start of audio that ffmpeg found after it had chosen what to output; null if it found no such audio. */
  lateAudio: { readonly at: number; readonly seconds: number } | null = null;
  /** Audio tracks whose sample rate ffmpeg didn't find at the beginning. */
  hasUnknownAudio = false;
  /** Packets of audio that ffmpeg read, reported when it ends; null until then. */
  audioPackets: number | null = null;
  /** Keyed by `input:stream`. */
  readonly #sampleRates = new Map<string, number>();

  get inputs(): readonly InputFacts[] {
    return this.#inputs;
  }

  readLine(line: string): void {
    if (line.includes('Estimating duration from bitrate')) {
      this.#isGuessed = true;
      return;
    }
    if (invalidDataReport.test(line)) this.hasInvalidData = true;
    if (decodeError.test(line) || filterError.test(line)) this.decodeErrors += 1;
    if (spatialAudio.test(line)) this.isSpatial = true;
    const late = lateAudioReport.exec(line);
    if (late !== null) this.lateAudio ??= { at: Number(late[1]), seconds: Number(late[2]) };
    if (line.startsWith('[info] Output #')) this.#isOutput = true;
    const opened = /^\[info\] Input #\d+, (\S{1,100}), from /u.exec(line);
    if (opened?.[1] !== undefined) {
      this.#inputs.push({
        format: opened[1],
        durationSeconds: null,
        startSeconds: 0,
        hasVideo: false,
        decodedSeconds: null,
      });
      return;
    }
    const input = this.#inputs.at(-1);
    if (input === undefined) return;
    // Output streams are listed in the same format, after all inputs.
    if (!this.#isOutput && isVideoStream(line)) input.hasVideo = true;
    this.#readAudio(line);
    const stated = /^\[info\] {3}Duration: (\d+:\d\d:\d\d\.\d+)(?:, start: (-?[\d.]+))?/u.exec(line);
    if (stated?.[1] === undefined) return;
    const isGuessed = this.#isGuessed;
    this.#isGuessed = false;
    // An estimate is too inexact to check against.
    if (isGuessed) return;
    input.startSeconds = leadOf(Number(stated[2] ?? 0), input.format);
    // ffmpeg prints two decimals.
    input.durationSeconds = knownSeconds(clockSeconds(stated[1]), input.format, 0.006);
  }

  #readAudio(line: string): void {
    if (!this.#isOutput && unknownAudio.test(line)) this.hasUnknownAudio = true;
    const audio = /^\[info\] {3}Stream #(\d+:\d+).{0,80}?: Audio: .{1,200}?, (\d+) Hz/u.exec(line);
    if (audio !== null && !this.#isOutput) this.#sampleRates.set(audio[1] ?? '', Number(audio[2]));
    const [, stream = '', index, packets] = readTrack.exec(line) ?? [];
    if (packets === undefined) return;
    this.audioPackets = (this.audioPackets ?? 0) + Number(packets);
    const input = this.#inputs[Number(index)];
    const sampleRate = this.#sampleRates.get(stream) ?? 0;
    const samples = Number(/ frames decoded.{0,40}? \((\d+) samples\)/u.exec(line)?.[1]);
    if (input !== undefined && sampleRate > 0 && samples > 0) input.decodedSeconds = samples / sampleRate;
  }
}

/** ffmpeg 7 and later put a context in front. */
const readTrack =
  /^(?:\[[^\]]{1,80}\] )?\[verbose\] {3}Input stream #((\d+):\d+) \(audio\): (\d+) packets read/u;

const unknownAudio = /^\[info\] {3}Stream #.{1,80}?: Audio: .{1,200}?, 0 channels/u;

function isVideoStream(line: string): boolean {
  return /^\[info\] {3}Stream #.{1,80}?: Video: /u.test(line) && !line.includes('(attached pic)');
}
