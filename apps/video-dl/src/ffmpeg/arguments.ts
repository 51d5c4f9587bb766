import { aacBitrateKbps, mp3BitrateKbps } from './bitrates.js';
import type { MediaTools } from './tools.js';

/** One thing for ffmpeg to read, from the relay. */
export interface FfmpegInput {
  url: string;
  /** It is put together from segments, whose clocks may not agree to the last tick. */
  isJoined?: boolean;
  /** Its first presentation time by its source's own clock, in seconds; null where that is not known. */
  startSeconds?: number | null;
  /** Audio at its beginning that no player plays, in seconds. */
  hiddenSeconds?: number;
}

/** What the operator has set, and which ffmpeg it is: the newest unless given. */
type CallOptions = Partial<Pick<MediaTools, 'threads' | 'version'>>;

/** What to do with each track; null leaves it out. */
export interface TrackPlan {
  video:
    | { action: 'copy'; codec: string }
    /** Scaled down until its shorter side has at most `maxShortSide` pixels. */
    | { action: 'transcode'; codec: string; maxShortSide: number }
    | null;
  audio: { action: 'copy' | 'transcode'; codec: string } | null;
}

export interface OutputMetadata {
  title: string;
  artist?: string | null;
  comment?: string | null;
}

/**
 * Containers ffmpeg may recognise in bytes that come from outside. Manifests and
 * lists (hls, dash, concat, sdp, image2, ffmetadata, …) are left out: a "video
 * file" that is one would make ffmpeg open what it names.
 */
const containers =
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,ogg,mp3,aac,flac,wav,w64,mpegts,mpeg,flv,avi,asf,ac3,eac3,dts,aiff,caf,amr,au,mxf,ape,wv,tak,tta,mpc,mpc8,dsf,ivf,dv';

/**
 * Without -xerror, which fails on damage that every player skips: one broken frame, a
 * timestamp that goes backwards. The relay knows each read that failed, decode errors
 * are counted from stderr, and the output's tracks are measured. At the end, `verbose`
 * reports how much audio was decoded.
 */
function generalOptions({ threads }: CallOptions): string[] {
  const filterThreads = threads === undefined ? [] : ['-filter_threads', String(threads)];
  return ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+verbose', ...filterThreads];
}

/** 8192 x 4320, which is 8K; a frame takes its bytes several times over. */
const maxPixels = 35_389_440;

/**
 * Decoders ffmpeg may run on bytes that come from outside: video and audio. Not the hundreds that
 * nobody streams, and not those of images, of which a small file can hold a huge one.
 */
const decoders = [
  'h264,hevc,av1,libdav1d,libaom-av1,vp9,libvpx-vp9,vp8,libvpx,vp6,vp6a,vp6f,vp3,theora',
  'mpeg4,msmpeg4,msmpeg4v1,msmpeg4v2,h263,h263p,flv,mpegvideo,mpeg1video,mpeg2video,mjpeg',
  'wmv1,wmv2,wmv3,vc1,svq1,svq3,prores,dnxhd,dvvideo,cinepak,rawvideo,huffyuv,ffvhuff,ffv1,qtrle',
  'aac,aac_fixed,aac_latm,mp3,mp3float,mp2,mp2float,mp1,mp1float,opus,libopus,vorbis,libvorbis',
  'flac,alac,ac3,ac3_fixed,eac3,dca,truehd,mlp,speex,libspeex,amrnb,amrwb,gsm,gsm_ms,nellymoser',
  'wmav1,wmav2,wmapro,wmalossless,wmavoice,qdm2,ape,wavpack,tak,tta,mpc7,mpc8',
  'dsd_lsbf,dsd_msbf,dsd_lsbf_planar,dsd_msbf_planar,adpcm_ima_wav,adpcm_ima_qt,adpcm_ms,adpcm_swf',
  'pcm_s8,pcm_u8,pcm_s16le,pcm_s16be,pcm_u16le,pcm_u16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be',
  'pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be,pcm_alaw,pcm_mulaw,pcm_bluray,pcm_dvd',
].join(',');

