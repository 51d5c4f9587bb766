import type { MediaTools } from './tools.js';

/** Constant bit rate of the MP3s we encode. */
export const mp3BitrateKbps = 192;

/** Bit rate of AAC, to which we encode audio that MP4 players don't support. */
export const aacBitrateKbps = 160;

/** One input of ffmpeg, from the relay. */
export interface FfmpegInput {
  url: string;
  /** Joined from segments, whose clocks may differ slightly. */
  isJoined?: boolean;
  /** A joined MPEG transport stream whose video begins with a key frame. */
  hasTransportKeyFrame?: boolean;
  /** Whether ffmpeg has to decode more of its video than key frames. */
  decodesVideo?: boolean;
  /** Its first presentation time on its source's clock, in seconds; null if unknown. */
  startSeconds?: number | null;
  /** Seconds of audio at its beginning that players skip. */
  hiddenSeconds?: number;
  /** For a clip: start of the input in the source, in seconds. */
  offsetSeconds?: number | null;
  /** For a clip of a seekable input: how many seconds before the clip to start reading. Null means from the beginning. */
  prerollSeconds?: number | null;
  /** How far to look for tracks, if not as far as usual. */
  analysis?: { readonly bytes: number; readonly seconds: number } | undefined;
}

/** The part of the source to output, in seconds. */
export interface ClipTimes {
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
}

/** The operator's thread limit and ffmpeg's version, which defaults to the newest. */
type CallOptions = Partial<Pick<MediaTools, 'threads' | 'version' | 'hasZscale'>>;

interface Track {
  codec: string;
  /** Its number among the tracks of its type, without covers; defaults to 0. */
  track?: number | undefined;
}

/** What to do with each track; null omits it. */
export interface TrackPlan {
  video:
    | (Track & { action: 'copy' })
    /** Scaled down until its shorter side has at most `maxShortSide` pixels. */
    | (Track & {
        action: 'transcode';
        maxShortSide: number;
        /** Size of the output; null if only ffmpeg can tell. */
        width?: number | null;
        height?: number | null;
        fps?: number | null;
        /** Of a source with a high dynamic range, which 8 bits can't show. */
        hdr?: 'pq' | 'hlg' | undefined;
      })
    | null;
  audio: (Track & { action: 'copy' | 'transcode'; ignoresTimes?: boolean | undefined }) | null;
  clip?: ClipTimes | null;
}

export interface OutputMetadata {
  title: string;
  artist?: string | null;
  comment?: string | null;
}

/**
 * Containers that ffmpeg may detect in untrusted bytes. Manifests and lists (hls, dash,
 * concat, sdp, image2, ffmetadata, …) are excluded, because a "video file" in such a
 * format would make ffmpeg open the URLs in it.
 */
const containers =
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,ogg,mp3,aac,flac,wav,w64,mpegts,mpeg,flv,avi,asf,ac3,eac3,dts,aiff,caf,amr,au,mxf,ape,wv,tak,tta,mpc,mpc8,dsf,ivf,dv,nut,gsm,voc,nistsphere,iff';

/**
 * We don't use -xerror, which fails on damage that every player skips, such as one broken
 * frame or a timestamp that goes backwards. Instead, the relay knows each failed read, we
 * count decode errors from stderr, and we measure the output's tracks. At the end,
 * `verbose` reports how much audio was decoded.
 */
function generalOptions({ threads }: CallOptions): string[] {
  const filterThreads = threads === undefined ? [] : ['-filter_threads', String(threads)];
  return ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+verbose', ...filterThreads];
}

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
  'flashsv,flashsv2,pcm_s8_planar,8svx_exp,8svx_fib,adpcm_sbpro_2,adpcm_sbpro_3,adpcm_sbpro_4',
  'g722,g726,g726le,g723_1,g729,ilbc,qcelp,adpcm_yamaha',
].join(',');

/** Options before an input, for both ffmpeg and ffprobe: the allowed protocols, demuxers and frame size. */
export function inputOptions(protocols = 'http,tcp'): string[] {
  return [
    ...['-protocol_whitelist', protocols, '-format_whitelist', containers],
    ...['-max_pixels', String(maxPixels)],
  ];
}

/** How far to look for tracks. */
export function analysisOptions(analysis: FfmpegInput['analysis']): string[] {
  if (analysis === undefined) return [];
  return ['-probesize', String(analysis.bytes), '-analyzeduration', `${Math.ceil(analysis.seconds)}M`];
}

/** Inputs whose start times differ by more don't share a clock. */
const maxDelaySeconds = 5;

/** The inputs with their options. ffmpeg starts each at zero, so we restore the delay between inputs that share a clock. */
export function inputArguments(inputs: readonly FfmpegInput[], tools: CallOptions): string[] {
  const delays = delaysOf(inputs);
  return inputs.flatMap((input, index) => inputCall(input, tools, { delaySeconds: delays[index] ?? 0 }));
}

