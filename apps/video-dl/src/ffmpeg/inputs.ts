import type { Writable } from 'node:stream';
import type { Analysis, MediaInput } from '../formats/media-input.js';
import type { MediaTools } from './tools.js';

export interface FfmpegInput extends MediaInput {
  /** Writes the input into a descriptor of ffmpeg, which then reads it there instead of from the URL. */
  readonly feed?: (target: Writable) => Promise<void>;
  /** Whether ffmpeg has to decode more of its video than key frames. */
  readonly decodesVideo?: boolean;
}

/** The operator's thread limit and ffmpeg's version, which defaults to the newest. */
export type CallOptions = Partial<Pick<MediaTools, 'threads' | 'version' | 'hasZscale'>>;

/**
 * Containers that ffmpeg may detect in untrusted bytes. Manifests and lists (hls, dash,
 * concat, sdp, image2, ffmetadata, …) are excluded, because a "video file" in such a
 * format would make ffmpeg open the URLs in it.
 */
const containers =
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,ogg,mp3,aac,flac,wav,w64,mpegts,mpeg,flv,avi,asf,ac3,eac3,dts,aiff,caf,amr,au,mxf,ape,wv,tak,tta,mpc,mpc8,dsf,ivf,dv,iff';

/** 8192 x 4320 (8K). Decoding takes several times the bytes of a frame. */
const maxPixels = 35_389_440;

/**
 * Decoders that ffmpeg may run on untrusted bytes. Excludes unused ones, and image decoders,
 * because a small file can contain a huge image.
 */
const decoders = [
  'h264,hevc,av1,libdav1d,libaom-av1,vp9,libvpx-vp9,vp8,libvpx,vp6,vp6a,vp6f,vp3,theora',
  'mpeg4,msmpeg4,msmpeg4v1,msmpeg4v2,h263,h263p,flv,mpegvideo,mpeg1video,mpeg2video,mjpeg',
  'wmv1,wmv2,wmv3,vc1,svq1,svq3,prores,dnxhd,dvvideo,cinepak,rawvideo,huffyuv,ffvhuff,ffv1,qtrle',
  'msrle,msvideo1,indeo3,indeo4,indeo5,rpza,smc',
  'aac,aac_fixed,aac_latm,mp3,mp3float,mp2,mp2float,mp1,mp1float,opus,libopus,vorbis,libvorbis',
  'flac,alac,ac3,ac3_fixed,eac3,dca,truehd,mlp,speex,libspeex,amrnb,amrwb,gsm,gsm_ms,nellymoser',
  'wmav1,wmav2,wmapro,wmalossless,wmavoice,qdm2,ape,wavpack,tak,tta,mpc7,mpc8',
  'dsd_lsbf,dsd_msbf,dsd_lsbf_planar,dsd_msbf_planar,adpcm_ima_wav,adpcm_ima_qt,adpcm_ms,adpcm_swf',
  'pcm_s8,pcm_u8,pcm_s16le,pcm_s16be,pcm_u16le,pcm_u16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be',
  'pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,pcm_alaw,pcm_mulaw,pcm_bluray,pcm_dvd',
].join(',');

/** Options before an input, for both ffmpeg and ffprobe: the allowed protocols, demuxers and frame size. */
export function inputOptions(protocols = 'http,tcp'): string[] {
  return [
    ...['-protocol_whitelist', protocols, '-format_whitelist', containers],
    ...['-max_pixels', String(maxPixels)],
  ];
}

/** How far to look for tracks. */
export function analysisOptions(analysis: Analysis | undefined): string[] {
  if (analysis === undefined) return [];
  const { bytes, seconds } = analysis;
  return ['-probesize', String(bytes), '-analyzeduration', String(Math.ceil(seconds * 1e6))];
}

/** Inputs whose start times differ by more don't share a clock. */
const maxDelaySeconds = 5;

export interface InputStart {
  /** Where ffmpeg starts reading: the key frame before the clip. */
  readonly seekSeconds?: number;
  readonly delaySeconds: number;
}

/**
 * The inputs with their options.
 * @param starts by default, ffmpeg starts each at zero, and we restore the delay between inputs that share a clock
 */
export function inputArguments(
  inputs: readonly FfmpegInput[],
  tools: CallOptions,
  starts: readonly InputStart[] = delaysOf(inputs),
): string[] {
  return inputs.flatMap((input, index) => inputCall(input, tools, starts[index]));
}

function inputCall(
  { url, hasTransportKeyFrame = false, decodesVideo = false, analysis }: FfmpegInput,
  tools: CallOptions,
  { seekSeconds = 0, delaySeconds }: InputStart = { delaySeconds: 0 },
): string[] {
  return [
    ...[...inputOptions(url.startsWith('pipe:') ? 'pipe' : undefined), '-codec_whitelist', decoders],
    ...threadOptions(tools),
    ...(hasTransportKeyFrame && !decodesVideo ? keyFramesOnly : []),
    ...(seekSeconds > 0 ? ['-noaccurate_seek', '-ss', seekSeconds.toFixed(6)] : []),
    ...(delaySeconds === 0 ? [] : ['-itsoffset', delaySeconds.toFixed(6)]),
    ...analysisOptions(analysis),
    ...['-i', url],
  ];
}

/**
 * Before its output, ffmpeg decodes frames to learn the size of the video and in which order frames are shown.
 * A key frame has the size, and a transport stream states the order by its times. ffmpeg 9 rejects the option for an
 * input without video.
 */
const keyFramesOnly = ['-skip_frame', 'nokey'];

/** The delay of each input relative to the earliest. */
function delaysOf(inputs: readonly FfmpegInput[]): InputStart[] {
  const starts = inputs.map(({ startSeconds }) => startSeconds ?? null);
  return isSameClock(starts)
    ? starts.map((start) => ({ delaySeconds: start - Math.min(...starts) }))
    : inputs.map(() => ({ delaySeconds: 0 }));
}

/** The start of each input in the source, on the first input's clock. */
export function offsetsOf(inputs: readonly FfmpegInput[]): number[] {
  const zeros = inputs.map(({ startSeconds: start, offsetSeconds: offset }) =>
    start == null || offset == null ? null : start - offset,
  );
  const [zero = 0] = zeros;
  return inputs.map(({ startSeconds, offsetSeconds }) =>
    isSameClock(zeros) ? (startSeconds ?? 0) - (zero ?? 0) : (offsetSeconds ?? 0),
  );
}

function isSameClock(times: readonly (number | null)[]): times is number[] {
  const known = times.flatMap((time) => time ?? []);
  return known.length === times.length && Math.max(...known) - Math.min(...known) <= maxDelaySeconds;
}

/** Output options that skip everything before the source's time zero. */
export function skipOptions(inputs: readonly FfmpegInput[]): string[] {
  const hiddenSeconds = Math.max(0, ...inputs.map((input) => input.hiddenSeconds ?? 0));
  return hiddenSeconds > 0 ? ['-ss', hiddenSeconds.toFixed(6)] : [];
}

/** Before an input they apply to its decoders, before the output to its filters and encoders. */
export function threadOptions({ threads }: CallOptions): string[] {
  return threads === undefined ? [] : ['-threads', String(threads)];
}