/** The options in front of an input for ffmpeg and ffprobe alike: which protocols and demuxers it may use, and for which sizes. */
export function inputOptions(): string[] {
  return [
    ...['-protocol_whitelist', 'http,tcp', '-format_whitelist', containers],
    ...['-max_pixels', String(maxPixels)],
  ];
}

/** Further apart than this, in seconds, two inputs are not of one clock. */
const longestDelaySeconds = 5;

/** The inputs with their options. ffmpeg lets each begin at zero; what is of one clock keeps its distance. */
export function inputArguments(inputs: readonly FfmpegInput[], tools: CallOptions): string[] {
  const starts = inputs.flatMap(({ startSeconds }) => startSeconds ?? []);
  const first = Math.min(...starts);
  const isOneClock = starts.length === inputs.length && Math.max(...starts) - first <= longestDelaySeconds;
  return inputs.flatMap(({ url, startSeconds }) => {
    const delaySeconds = isOneClock ? (startSeconds ?? first) - first : 0;
    const delay = delaySeconds > 0 ? ['-itsoffset', delaySeconds.toFixed(6)] : [];
    return [...inputOptions(), '-codec_whitelist', decoders, ...threadOptions(tools), ...delay, '-i', url];
  });
}

/** In front of the output: leaves out what comes before time zero of the source. */
function cutOptions(inputs: readonly FfmpegInput[]): string[] {
  const hiddenSeconds = Math.max(0, ...inputs.map((input) => input.hiddenSeconds ?? 0));
  return hiddenSeconds > 0 ? ['-ss', hiddenSeconds.toFixed(6)] : [];
}

/**
 * Fragments start at key frames, and after this time at the latest: a source
 * with one key frame a minute would else sit in ffmpeg's memory and delay the
 * first byte by its length.
 */
const maxFragmentMs = 5000;

const fragmentOptions = [
  // delay_moov: edit lists are written, without which audio and video are up to 0.2 s apart.
  ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof+delay_moov'],
  ...['-frag_duration', String(maxFragmentMs * 1000)],
];

/** ffmpeg's arguments for a fragmented MP4 on stdout. With two inputs the first carries the video, the second the audio. */
export function mp4Arguments(
  inputs: readonly FfmpegInput[],
  tracks: TrackPlan,
  metadata: OutputMetadata,
  tools: CallOptions,
): string[] {
  const audioInput = inputs.length - 1;
  return [
    ...generalOptions(tools),
    ...inputArguments(inputs, tools),
    ...cutOptions(inputs),
    ...(tracks.video ? ['-map', '0:V:0', ...videoOptions(tracks.video, tools)] : []),
    ...(tracks.audio ? ['-map', `${audioInput}:a:0`, ...mp4AudioOptions(tracks.audio)] : []),
    ...['-map_metadata', '-1', '-map_chapters', '-1', ...metadataOptions(metadata)],
    ...[...threadOptions(tools), ...fragmentOptions, '-f', 'mp4', 'pipe:1'],
  ];
}

/** The most audio that an MP3 may have. */
export interface SoundCut {
  sampleRate: number;
  samples: number;
}

/** ffmpeg's arguments for bare MP3 frames on stdout, without any tag: the service writes its own in front. */
export function mp3Arguments(
  input: FfmpegInput,
  audio: NonNullable<TrackPlan['audio']>,
  tools: CallOptions,
  cut: SoundCut | null = null,
): string[] {
  return [
    ...generalOptions(tools),
    ...[...inputArguments([input], tools), ...cutOptions([input]), '-map', '0:a:0'],
    ...(audio.action === 'copy' ? ['-c:a', 'copy'] : mp3EncoderOptions(cut)),
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...[...threadOptions(tools), '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3', 'pipe:1'],
  ];
}