function inputCall(
  { url, hasTransportKeyFrame = false, decodesVideo = false, analysis }: FfmpegInput,
  tools: CallOptions,
  { delaySeconds, seekSeconds = 0 }: { delaySeconds: number; seekSeconds?: number },
): string[] {
  return [
    ...[...inputOptions(), '-codec_whitelist', decoders, ...threadOptions(tools)],
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
function delaysOf(inputs: readonly FfmpegInput[]): number[] {
  const starts = inputs.map(({ startSeconds }) => startSeconds ?? null);
  return isSameClock(starts) ? starts.map((start) => start - Math.min(...starts)) : inputs.map(() => 0);
}

/** The start of each input in the source, on the first input's clock. */
function offsetsOf(inputs: readonly FfmpegInput[]): number[] {
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

/** Times are rounded, so the frame at a time may start just after it. */
const roundingSeconds = 0.001;

/** How ffmpeg seeks to a clip in an input. */
interface ClipStart {
  /** Where ffmpeg starts reading: the key frame before the clip. */
  readonly seekSeconds: number;
  /** Start of the clip on ffmpeg's clock, which starts at zero where it starts reading. */
  readonly baseSeconds: number;
}

function clipStarts(inputs: readonly FfmpegInput[], clip: ClipTimes): ClipStart[] {
  const offsets = offsetsOf(inputs);
  return inputs.map(({ prerollSeconds = null }, index) => {
    const startSeconds = clip.startSeconds - (offsets[index] ?? 0);
    const seekSeconds =
      prerollSeconds === null ? 0 : Math.max(0, startSeconds - prerollSeconds + roundingSeconds);
    return { seekSeconds, baseSeconds: startSeconds - seekSeconds };
  });
}

/** Output options that skip everything before the source's time zero. */
function skipOptions(inputs: readonly FfmpegInput[]): string[] {
  const hiddenSeconds = Math.max(0, ...inputs.map((input) => input.hiddenSeconds ?? 0));
  return hiddenSeconds > 0 ? ['-ss', hiddenSeconds.toFixed(6)] : [];
}

/**
 * A fragment starts at each key frame and after this time at the latest. Otherwise ffmpeg
 * would buffer a source with rare key frames in memory and delay the first byte.
 */
const maxFragmentMs = 5000;

const fragmentOptions = [
  // delay_moov writes edit lists, without which audio and video are up to 0.2 s apart.
  ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof+delay_moov'],
  ...['-frag_duration', String(maxFragmentMs * 1000)],
];

/** ffmpeg's arguments for a fragmented MP4 on stdout. With two inputs, the first has the video and the second the audio. */
export function mp4Arguments(
  sources: readonly FfmpegInput[],
  tracks: TrackPlan,
  metadata: OutputMetadata,
  tools: CallOptions,
): string[] {
  const { video, audio, clip = null } = tracks;
  const decodesVideo = video?.action === 'transcode';
  const inputs = sources.map((input, index) => ({ ...input, decodesVideo: decodesVideo && index === 0 }));
  const audioInput = inputs.length - 1;
  const starts = clip === null ? [] : clipStarts(inputs, clip);
  // Copied video passes no filter, so its start is shifted by an input option.
  const shiftsFirst = video?.action === 'copy';
  const cuts = starts.map(
    ({ baseSeconds }, index) => clip && cutOf(clip, index === 0 && shiftsFirst ? 0 : baseSeconds),
  );
  return [
    ...generalOptions(tools),
    ...(clip === null
      ? inputArguments(inputs, tools)
      : inputs.flatMap((input, index) => {
          const { seekSeconds, baseSeconds } = starts[index] ?? { seekSeconds: 0, baseSeconds: 0 };
          const delaySeconds = index === 0 && shiftsFirst ? -baseSeconds : 0;
          return inputCall(input, tools, { seekSeconds, delaySeconds });
        })),
    ...(clip === null ? skipOptions(inputs) : []),
    ...(video ? ['-map', `0:V:${video.track ?? 0}`, ...videoOptions(video, tools, cuts[0] ?? null)] : []),
    ...(audio
      ? ['-map', `${audioInput}:a:${audio.track ?? 0}`, ...mp4AudioOptions(audio, cuts[audioInput] ?? null)]
      : []),
    ...lengthOptions(clip),
    ...['-map_metadata', '-1', '-map_chapters', '-1', ...metadataOptions(metadata)],
    ...[...threadOptions(tools), ...fragmentOptions, '-f', 'mp4', 'pipe:1'],
  ];
}

/** The exact length of an MP3's audio. */
export interface AudioTrim {
  sampleRate: number;
  samples: number;
}

/** ffmpeg's arguments for bare MP3 frames on stdout. No tags: the service sends its own first. */
export function mp3Arguments(
  input: FfmpegInput,
  audio: NonNullable<TrackPlan['audio']>,
  tools: CallOptions,
  { trim = null, clip = null }: { trim?: AudioTrim | null; clip?: ClipTimes | null } = {},
): string[] {
  const [start] = clip === null ? [] : clipStarts([input], clip);
  const clipCut = clip && cutOf(clip, start?.baseSeconds ?? 0);
  return [
    ...generalOptions(tools),
    ...inputCall(input, tools, { delaySeconds: 0, ...start }),
    ...[...(clip === null ? skipOptions([input]) : []), '-map', `0:a:${audio.track ?? 0}`],
    ...(audio.action === 'copy' ? ['-c:a', 'copy'] : mp3EncoderOptions(audio, trim, clipCut)),
    ...lengthOptions(clip),
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...[...threadOptions(tools), '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3', 'pipe:1'],
  ];
}

/** ffmpeg's arguments for copied audio on stdout, in a fragmented MP4 or Ogg. */
export function copiedAudioArguments(
  input: FfmpegInput,
  {
    container,
    codec,
    track = 0,
    skipsHidden = false,
  }: Track & { container: 'm4a' | 'ogg'; skipsHidden?: boolean | undefined },
  metadata: OutputMetadata,
  tools: CallOptions,
): string[] {
  return [
    ...generalOptions(tools),
    ...[...inputArguments([input], tools), '-map', `0:a:${track}`, '-c:a', 'copy'],
    ...(codec === 'aac' ? ['-bsf:a', 'aac_adtstoasc'] : []),
    // Leaves out packets before time zero.
    ...(skipsHidden ? ['-copypriorss:a', '0'] : []),
    ...['-map_metadata', '-1', '-map_chapters', '-1', ...metadataOptions(metadata)],
    ...threadOptions(tools),
    ...(container === 'ogg'
      ? ['-f', 'ogg', 'pipe:1']
      : [...fragmentOptions, '-brand', 'M4A ', '-f', 'mp4', 'pipe:1']),
  ];
}

/** Before an input they apply to its decoders, before the output to its filters and encoders. */
function threadOptions({ threads }: CallOptions): string[] {
  return threads === undefined ? [] : ['-threads', String(threads)];
}

function secondsOf({ startSeconds, endSeconds }: ClipTimes): number | null {
  return endSeconds === null ? null : endSeconds - startSeconds;
}

/** A copy ends with the packet that reaches this time, so it may contain a frame or two more. */
function lengthOptions(clip: ClipTimes | null): string[] {
  const seconds = clip && secondsOf(clip);
  return seconds === null ? [] : ['-t', seconds.toFixed(6)];
}

/** The part of an input that filters keep, on ffmpeg's clock. */
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
function keepOptions({ startSeconds, endSeconds }: ClipCut): string {
  const end = endSeconds === null ? '' : `:end=${endSeconds.toFixed(6)}`;
  return `start=${startSeconds.toFixed(6)}${end}`;
}

/** A frame that starts later than this after the one before it stays on screen for long. */
const longFrameSeconds = 0.5;
/** Frame rate of a video that doesn't state one. */
const usualFps = 25;
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
function videoClip(cut: ClipCut | null): string[] {
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
 * What the filters of a clip leave unknown. H.264's level depends on the frame rate. A frame may last longer than
 * the clip, so the last one must end with it.
 * Without B frames, the durations add up to the clip's in decoding order too, which is how some players measure a
 * track that doesn't state its length.
 */
function clipEncoderOptions(clip: ClipCut, fps: number | null, tools: CallOptions): string[] {
  const rate = Math.max(1, fps ?? usualFps);
  const encoder = ['-x264-params', `fps=${rate}`, '-bf', '0'];
  // Before 5.1, this filter can't set durations.
  if (isBefore51(tools)) return encoder;
  const seconds = secondsOf(clip);
  const known = `if(DURATION,DURATION,${1 / rate}/TB)`;
  const left = seconds === null ? null : `${seconds.toFixed(6)}/TB+STARTDTS-STARTPTS-DTS`;
  const duration = left === null ? known : `max(1,min(${known},${left}))`;
  return [...encoder, '-bsf:v', `setts=pts=PTS:dts=DTS:duration='${duration}'`];
}

function audioClip(cut: ClipCut | null): string[] {
  if (cut === null) return [];
  return [`atrim=${keepOptions(cut)}`, `asetpts='PTS-${cut.startSeconds.toFixed(6)}/TB'`];
}

/**
 * GStreamer's ASF files state times of video 1000 hours after those of audio. Recordings may begin with
 * frames before the first one in decoding order, whose time is 0. ffmpeg would drop both.
 */
const nearStart =
  "setpts='if(gt(abs(STARTPTS*TB),86400),PTS-STARTPTS,if(lt(STARTPTS,0)*lt(T,0.2),max(PTS,N),PTS))'";

const bt709 = [
  '-color_primaries',
  'bt709',
  '-color_trc',
  'bt709',
  '-colorspace',
  'bt709',
  '-color_range',
  'tv',
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

function videoOptions(
  video: NonNullable<TrackPlan['video']>,
  tools: CallOptions,
  cut: ClipCut | null,
): string[] {
  if (video.action === 'transcode') {
    const times = cut === null ? [nearStart] : videoClip(cut);
    const tones = video.hdr === undefined || tools.hasZscale !== true ? [] : toneMapping(video.hdr);
    const filters = [...times, ...sizeFilters(video), ...tones, 'format=yuv420p'];
    return [
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21'],
      ...['-vf', filters.join(',')],
      ...(tones.length === 0 ? [] : bt709),
      ...(cut === null ? [] : clipEncoderOptions(cut, video.fps ?? null, tools)),
      ...['-force_key_frames', 'expr:gte(t,n_forced*2)', ...frameTimesOptions(tools)],
    ];
  }
  // Apple's players require this tag for HEVC.
  return /^(?:hevc|h265|hvc1|hev1)/u.test(video.codec)
    ? ['-c:v', 'copy', '-tag:v', 'hvc1']
    : ['-c:v', 'copy'];
}

/**
 * Outputs each frame once, at its own time. By default ffmpeg repeats and drops frames to make the
 * rate constant, which breaks screen and phone recordings.
 */
function frameTimesOptions(tools: CallOptions): string[] {
  const [major] = versionOf(tools);
  // The two names of the input's time base: 7.0 knows both.
  return [isBefore51(tools) ? '-vsync' : '-fps_mode', 'vfr', '-enc_time_base:v', major < 7 ? '-1' : 'demux'];
}

function isBefore51(tools: CallOptions): boolean {
  const [major, minor] = versionOf(tools);
  return major < 5 || (major === 5 && minor < 1);
}

function versionOf({ version = '9' }: CallOptions): readonly [number, number] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return [major, minor];
}

type EncodedVideo = Extract<NonNullable<TrackPlan['video']>, { action: 'transcode' }>;

/** A phone that is turned while it records in one of these changes the size of its frames, without saying so before. */
const mayTurn = /^vp[89]/u;

function sizeFilters({ codec, maxShortSide, width, height }: EncodedVideo): string[] {
  const isKnown = width != null && height != null;
  return isKnown && mayTurn.test(codec) ? fitInto(width, height) : [scaleInto(maxShortSide)];
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

/**
 * Floating-point audio may contain NaN or infinity, on which encoders fail or crash. NaN becomes silence.
 * Players clip at 1; the limit here only has to be finite.
 */
function finiteSamples(codec: string): string[] {
  const isFloat = /^(?:pcm_f|wavpack)/u.test(codec);
  return isFloat ? ["aeval='if(isnan(val(ch)),0,clip(val(ch),-4,4))':c=same"] : [];
}

/** Some files state only the number of channels, which the encoder rejects. */
const aacLayouts = 'mono|stereo|2.1|3.0|4.0|quad|5.0|5.0(side)|5.1|5.1(side)|6.1|7.1';

function mp4AudioOptions(audio: NonNullable<TrackPlan['audio']>, cut: ClipCut | null): string[] {
  if (audio.action === 'transcode') {
    const layouts = `aformat=channel_layouts=${aacLayouts}`;
    const filters = [...finiteSamples(audio.codec), 'aresample=async=1', ...audioClip(cut), layouts];
    return ['-c:a', 'aac', '-b:a', `${aacBitrateKbps}k`, '-af', filters.join(',')];
  }
  // AAC in a transport stream has ADTS headers, which MP4 doesn't allow. The filter leaves other AAC unchanged.
  return ['-c:a', 'copy', '-bsf:a', 'aac_adtstoasc'];
}

/**
 * MP3 supports 192 kbit/s at these sample rates. Gaps between timestamps are filled with
 * silence, because MP3 can't represent them.
 */
function mp3EncoderOptions(
  { codec, ignoresTimes = false }: NonNullable<TrackPlan['audio']>,
  trim: AudioTrim | null,
  clip: ClipCut | null,
): string[] {
  const filters = [
    ...[...finiteSamples(codec), ignoresTimes ? 'aresample' : 'aresample=async=1', ...audioClip(clip)],
    `aformat=sample_rates=${trim?.sampleRate ?? '44100|48000'}:channel_layouts=mono|stereo`,
    ...(trim === null ? [] : [`atrim=end_sample=${trim.samples}`]),
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
