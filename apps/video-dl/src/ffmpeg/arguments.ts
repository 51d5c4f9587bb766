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
  /** Where in the whole it begins, in seconds: for a clip. */
  offsetSeconds?: number | null;
  /** For a clip of an input that can be sought by time: so long before the clip reading begins. Null: it is read from its beginning. */
  prerollSeconds?: number | null;
}

/** The part of the whole that is made, in seconds. */
export interface ClipTimes {
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
}

/** What the operator has set, and which ffmpeg it is: the newest unless given. */
type CallOptions = Partial<Pick<MediaTools, 'threads' | 'version'>>;

/** What to do with each track; null leaves it out. */
export interface TrackPlan {
  video:
    | { action: 'copy'; codec: string }
    /** Scaled down until its shorter side has at most `maxShortSide` pixels. */
    | { action: 'transcode'; codec: string; maxShortSide: number; fps?: number | null }
    | null;
  audio: { action: 'copy' | 'transcode'; codec: string } | null;
  clip?: ClipTimes | null;
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
 * Decoders that ffmpeg may run on untrusted bytes. Unused ones are left out, and so are image
 * decoders, because a small file can hold a huge image.
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
  const delays = delaysOf(inputs);
  return inputs.flatMap((input, index) => inputCall(input, tools, { delaySeconds: delays[index] ?? 0 }));
}

function inputCall(
  { url }: FfmpegInput,
  tools: CallOptions,
  { delaySeconds, seekSeconds = 0 }: { delaySeconds: number; seekSeconds?: number },
): string[] {
  return [
    ...[...inputOptions(), '-codec_whitelist', decoders, ...threadOptions(tools)],
    ...(seekSeconds > 0 ? ['-noaccurate_seek', '-ss', seekSeconds.toFixed(6)] : []),
    ...(delaySeconds === 0 ? [] : ['-itsoffset', delaySeconds.toFixed(6)]),
    ...['-i', url],
  ];
}

/** By how much each input begins after the first. */
function delaysOf(inputs: readonly FfmpegInput[]): number[] {
  const starts = inputs.map(({ startSeconds }) => startSeconds ?? null);
  return isOneClock(starts) ? starts.map((start) => start - Math.min(...starts)) : inputs.map(() => 0);
}

/** Where in the whole each input begins, which the first input's clock counts. */
function placesOf(inputs: readonly FfmpegInput[]): number[] {
  const zeros = inputs.map(({ startSeconds: start, offsetSeconds: offset }) =>
    start == null || offset == null ? null : start - offset,
  );
  const [zero = 0] = zeros;
  return inputs.map(({ startSeconds, offsetSeconds }) =>
    isOneClock(zeros) ? (startSeconds ?? 0) - (zero ?? 0) : (offsetSeconds ?? 0),
  );
}

function isOneClock(times: readonly (number | null)[]): times is number[] {
  const known = times.flatMap((time) => time ?? []);
  return known.length === times.length && Math.max(...known) - Math.min(...known) <= longestDelaySeconds;
}

/** Times are rounded: what is sought at a time may begin just after it. */
const roundingSeconds = 0.001;

/** How ffmpeg finds a clip in an input. */
interface ClipStart {
  /** Where ffmpeg begins to read: the key frame before the start. */
  readonly seekSeconds: number;
  /** When the clip begins, by the times that ffmpeg gives what it has read. */
  readonly baseSeconds: number;
}

