import { clipEncoderOptions, type ClipTimes, usualFps, videoClip } from './clip.js';
import type { CallOptions } from './inputs.js';
import type { VideoTrack } from './track-plan.js';

/** Recordings may begin with frames before the first one in decoding order, whose time is 0. ffmpeg would drop them. */
const nearStart = "setpts='if(lt(STARTPTS,0)*lt(T,0.2),max(PTS,N),PTS)'";

const bt709 = [
  ...['-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ...['-colorspace', 'bt709', '-color_range', 'tv'],
];

/** Maps a high dynamic range to BT.709, in linear light. Files don't always state the primaries and the matrix. */
function toneMapping(hdr: 'pq' | 'hlg'): string[] {
  const transfer = hdr === 'pq' ? 'smpte2084' : 'arib-std-b67';
  return [
    `setparams=color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`,
    ...['zscale=transfer=linear:npl=100', 'format=gbrpf32le', 'zscale=primaries=bt709'],
    ...['tonemap=mobius:desat=0', 'zscale=transfer=bt709:matrix=bt709:range=limited'],
  ];
}

/** What Apple's players require: these tags, and the parameter sets in the header, which ffmpeg collects from the media. */
const copiedNames: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^hev1/u, ['-tag:v', 'hvc1', '-bsf:v', 'hevc_mp4toannexb,extract_extradata']],
  [/^avc3/u, ['-tag:v', 'avc1', '-bsf:v', 'h264_mp4toannexb,extract_extradata']],
  [/^(?:hevc|h265|hvc1)/u, ['-tag:v', 'hvc1']],
];

export function videoOptions(video: VideoTrack, tools: CallOptions, cut: ClipTimes | null): string[] {
  if (video.action === 'transcode') {
    const times = cut === null ? [nearStart] : videoClip(cut);
    const tones = video.hdr === undefined || tools.hasZscale !== true ? [] : toneMapping(video.hdr);
    const filters = [...times, ...sizeFilters(video), ...tones, 'format=yuv420p'];
    const rate = Math.max(1, video.fps ?? usualFps);
    return [
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21'],
      // Filters hide the frame rate from the encoder (in ffmpeg 7, even `setpts`), and it would state level 5.1.
      ...['-x264-params', `fps=${rate}`],
      ...['-vf', filters.join(',')],
      ...(tones.length === 0 ? [] : bt709),
      ...(cut === null ? [] : clipEncoderOptions(cut, rate)),
      ...['-force_key_frames', 'expr:gte(t,n_forced*2)', ...frameTimesOptions(tools)],
    ];
  }
  const copied = copiedNames.find(([codecs]) => codecs.test(video.codec));
  return ['-c:v', 'copy', ...(copied === undefined ? [] : copied[1])];
}

/**
 * Outputs each frame once, at its own time. By default ffmpeg repeats and drops frames to make the
 * rate constant, which breaks screen and phone recordings.
 */
function frameTimesOptions({ version = '' }: CallOptions): string[] {
  // The two names of the input's time base: 7.0 knows both. Builds without a version number are new.
  return ['-fps_mode', 'vfr', '-enc_time_base:v', Number.parseInt(version, 10) < 7 ? '-1' : 'demux'];
}

/** A phone that is turned while it records in one of these changes the size of its frames, without saying so before. */
const mayTurn = /^vp[89]/u;

function sizeFilters({ codec, changesSize, maxShortSide, width, height }: VideoTrack): string[] {
  const isKnown = width != null && height != null;
  return isKnown && (changesSize === true || mayTurn.test(codec))
    ? fitInto(width, height)
    : [scaleInto(maxShortSide)];
}

/** Scales frames to a size, or into it where their shape differs by more than rounding does. */
function fitInto(width: number, height: number): string[] {
  const isSameShape = `lt(abs(iw*${height}/(ih*${width})-1),0.03)`;
  const fitted = (side: string): string => `trunc(${side}*min(${width}/iw,${height}/ih)/2)*2`;
  return [
    `scale='if(${isSameShape},${width},${fitted('iw')})':'if(${isSameShape},${height},${fitted('ih')})'`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
  ];
}

/** H.264 players need 4:2:0, which needs even sizes. -2 derives an even size from the aspect ratio. */
function scaleInto(maxShortSide: number): string {
  const [isPortrait, width, height] = [
    'lt(iw,ih)',
    `min(${maxShortSide},trunc(iw/2)*2)`,
    `min(${maxShortSide},trunc(ih/2)*2)`,
  ];
  return `scale='if(${isPortrait},${width},-2)':'if(${isPortrait},-2,${height})'`;
}
