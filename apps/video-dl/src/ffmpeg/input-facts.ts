/** What ffmpeg found out about one input when it opened it. */
export interface InputFacts {
  /** Demuxer names, for example `mov,mp4,m4a,3gp,3g2,mj2`. */
  format: string;
  /** Length from the container's own header, null where it has none. */
  durationSeconds: number | null;
  /** ffmpeg guessed the length from the bit rate: nothing can be measured against it. */
  guessed: boolean;
  /** Whether there are moving pictures in it, so that its length need not be that of its sound. */
  hasVideo: boolean;
}

/** What the demuxer of transport streams and the parser of H.264 and HEVC say; neither lets ffmpeg fail, whatever -err_detect is. */
const noiseReport = /^\[[^\]]+\] \[error\] (?:max resync size reached|Invalid NAL unit size)/u;

/**
 * Reads input facts out of ffmpeg's diagnostics (`-loglevel level+info`). The
 * container's own statement is what a finished output is measured against: a
 * page's metadata may be wrong, and a demuxer stops silently where bytes end.
 */
export class InputFactsReader {
  readonly #inputs: InputFacts[] = [];
  #guessed = false;
  #isOutput = false;
  /** Where ffmpeg's output ends in time, as it reports when it is done; null before. */
  outputSeconds: number | null = null;
  /** A part of a transport stream was none, or a picture of H.264 or HEVC that is copied is not filled by its units. */
  hasNoise = false;

  get inputs(): readonly InputFacts[] {
    return this.#inputs;
  }

  readLine(line: string): void {
    if (line.includes('Estimating duration from bitrate')) {
      this.#guessed = true;
      return;
    }
    if (noiseReport.test(line)) this.hasNoise = true;
    const report = /^\[info\] .*size=.* time=(\d+):(\d\d):(\d\d\.\d+) /u.exec(line);
    if (report !== null) this.outputSeconds = readClock(report.slice(1));
    if (line.startsWith('[info] Output #')) this.#isOutput = true;
    const opened = /^\[info\] Input #\d+, (\S+), from /u.exec(line);
    if (opened?.[1] !== undefined) {
      this.#inputs.push({
        format: opened[1],
        durationSeconds: null,
        guessed: this.#guessed,
        hasVideo: false,
      });
      this.#guessed = false;
      return;
    }
    const stated = /^\[info\] {3}Duration: (\d+):(\d\d):(\d\d\.\d+)(?:, start: (-?[\d.]+))?/u.exec(line);
    const input = this.#inputs.at(-1);
    if (input !== undefined && /^\[info\] {3}Stream #.*: Video: (?!.*\(attached pic\))/u.test(line)) {
      // The output's streams are listed the same way, after all inputs.
      if (!this.#isOutput) input.hasVideo = true;
      return;
    }
    if (stated === null || input === undefined) return;
    const start = stated[4];
    // Matroska's length counts from zero, not from the first timestamp.
    const lead = input.format.includes('matroska') ? Math.max(0, Number(start ?? 0)) : 0;
    const duration = readClock(stated.slice(1, 4)) - lead;
    if (!input.guessed) input.durationSeconds = duration;
  }
}

function readClock([hours, minutes, seconds]: readonly (string | undefined)[]): number {
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