function clipStarts(inputs: readonly FfmpegInput[], clip: ClipTimes): ClipStart[] {
  const places = placesOf(inputs);
  return inputs.map(({ prerollSeconds = null }, index) => {
    const startSeconds = clip.startSeconds - (places[index] ?? 0);
    const seekSeconds =
      prerollSeconds === null ? 0 : Math.max(0, startSeconds - prerollSeconds + roundingSeconds);
    return { seekSeconds, baseSeconds: startSeconds - seekSeconds };
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
  const { video, audio, clip = null } = tracks;
  const starts = clip === null ? [] : clipStarts(inputs, clip);
  // What is copied passes no filter that could move it.
  const movesFirst = video?.action === 'copy';
  const cuts = starts.map(
    ({ baseSeconds }, index) => clip && cutOf(clip, index === 0 && movesFirst ? 0 : baseSeconds),
  );
  return [
    ...generalOptions(tools),
    ...(clip === null
      ? inputArguments(inputs, tools)
      : inputs.flatMap((input, index) => {
          const { seekSeconds, baseSeconds } = starts[index] ?? { seekSeconds: 0, baseSeconds: 0 };
          const delaySeconds = index === 0 && movesFirst ? -baseSeconds : 0;
          return inputCall(input, tools, { seekSeconds, delaySeconds });
        })),
    ...(clip === null ? cutOptions(inputs) : []),
    ...(video ? ['-map', '0:V:0', ...videoOptions(video, tools, cuts[0] ?? null)] : []),
    ...(audio ? ['-map', `${audioInput}:a:0`, ...mp4AudioOptions(audio, cuts[audioInput] ?? null)] : []),
    ...lengthOptions(clip),
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
  { cut = null, clip = null }: { cut?: SoundCut | null; clip?: ClipTimes | null } = {},
): string[] {
  const [start] = clip === null ? [] : clipStarts([input], clip);
  const clipCut = clip && cutOf(clip, start?.baseSeconds ?? 0);
  return [
    ...generalOptions(tools),
    ...inputCall(input, tools, { delaySeconds: 0, ...start }),
    ...[...(clip === null ? cutOptions([input]) : []), '-map', '0:a:0'],
    ...(audio.action === 'copy' ? ['-c:a', 'copy'] : mp3EncoderOptions(cut, clipCut)),
    ...lengthOptions(clip),
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

function secondsOf({ startSeconds, endSeconds }: ClipTimes): number | null {
  return endSeconds === null ? null : endSeconds - startSeconds;
}

/** What is copied ends with the packet that reaches this; a frame or two more may be needed to show the last. */
function lengthOptions(clip: ClipTimes | null): string[] {
  const seconds = clip && secondsOf(clip);
  return seconds === null ? [] : ['-t', seconds.toFixed(6)];
}

/** What filters keep of an input, by its times. */
interface ClipCut {
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
}

function cutOf(clip: ClipTimes, baseSeconds: number): ClipCut {
  const seconds = secondsOf(clip);
  return { startSeconds: baseSeconds, endSeconds: seconds === null ? null : baseSeconds + seconds };
}

/** For `trim` and `atrim`. */
function keepOptions({ startSeconds, endSeconds }: ClipCut, leadSeconds = 0): string {
  const end = endSeconds === null ? '' : `:end=${endSeconds.toFixed(6)}`;
  return `start=${(startSeconds - leadSeconds).toFixed(6)}${end}`;
}

/** The frame that is shown when the clip begins may have begun before. */
function videoClip(cut: ClipCut | null, fps: number | null): string[] {
  if (cut === null) return [];
  const leadSeconds = fps === null || fps <= 0 ? 0 : Math.max(0, 1 / fps - roundingSeconds);
  const times = `setpts='max(PTS-${cut.startSeconds.toFixed(6)}/TB,0)'`;
  return [`trim=${keepOptions(cut, leadSeconds)}`, times];
}

function audioClip(cut: ClipCut | null): string[] {
  if (cut === null) return [];
  return [`atrim=${keepOptions(cut)}`, `asetpts='PTS-${cut.startSeconds.toFixed(6)}/TB'`];
}

function videoOptions(
  video: NonNullable<TrackPlan['video']>,
  tools: CallOptions,
  cut: ClipCut | null,
): string[] {
  if (video.action === 'transcode') {
    const filters = [...videoClip(cut, video.fps ?? null), scaleInto(video.maxShortSide), 'format=yuv420p'];
    return [
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21'],
      ...['-vf', filters.join(',')],
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
  return [isOld ? '-vsync' : '-fps_mode', 'vfr', '-enc_time_base:v', '-1'];
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

function mp4AudioOptions(audio: NonNullable<TrackPlan['audio']>, cut: ClipCut | null): string[] {
  if (audio.action === 'transcode') {
    const filters = ['aresample=async=1', ...audioClip(cut)];
    return ['-c:a', 'aac', '-b:a', `${aacBitrateKbps}k`, '-af', filters.join(',')];
  }
  // AAC in a transport stream has ADTS headers, which MP4 doesn't want; other AAC passes through the filter.
  return ['-c:a', 'copy', '-bsf:a', 'aac_adtstoasc'];
}

/**
 * The sample rates are those at which MP3 has 192 kbit/s. Gaps between timestamps,
 * which an MP3 cannot express, are filled.
 */
function mp3EncoderOptions(cut: SoundCut | null, clip: ClipCut | null): string[] {
  const filters = [
    ...['aresample=async=1', ...audioClip(clip)],
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
