/** How each medium of the site is made: ffmpeg arguments that write into the current folder. */
export interface Recipe {
  readonly args: readonly string[];
  /** Seconds. */
  readonly durationSeconds: number;
}

const durationSeconds = 4;
const frameRate = 25;

interface VideoOptions {
  readonly size?: string;
  readonly seconds?: number;
  readonly codec?: readonly string[];
}

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(frameRate)];
const aac = ['-c:a', 'aac', '-b:a', '96k', '-ar', '44100', '-ac', '2'];
const opus = ['-c:a', 'libopus', '-b:a', '64k'];
const vp9 = [
  ...['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '300k'],
  ...['-g', String(frameRate)],
];

function video({ size = '640x360', seconds = durationSeconds, codec = h264 }: VideoOptions = {}) {
  return {
    input: ['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${frameRate}:duration=${seconds}`],
    codec,
    seconds,
  };
}

function audio({ seconds = durationSeconds, codec = aac }: VideoOptions = {}) {
  return {
    // A sweep, so that a cut or a shift in time is audible and measurable.
    input: ['-f', 'lavfi', '-i', `aevalsrc='0.3*sin(2*PI*(220+110*t)*t)':s=44100:d=${seconds}`],
    codec,
    seconds,
  };
}

const numberedSeconds = 20;

/**
 * Each frame has its number in it: sixteen squares at the top are its bits, the lowest on the left.
 * Below is noise, so that there are bytes to count.
 */
const numbered: Track = {
  input: [
    ...['-f', 'lavfi', '-i'],
    [
      `nullsrc=size=16x2:rate=${frameRate}:duration=${numberedSeconds},geq=lum='if(mod(floor(N/pow(2,X)),2),235,16)':cb=128:cr=128,scale=320:20:flags=neighbor,format=yuv420p[bits]`,
      `color=gray:size=320x160:rate=${frameRate}:duration=${numberedSeconds},noise=alls=100:allf=t+u,format=yuv420p[noise]`,
      '[bits][noise]vstack',
    ].join(';'),
  ],
  codec: [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-crf', '26'],
    // Key frames every two seconds, frames that are shown in another order than they are decoded.
    ...['-g', '50', '-keyint_min', '50', '-sc_threshold', '0', '-bf', '2', '-flags', '+cgop'],
  ],
  seconds: numberedSeconds,
};

/** No two moments are alike. */
const noise = (codec: readonly string[] = aac): Track => ({
  input: ['-f', 'lavfi', '-i', `anoisesrc=seed=7:color=pink:amplitude=0.4:r=44100:d=${numberedSeconds}`],
  codec,
  seconds: numberedSeconds,
});

const numberedHls = (...more: string[]) =>
  file(
    [numbered, noise()],
    ...['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', ...more],
    'index.m3u8',
  );

type Track = ReturnType<typeof video>;

function file(tracks: readonly Track[], ...output: string[]): Recipe {
  return {
    args: [
      ...tracks.flatMap(({ input }) => input),
      ...tracks.flatMap((_, index) => ['-map', String(index)]),
      ...tracks.flatMap(({ codec }) => codec),
      ...output,
    ],
    durationSeconds: Math.max(...tracks.map(({ seconds }) => seconds)),
  };
}

const faststart = ['-movflags', '+faststart'];
const quickTime = ['-brand', 'qt  '];
const av = (options: VideoOptions = {}) => [
  video(options),
  audio(options.seconds ? { seconds: options.seconds } : {}),
];
const hls = (...more: string[]) => ['-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod', ...more];
const fmp4 = ['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', 'init.mp4'];
const dash = (...more: string[]) => ['-f', 'dash', '-seg_duration', '1', ...more];
const separate = ['-adaptation_sets', 'id=0,streams=v id=1,streams=a'];

/** By the name of the file, or of the folder where a recipe makes several files. */
export const recipes: Readonly<Record<string, Recipe>> = {
  'front.mp4': file(av(), ...faststart, 'front.mp4'),
  'end.mp4': file(av(), 'end.mp4'),
  // The same boxes under QuickTime's brand: never the answer as it is.
  'front-qt.mp4': file(av(), ...faststart, ...quickTime, 'front-qt.mp4'),
  'end-qt.mp4': file(av(), ...quickTime, 'end-qt.mp4'),
  'long-qt.mp4': file(av({ seconds: 20 }), ...faststart, ...quickTime, 'long-qt.mp4'),
  '360.mp4': file(av(), ...faststart, '360.mp4'),
  'small.mp4': file(av({ size: '64x36' }), ...faststart, 'small.mp4'),
  '720.mp4': file(av({ size: '1280x720' }), ...faststart, '720.mp4'),
  '1080.mp4': file(av({ size: '1920x1080' }), ...faststart, '1080.mp4'),
  'portrait.mp4': file(av({ size: '360x640' }), ...faststart, 'portrait.mp4'),
  'silent.mp4': file([video()], ...faststart, 'silent.mp4'),
  'long.mp4': file(av({ seconds: 20 }), ...faststart, 'long.mp4'),
  'two-minutes.mp4': file(av({ seconds: 120, size: '320x180' }), ...faststart, 'two-minutes.mp4'),
  'two-minutes.mkv': file(av({ seconds: 120, size: '320x180' }), 'two-minutes.mkv'),
  'hevc.mp4': file(
    [
      video({ codec: ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'] }),
      audio(),
    ],
    ...faststart,
    'hevc.mp4',
  ),
  'h264-opus.mp4': file([video(), audio({ codec: opus })], ...faststart, 'h264-opus.mp4'),
  'vp9.webm': file([video({ codec: vp9 }), audio({ codec: opus })], 'vp9.webm'),
  '1080-vp9.webm': file([video({ codec: vp9, size: '1920x1080' }), audio({ codec: opus })], '1080-vp9.webm'),
  'mpeg4.mp4': file([video({ codec: ['-c:v', 'mpeg4', '-q:v', '5'] }), audio()], ...faststart, 'mpeg4.mp4'),
  'vp8.webm': file(
    [
      video({ codec: ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '300k'] }),
      audio({ codec: ['-c:a', 'libvorbis', '-b:a', '96k'] }),
    ],
    'vp8.webm',
  ),
  // Timestamps that do not advance, as produced by live encoders.
  'equal-times.flv': file(
    av(),
    ...['-bsf:v', "setts=dts='if(eq(mod(N,40),39),PREV_OUTDTS,DTS)'"],
    'equal-times.flv',
  ),
  'film.flv': file(av(), 'film.flv'),
  'short-audio.flv': file([video(), audio({ seconds: 1 })], 'short-audio.flv'),
  'latm.ts': file(av(), '-mpegts_flags', 'latm', 'latm.ts'),
  // States the number of its channels, but not which they are.
  'tta.mkv': file([video(), audio({ codec: ['-c:a', 'tta'] })], 'tta.mkv'),
  'mp2.m4a': file([audio({ codec: ['-c:a', 'mp2'] })], '-f', 'mp4', 'mp2.m4a'),
  'fragments.mp4': file(av(), '-movflags', '+frag_keyframe+empty_moov', 'fragments.mp4'),
  // Like the recording of a live stream.
  'late-fragments.mp4': file(
    av(),
    ...['-output_ts_offset', '1000', '-movflags', '+frag_keyframe+empty_moov', 'late-fragments.mp4'],
  ),
  // Cut without encoding: an edit list hides the first 1.2 s.
  'trimmed.mp4': file(
    av({ seconds: 5.2 }),
    ...['-output_ts_offset', '-1.2', '-avoid_negative_ts', 'disabled', 'trimmed.mp4'],
  ),
  // After half a second, each packet of audio comes a millisecond after the one before.
  'overlapping.mkv': file(av(), ...['-bsf:a', "setts=ts='if(gt(N,20),PREV_OUTPTS+1,TS)'", 'overlapping.mkv']),
  'mp2.mp4': file([video(), audio({ codec: ['-c:a', 'mp2'] })], 'mp2.mp4'),
  'sound.wv': file([audio({ codec: ['-c:a', 'wavpack'] })], 'sound.wv'),
  // Its writer can't go back to fill in sizes and lengths.
  'streamed.avi': file(av(), ...['-seekable', '0'], 'streamed.avi'),
  // Like the end of a broadcaster's advertisement: the clock jumps by 1000 s.
  'jump.ts': file(
    av(),
    ...['-bsf:v', "setts=ts='TS+if(gte(N,50),90000000,0)'"],
    ...['-bsf:a', "setts=ts='TS+if(gte(N,86),90000000,0)'"],
    'jump.ts',
  ),
  'h264.mkv': file(av(), 'h264.mkv'),
  'long.mkv': file(av({ seconds: 20 }), 'long.mkv'),
  'sound.mp3': file([audio({ codec: ['-c:a', 'libmp3lame', '-b:a', '128k'] })], 'sound.mp3'),
  'long.mp3': file([audio({ seconds: 60, codec: ['-c:a', 'libmp3lame', '-b:a', '128k'] })], 'long.mp3'),
  'long.ogg': file([audio({ seconds: 60, codec: opus })], 'long.ogg'),
  'long.aac': file([audio({ seconds: 60 })], 'long.aac'),
  'sound.m4a': file([audio()], ...faststart, 'sound.m4a'),
  'sound.aac': file([audio()], 'sound.aac'),
  'sound-11025.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '48k', '-ar', '11025'] })],
    ...faststart,
    'sound-11025.m4a',
  ),
  'surround.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '256k', '-ac', '6'] })],
    ...faststart,
    'surround.m4a',
  ),
  'sound-22050.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '96k', '-ar', '22050'] })],
    ...faststart,
    'sound-22050.m4a',
  ),
  'sound-32000.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '96k', '-ar', '32000'] })],
    ...faststart,
    'sound-32000.m4a',
  ),
  'sound-48000.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '96k', '-ar', '48000'] })],
    ...faststart,
    'sound-48000.m4a',
  ),
  'sound-96000.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '96k', '-ar', '96000'] })],
    ...faststart,
    'sound-96000.m4a',
  ),
  'mono-8000.m4a': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '96k', '-ar', '8000', '-ac', '1'] })],
    ...faststart,
    'mono-8000.m4a',
  ),
  'sound-end.m4a': file([audio()], 'sound-end.m4a'),
  'short-sound.m4a': file([audio({ seconds: 0.05 })], ...faststart, 'short-sound.m4a'),
  'long-sound.m4a': file([audio({ seconds: 61.7 })], ...faststart, 'long-sound.m4a'),
  'indexed.m4a': file(
    [audio()],
    '-movflags',
    '+dash+global_sidx',
    '-frag_duration',
    '1000000',
    'indexed.m4a',
  ),
  'fragments.m4a': file([audio()], '-movflags', '+frag_keyframe+empty_moov', 'fragments.m4a'),
  'alac.m4a': file([audio({ codec: ['-c:a', 'alac'] })], ...faststart, 'alac.m4a'),
  'opus.webm': file([audio({ codec: opus })], 'opus.webm'),
  'vbr.mp3': file([audio({ codec: ['-c:a', 'libmp3lame', '-q:a', '4'] })], 'vbr.mp3'),
  'sound.flac': file([audio({ codec: ['-c:a', 'flac'] })], 'sound.flac'),
  'sound.wav': file([audio({ codec: ['-c:a', 'pcm_s16le'] })], 'sound.wav'),
  'flac.mkv': file([video(), audio({ codec: ['-c:a', 'flac'] })], 'flac.mkv'),
  'mp3.mkv': file([video(), audio({ codec: ['-c:a', 'libmp3lame', '-b:a', '128k'] })], 'mp3.mkv'),
  'pcm.mkv': file([video(), audio({ codec: ['-c:a', 'pcm_s16le'] })], 'pcm.mkv'),
  'front.ts': file(av(), 'front.ts'),
  'sound.ogg': file([audio({ codec: ['-c:a', 'libvorbis', '-b:a', '96k'] })], 'sound.ogg'),
  'hls-ts': file(av(), ...hls(), 'index.m3u8'),
  'hls-renamed': file(av(), ...hls('-hls_segment_filename', 'part%d.bin'), 'index.m3u8'),
  'hls-long': file(av({ seconds: 12 }), ...hls(), 'index.m3u8'),
  'hls-fmp4': file(av(), ...hls(...fmp4), 'index.m3u8'),
  'hls-8000': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '32k', '-ar', '8000', '-ac', '1'] })],
    ...hls(...fmp4),
    'index.m3u8',
  ),
  'hls-aes': file(av(), ...hls('-hls_key_info_file', 'key.info'), 'index.m3u8'),
  'hls-byteranges': file(av(), ...hls('-hls_flags', 'single_file'), 'index.m3u8'),
  'hls-video-360': file([video()], ...hls(), 'index.m3u8'),
  'hls-video-720': file([video({ size: '1280x720' })], ...hls(), 'index.m3u8'),
  'hls-audio': file([audio()], ...hls(), 'index.m3u8'),
  'dash-template': file(
    av(),
    ...dash('-use_template', '1', '-use_timeline', '0', ...separate),
    'manifest.mpd',
  ),
  'dash-timeline': file(
    av(),
    ...dash('-use_template', '1', '-use_timeline', '1', ...separate),
    'manifest.mpd',
  ),
  'dash-list': file(av(), ...dash('-use_template', '0', '-use_timeline', '0', ...separate), 'manifest.mpd'),
  'dash-ranges': file(av(), ...dash('-single_file', '1', ...separate), 'manifest.mpd'),
  'dash-long': file(
    av({ seconds: 12 }),
    ...dash('-use_template', '0', '-use_timeline', '0', ...separate),
    ...['-frag_type', 'duration', '-frag_duration', '0.25'],
    'manifest.mpd',
  ),
  'numbered.mp4': file([numbered, noise()], ...faststart, 'numbered.mp4'),
  'numbered-end.mp4': file([numbered, noise()], 'numbered-end.mp4'),
  'numbered.mkv': file([numbered, noise()], 'numbered.mkv'),
  'numbered.ts': file([numbered, noise()], 'numbered.ts'),
  'numbered.webm': file([{ ...numbered, codec: vp9 }, noise(opus)], 'numbered.webm'),
  'numbered-video.mp4': file([numbered], ...faststart, 'numbered-video.mp4'),
  'numbered-audio.m4a': file([noise()], ...faststart, 'numbered-audio.m4a'),
  'numbered-alac.m4a': file([noise(['-c:a', 'alac'])], ...faststart, 'numbered-alac.m4a'),
  'numbered-audio.ogg': file([noise(opus)], 'numbered-audio.ogg'),
  'numbered-audio.flac': file([noise(['-c:a', 'flac'])], 'numbered-audio.flac'),
  'numbered-audio.mp3': file([noise(['-c:a', 'libmp3lame', '-q:a', '2'])], 'numbered-audio.mp3'),
  'hls-numbered': numberedHls(),
  'hls-numbered-fmp4': numberedHls(...fmp4),
  'dash-numbered': file(
    [numbered, noise()],
    ...['-f', 'dash', '-seg_duration', '2', '-use_template', '1', '-use_timeline', '1', ...separate],
    'manifest.mpd',
  ),
  // A file for each track, with an index in front.
  'numbered-indexed-video.mp4': file(
    [numbered],
    ...['-movflags', '+dash+global_sidx+frag_keyframe+delay_moov', 'numbered-indexed-video.mp4'],
  ),
  'numbered-indexed-audio.mp4': file(
    [noise()],
    ...['-movflags', '+dash+global_sidx+delay_moov', '-frag_duration', '2000000'],
    'numbered-indexed-audio.mp4',
  ),
  // Cut where no key frame is: an edit list hides what comes before.
  'numbered-trimmed.mp4': file(
    [numbered, noise()],
    ...['-output_ts_offset', '-1.2', '-avoid_negative_ts', 'disabled', 'numbered-trimmed.mp4'],
  ),
  'cover.jpg': {
    args: ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=1:duration=1', '-frames:v', '1', 'cover.jpg'],
    durationSeconds: 0,
  },
};

/** AES-128 key of `hls-aes`, in hexadecimal. */
export const hlsKey = '000102030405060708090a0b0c0d0e0f';
