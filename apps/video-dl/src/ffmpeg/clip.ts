import { type FfmpegInput, type InputStart, offsetsOf } from './inputs.js';

/** The part of the source to output, in seconds. */
export interface ClipTimes {
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
}

/** Times are rounded, so the frame at a time may start just after it. */
export const roundingSeconds = 0.001;

/** How ffmpeg reads a clip of an input. */
interface ClipStart extends InputStart {
  /** What filters keep, on ffmpeg's clock, which starts at zero where it starts reading. */
  readonly cut: ClipTimes;
}

/** @param shiftsFirst whether the clip of the first input begins at zero: copied video passes no filter */
export function clipStarts(
  inputs: readonly FfmpegInput[],
  clip: ClipTimes,
  shiftsFirst = false,
): ClipStart[] {
  const offsets = offsetsOf(inputs);
  const seconds = secondsOf(clip);
  return inputs.map(({ prerollSeconds = null }, index) => {
    const wanted = clip.startSeconds - (offsets[index] ?? 0);
    const seekSeconds = prerollSeconds === null ? 0 : Math.max(0, wanted - prerollSeconds + roundingSeconds);
    const delaySeconds = shiftsFirst && index === 0 ? seekSeconds - wanted : 0;
    const startSeconds = wanted - seekSeconds + delaySeconds;
    const endSeconds = seconds === null ? null : startSeconds + seconds;
    return { seekSeconds, delaySeconds, cut: { startSeconds, endSeconds } };
  });
}

function secondsOf({ startSeconds, endSeconds }: ClipTimes): number | null {
  return endSeconds === null ? null : endSeconds - startSeconds;
}

/** A copy ends with the packet that reaches this time, so it may contain a frame or two more. */
export function lengthOptions(clip: ClipTimes | null): string[] {
  const seconds = clip && secondsOf(clip);
  return seconds === null ? [] : ['-t', seconds.toFixed(6)];
}

/** For `trim` and `atrim`. */
function keepOptions({ startSeconds, endSeconds }: ClipTimes): string {
  const end = endSeconds === null ? '' : `:end=${endSeconds.toFixed(6)}`;
  return `start=${startSeconds.toFixed(6)}${end}`;
}

/** A frame that starts later than this after the one before it stays on screen for long. */
const longFrameSeconds = 0.5;
/** Frame rate of a video that doesn't state one. */
export const usualFps = 25;
/** Later than any time in a clip. */
const neverSeconds = 1e6;

/**
 * Keeps the frames that start in the clip, at their own times, and the one on screen at its start, at 0.
 * If the last frame stays on screen for long, it is repeated at the end, so that the clip has its length.
 * That needs a frame after the clip: without one, the video may be incomplete.
 *
 * `fps` gives each of its ticks the last frame up to it. So `first` and `last` move all frames before a time into
 * tick 0. `first` ends there. `last` moves the next frame to tick 2, so that frame ends tick 0 and, with tick 1, `last`.
 */
export function videoClip(cut: ClipTimes | null): string[] {
  if (cut === null) return [];
  const { startSeconds, endSeconds } = cut;
  const start = startSeconds.toFixed(6);
  const afterStart = (startSeconds + roundingSeconds).toFixed(6);
  const rest = keepOptions({ startSeconds: startSeconds + roundingSeconds, endSeconds });
  const first = `[a]trim=end=${afterStart},settb=AVTB,setpts='0.5/${usualFps}/TB',fps=fps=${usualFps}:round=down:eof_action=pass[first]`;
  const middle = `[b]trim=${rest},setpts='PTS-${start}/TB'[rest]`;
  if (endSeconds === null) return [`split[a][b];${first};${middle};[first][rest]concat`];
  const end = endSeconds.toFixed(6);
  const ticks = `settb=AVTB,setpts='if(lt(T,${end}),0.5,2.5)/${usualFps}/TB',fps=fps=${usualFps}:round=down`;
  const last = `[c]${ticks},trim=end=${0.5 / usualFps},setpts='${neverSeconds}/TB'[last]`;
  const seconds = endSeconds - startSeconds;
  return [
    `split=3[a][b][c];${first};${middle};${last};[first][rest][last]concat=n=3`,
    `select='lt(t,${neverSeconds})+gt(${seconds.toFixed(6)}-prev_selected_t,${longFrameSeconds})'`,
    `setpts='if(lt(T,${neverSeconds}),PTS,${(seconds - 1 / usualFps).toFixed(6)}/TB)'`,
  ];
}

/**
 * What the filters of a clip leave unknown. A frame may last longer than the clip, so the last one must end with it.
 * Without B frames, the durations add up to the clip's in decoding order too, which is how some players measure a
 * track that doesn't state its length.
 */
export function clipEncoderOptions(clip: ClipTimes, rate: number): string[] {
  const seconds = secondsOf(clip);
  const usual = `${1 / rate}/TB`;
  const left = seconds === null ? null : `${seconds.toFixed(6)}/TB+STARTDTS-STARTPTS-DTS`;
  // A single frame without a duration stays on screen for the whole clip. Any other first frame ends with the second.
  const unstated = left === null ? usual : `if(eq(N,0),${left},${usual})`;
  const known = `if(DURATION,DURATION,${unstated})`;
  const duration = left === null ? known : `max(1,min(${known},${left}))`;
  return ['-bf', '0', '-bsf:v', `setts=pts=PTS:dts=DTS:duration='${duration}'`];
}

export function audioClip(cut: ClipTimes | null): string[] {
  if (cut === null) return [];
  return [`atrim=${keepOptions(cut)}`, `asetpts='PTS-${cut.startSeconds.toFixed(6)}/TB'`];
}