/** ffmpeg's arguments for audio as it is, on stdout: a fragmented MP4, or Ogg. */
export function copiedAudioArguments(
  input: FfmpegInput,
  { container, codec }: { container: 'm4a' | 'ogg'; codec: string },
  metadata: OutputMetadata,
  tools: CallOptions,
): string[] {
  return [
    ...generalOptions(tools),
    ...[...inputArguments([input], tools), '-map', '0:a:0', '-c:a', 'copy'],
    ...(codec === 'aac' ? ['-bsf:a', 'aac_adtstoasc'] : []),
    ...['-map_metadata', '-1', '-map_chapters', '-1', ...metadataOptions(metadata)],
    ...threadOptions(tools),
    ...(container === 'ogg'
      ? ['-f', 'ogg', 'pipe:1']
      : [...fragmentOptions, '-brand', 'M4A ', '-f', 'mp4', 'pipe:1']),
  ];
}

/** In front of an input for its decoders, in front of the output for its filters and encoders. */
function threadOptions({ threads }: CallOptions): string[] {
  return threads === undefined ? [] : ['-threads', String(threads)];
}

function videoOptions(video: NonNullable<TrackPlan['video']>, tools: CallOptions): string[] {
  if (video.action === 'transcode') {
    return [
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21'],
      ...['-vf', `${scaleInto(video.maxShortSide)},format=yuv420p`],
      ...['-force_key_frames', 'expr:gte(t,n_forced*2)', ...frameTimesOptions(tools)],
    ];
  }
  // Apple's players take HEVC only under this tag.
  return /^(?:hevc|h265|hvc1|hev1)/u.test(video.codec)
    ? ['-c:v', 'copy', '-tag:v', 'hvc1']
    : ['-c:v', 'copy'];
}

/**
 * Each frame once and at its own time. By default ffmpeg repeats and drops frames until their rate
 * is constant, which screen recordings and phones don't have.
 */
function frameTimesOptions({ version = '9' }: CallOptions): string[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < 5 || (major === 5 && minor < 1);
  return [isOld ? '-vsync' : '-fps_mode', 'vfr', '-enc_time_base', '-1'];
}

/** H.264 players want 4:2:0, and 4:2:0 wants even sizes: -2 is what the other side and the shape make of it. */
function scaleInto(maxShortSide: number): string {
  const [isPortrait, width, height] = [
    'lt(iw,ih)',
    `min(${maxShortSide},trunc(iw/2)*2)`,
    `min(${maxShortSide},trunc(ih/2)*2)`,
  ];
  return `scale='if(${isPortrait},${width},-2)':'if(${isPortrait},-2,${height})'`;
}

function mp4AudioOptions(audio: NonNullable<TrackPlan['audio']>): string[] {
  if (audio.action === 'transcode') {
    return ['-c:a', 'aac', '-b:a', `${aacBitrateKbps}k`, '-af', 'aresample=async=1'];
  }
  // AAC in a transport stream has ADTS headers, which MP4 doesn't want; other AAC passes through the filter.
  return ['-c:a', 'copy', '-bsf:a', 'aac_adtstoasc'];
}

/**
 * The sample rates are those at which MP3 has 192 kbit/s. Gaps between timestamps,
 * which an MP3 cannot express, are filled.
 */
function mp3EncoderOptions(cut: SoundCut | null): string[] {
  const filters = [
    'aresample=async=1',
    `aformat=sample_rates=${cut?.sampleRate ?? '44100|48000'}:channel_layouts=mono|stereo`,
    ...(cut === null ? [] : [`atrim=end_sample=${cut.samples}`]),
  ];
  return ['-c:a', 'libmp3lame', '-b:a', `${mp3BitrateKbps}k`, '-af', filters.join(',')];
}

function metadataOptions({ title, artist, comment }: OutputMetadata): string[] {
  const values = { title, artist, comment };
  return Object.entries(values).flatMap(([key, value]) => {
    const text = metadataText(value);
    return text === '' ? [] : ['-metadata', `${key}=${text}`];
  });
}

/** One line, at most 500 characters. */
function metadataText(value: string | null | undefined): string {
  return (value ?? '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500);
}
