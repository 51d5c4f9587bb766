/** How each media file of the site is made: ffmpeg arguments that write into the current folder. */
export interface Recipe {
  readonly args: readonly string[];
  /** The file that ffmpeg reads, if another recipe makes it. */
  readonly source?: Source;
  /** Seconds. */
  readonly durationSeconds: number;
}

interface Source {
  readonly name: string;
  readonly recipe: Recipe;
}

const durationSeconds = 4;
const frameRate = 25;

interface VideoOptions {
  readonly size?: string;
  readonly rate?: number;
  readonly seconds?: number;
  readonly codec?: readonly string[];
}

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(frameRate)];
/**
 * Filters the video and tags it as one with a high dynamic range. Since ffmpeg 7.1 its frames decide
 * the tags; before, the encoder's options did.
 */
export const hdrOptions = (transfer: string, filter = 'null'): string[] => [
  ...['-vf', `${filter},setparams=color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`],
  ...['-color_primaries', 'bt2020', '-color_trc', transfer, '-colorspace', 'bt2020nc'],
];

const aac = ['-c:a', 'aac', '-b:a', '96k', '-ar', '44100', '-ac', '2'];
const opus = ['-c:a', 'libopus', '-b:a', '64k'];
const vp9 = [
  ...['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '300k'],
  ...['-g', String(frameRate)],
];

// With several threads, libvpx waits for them at full load.
const vp8 = [
  ...['-c:v', 'libvpx', '-threads', '1', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '300k'],
];

function video({
  size = '640x360',
  rate = frameRate,
  seconds = durationSeconds,
  codec = h264,
}: VideoOptions = {}) {
  return {
    input: ['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`],
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
 * Each frame shows its number: sixteen squares at the top are its bits, the lowest on the left.
 * The rest is noise, so that the file has enough bytes to count.
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
    // Key frames every two seconds; frames are decoded and displayed in different orders.
    ...['-g', '50', '-keyint_min', '50', '-sc_threshold', '0', '-bf', '2', '-flags', '+cgop'],
  ],
  seconds: numberedSeconds,
};

/** No two moments sound alike. */
const noise = (codec: readonly string[] = aac): Track => ({
  input: ['-f', 'lavfi', '-i', `anoisesrc=seed=7:color=pink:amplitude=0.4:r=44100:d=${numberedSeconds}`],
  codec,
  seconds: numberedSeconds,
});

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

/** The same packets in another container: encoding each file would take most of the time. */
function copied(source: Source, ...output: string[]): Recipe {
  return {
    source,
    args: ['-map', '0', '-c', 'copy', ...output],
    durationSeconds: source.recipe.durationSeconds,
  };
}

const faststart = ['-movflags', '+faststart'];
const indexed = ['-f', 'mp4', '-movflags', '+dash+global_sidx'];
const quickTime = ['-brand', 'qt  '];
const av = (options: VideoOptions = {}) => [
  video(options),
  audio(options.seconds ? { seconds: options.seconds } : {}),
];
const hls = (...more: string[]) => ['-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod', ...more];
const fmp4 = ['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', 'init.mp4'];
const dash = (...more: string[]) => ['-f', 'dash', '-seg_duration', '1', ...more];
const separate = ['-adaptation_sets', 'id=0,streams=v id=1,streams=a'];

const onlyVideo = ['-map', '-0:a'];
const onlyAudio = ['-map', '-0:v'];
const dubbed = ['-map', '0:a'];
const source = (name: string, tracks: readonly Track[]): Source => ({
  name,
  recipe: file(tracks, ...faststart, name),
});
const front = source('front.mp4', av());
const long = source('long.mp4', av({ seconds: 20 }));
const twoMinutes = source('two-minutes.mp4', av({ seconds: 120, size: '320x180' }));
const numberedMp4 = source('numbered.mp4', [numbered, noise()]);
const slides = ['-vf', "select='lt(n,25)+eq(n,150)+eq(n,300)'", '-vsync', 'vfr'];
const numberedSlides = source('numbered-slides.mp4', [
  { ...numbered, codec: [...numbered.codec, ...slides] },
  noise(),
]);
const encrypted = [
  ...['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', '00112233445566778899aabbccddeeff'],
  ...['-encryption_kid', '000102030405060708090a0b0c0d0e0f'],
];
const numberedHls = (...more: string[]) =>
  copied(numberedMp4, ...['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', ...more], 'index.m3u8');

/** By the name of the file, or of the folder if a recipe makes several files. */
export const recipes: Readonly<Record<string, Recipe>> = {
  'front.mp4': front.recipe,
  'end.mp4': copied(front, 'end.mp4'),
  // With a second audio track, which only ffmpeg can leave out: never passed on or remuxed.
  'front-dubbed.mp4': copied(front, ...dubbed, ...faststart, ...quickTime, 'front-dubbed.mp4'),
  'end-dubbed.mp4': copied(front, ...dubbed, ...quickTime, 'end-dubbed.mp4'),
  'long-dubbed.mp4': copied(long, ...dubbed, ...faststart, ...quickTime, 'long-dubbed.mp4'),
  // The same boxes under QuickTime's brand: never passed on unchanged.
  'front-qt.mp4': copied(front, ...faststart, ...quickTime, 'front-qt.mp4'),
  'end-qt.mp4': copied(front, ...quickTime, 'end-qt.mp4'),
  'long-qt.mp4': copied(long, ...faststart, ...quickTime, 'long-qt.mp4'),
  'encrypted.mp4': copied(front, ...faststart, ...encrypted, 'encrypted.mp4'),
  'encrypted.m4a': copied(front, ...onlyAudio, ...encrypted, 'encrypted.m4a'),
  'encrypted-fragments.mp4': copied(
    front,
    ...['-movflags', '+frag_keyframe+empty_moov', ...encrypted, 'encrypted-fragments.mp4'],
  ),
  '360.mp4': copied(front, ...faststart, '360.mp4'),
  'small.mp4': file(av({ size: '64x36' }), ...faststart, 'small.mp4'),
  '1080.mp4': file(av({ size: '1920x1080', seconds: 1 }), ...faststart, '1080.mp4'),
  'hdr.mp4': file(
    [
      video({
        codec: [...h264, ...hdrOptions('smpte2084')],
      }),
    ],
    ...faststart,
    'hdr.mp4',
  ),
  'portrait.mp4': file(av({ size: '360x640' }), ...faststart, 'portrait.mp4'),
  'long.mov': copied(long, 'long.mov'),
  'video-alone.mp4': copied(long, ...onlyVideo, ...faststart, 'video-alone.mp4'),
  'audio-alone.m4a': copied(long, ...onlyAudio, ...faststart, 'audio-alone.m4a'),
  // With one index of all fragments, as YouTube and others store their tracks.
  'video-indexed.mp4': copied(
    long,
    ...onlyVideo,
    ...indexed,
    '-frag_duration',
    '1000000',
    'video-indexed.mp4',
  ),
  'audio-indexed.m4a': copied(
    long,
    ...onlyAudio,
    ...indexed,
    '-frag_duration',
    '3000000',
    'audio-indexed.m4a',
  ),
  'silent.mp4': copied(front, ...onlyVideo, ...faststart, 'silent.mp4'),
  'long.mp4': long.recipe,
  'two-minutes.mp4': twoMinutes.recipe,
  'two-minutes.mkv': copied(twoMinutes, 'two-minutes.mkv'),
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
  '1080-vp9.webm': file(
    [video({ codec: vp9, size: '1920x1080', seconds: 1 }), audio({ codec: opus, seconds: 1 })],
    '1080-vp9.webm',
  ),
  'mpeg4.mp4': file([video({ codec: ['-c:v', 'mpeg4', '-q:v', '5'] }), audio()], ...faststart, 'mpeg4.mp4'),
  'vp8.webm': file(
    [video({ codec: vp8 }), audio({ codec: ['-c:a', 'libvorbis', '-b:a', '96k'] })],
    'vp8.webm',
  ),
  // Timestamps that do not advance, as produced by live encoders.
  'equal-times.flv': copied(
    front,
    ...['-bsf:v', "setts=dts='if(eq(mod(N,40),39),PREV_OUTDTS,DTS)'"],
    'equal-times.flv',
  ),
  'film.flv': copied(front, 'film.flv'),
  'short-audio.flv': file([video(), audio({ seconds: 1 })], 'short-audio.flv'),
  'latm.ts': copied(front, '-mpegts_flags', 'latm', 'latm.ts'),
  // States the number of its channels, but not their layout.
  'tta.mkv': file([video(), audio({ codec: ['-c:a', 'tta'] })], 'tta.mkv'),
  'mp2.m4a': file([audio({ codec: ['-c:a', 'mp2'] })], '-f', 'mp4', 'mp2.m4a'),
  'fragments.mp4': copied(front, '-movflags', '+frag_keyframe+empty_moov', 'fragments.mp4'),
  // Like the recording of a live stream.
  'late-fragments.mp4': copied(
    front,
    ...['-output_ts_offset', '1000', '-movflags', '+frag_keyframe+empty_moov', 'late-fragments.mp4'],
  ),
  // Its clock began a day before the recording.
  'late.mp4': copied(front, '-output_ts_offset', '86400', 'late.mp4'),
  'late.flv': copied(front, '-output_ts_offset', '86400', 'late.flv'),
  // Cut without encoding: an edit list hides the first 1.2 s.
  'trimmed.mp4': file(
    av({ seconds: 5.2 }),
    ...['-output_ts_offset', '-1.2', '-avoid_negative_ts', 'disabled', 'trimmed.mp4'],
  ),
  // After half a second, each packet of audio comes a millisecond after the one before.
  'overlapping.mkv': copied(
    front,
    ...['-bsf:a', "setts=ts='if(gt(N,20),PREV_OUTPTS+1,TS)'", 'overlapping.mkv'],
  ),
  'mp2.mp4': file([video(), audio({ codec: ['-c:a', 'mp2'] })], 'mp2.mp4'),
  'sound.wv': file([audio({ codec: ['-c:a', 'wavpack'] })], 'sound.wv'),
  'sound.tta': file([audio({ codec: ['-c:a', 'tta'] })], 'sound.tta'),
  'film.ivf': file([video({ codec: vp8 })], 'film.ivf'),
  // Its writer can't go back to fill in sizes and lengths.
  'film.avi': copied(front, '-r', String(frameRate), 'film.avi'),
  'streamed.avi': copied(front, ...['-seekable', '0'], 'streamed.avi'),
  // Like the end of a broadcaster's advertisement: the clock jumps by 1000 s.
  'jump.ts': copied(
    front,
    ...['-bsf:v', "setts=ts='TS+if(gte(N,50),90000000,0)'"],
    ...['-bsf:a', "setts=ts='TS+if(gte(N,86),90000000,0)'"],
    'jump.ts',
  ),
  'h264.mkv': copied(front, 'h264.mkv'),
  'long.mkv': copied(long, 'long.mkv'),
  'sound.mp3': file([audio({ codec: ['-c:a', 'libmp3lame', '-b:a', '128k'] })], 'sound.mp3'),
  'long.mp3': file([audio({ seconds: 60, codec: ['-c:a', 'libmp3lame', '-b:a', '128k'] })], 'long.mp3'),
  'long.ogg': file([audio({ seconds: 60, codec: opus })], 'long.ogg'),
  'long.aac': file([audio({ seconds: 60 })], 'long.aac'),
  'sound.m4a': copied(front, ...onlyAudio, ...faststart, 'sound.m4a'),
  'sound.aac': copied(front, ...onlyAudio, 'sound.aac'),
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
  'sound-end.m4a': copied(front, ...onlyAudio, 'sound-end.m4a'),
  'short-sound.m4a': file([audio({ seconds: 0.05 })], ...faststart, 'short-sound.m4a'),
  'long-sound.m4a': file([audio({ seconds: 61.7 })], ...faststart, 'long-sound.m4a'),
  'indexed.m4a': copied(
    front,
    ...onlyAudio,
    '-movflags',
    '+dash+global_sidx',
    '-frag_duration',
    '1000000',
    'indexed.m4a',
  ),
  'fragments.m4a': copied(front, ...onlyAudio, '-movflags', '+frag_keyframe+empty_moov', 'fragments.m4a'),
  'alac.m4a': file([audio({ codec: ['-c:a', 'alac'] })], ...faststart, 'alac.m4a'),
  'spatial.webm': file([audio({ codec: [...opus, '-ac', '4', '-mapping_family', '2'] })], 'spatial.webm'),
  'opus.webm': file([audio({ codec: opus })], 'opus.webm'),
  'vbr.mp3': file([audio({ codec: ['-c:a', 'libmp3lame', '-q:a', '4'] })], 'vbr.mp3'),
  'sound.flac': file([audio({ codec: ['-c:a', 'flac'] })], 'sound.flac'),
  'sound.wav': file([audio({ codec: ['-c:a', 'pcm_s16le'] })], 'sound.wav'),
  'flac.mkv': file([video(), audio({ codec: ['-c:a', 'flac'] })], 'flac.mkv'),
  'mp3.mkv': file([video(), audio({ codec: ['-c:a', 'libmp3lame', '-b:a', '128k'] })], 'mp3.mkv'),
  'pcm.mkv': file([video(), audio({ codec: ['-c:a', 'pcm_s16le'] })], 'pcm.mkv'),
  'front.ts': copied(front, 'front.ts'),
  'sound.ogg': file([audio({ codec: ['-c:a', 'libvorbis', '-b:a', '96k'] })], 'sound.ogg'),
  'hls-ts': copied(front, ...hls(), 'index.m3u8'),
  'hls-renamed': copied(front, ...hls('-hls_segment_filename', 'part%d.bin'), 'index.m3u8'),
  'hls-long': file(av({ seconds: 12 }), ...hls(), 'index.m3u8'),
  'hls-fmp4': copied(front, ...hls(...fmp4), 'index.m3u8'),
  'hls-8000': file(
    [audio({ codec: ['-c:a', 'aac', '-b:a', '32k', '-ar', '8000', '-ac', '1'] })],
    ...hls(...fmp4),
    'index.m3u8',
  ),
  'hls-slides': file(
    [video({ rate: 0.5, seconds: 8, codec: [...h264, '-g', '1'] }), audio({ seconds: 8 })],
    ...hls(),
    'index.m3u8',
  ),
  'hls-aes': copied(front, ...hls('-hls_key_info_file', 'key.info'), 'index.m3u8'),
  'hls-byteranges': copied(front, ...hls('-hls_flags', 'single_file'), 'index.m3u8'),
  'hls-video-360': copied(front, ...onlyVideo, ...hls(), 'index.m3u8'),
  'hls-video-720': file([video({ size: '1280x720' })], ...hls(), 'index.m3u8'),
  'hls-audio': copied(front, ...onlyAudio, ...hls(), 'index.m3u8'),
  'dash-template': copied(
    front,
    ...dash('-use_template', '1', '-use_timeline', '0', ...separate),
    'manifest.mpd',
  ),
  'dash-timeline': copied(
    front,
    ...dash('-use_template', '1', '-use_timeline', '1', ...separate),
    'manifest.mpd',
  ),
  'dash-list': copied(
    front,
    ...dash('-use_template', '0', '-use_timeline', '0', ...separate),
    'manifest.mpd',
  ),
  'dash-ranges': copied(front, ...dash('-single_file', '1', ...separate), 'manifest.mpd'),
  'dash-long': file(
    av({ seconds: 12 }),
    ...dash('-use_template', '0', '-use_timeline', '0', ...separate),
    ...['-frag_type', 'duration', '-frag_duration', '0.25'],
    'manifest.mpd',
  ),
  'numbered.mp4': numberedMp4.recipe,
  'numbered-end.mp4': copied(numberedMp4, 'numbered-end.mp4'),
  'numbered.mkv': copied(numberedMp4, 'numbered.mkv'),
  'numbered.ts': copied(numberedMp4, 'numbered.ts'),
  // Like a recording of slides: a moving second, then two frames that stay on screen for seconds.
  'numbered-slides.mp4': numberedSlides.recipe,
  'numbered-slides.ts': copied(numberedSlides, 'numbered-slides.ts'),
  'numbered-short-audio.mp4': copied(
    numberedMp4,
    ...['-bsf:a', "noise=drop='gt(n,400)'", ...faststart, 'numbered-short-audio.mp4'],
  ),
  'numbered.webm': file([{ ...numbered, codec: vp9 }, noise(opus)], 'numbered.webm'),
  'numbered-video.mp4': copied(numberedMp4, ...onlyVideo, ...faststart, 'numbered-video.mp4'),
  'numbered-audio.m4a': copied(numberedMp4, ...onlyAudio, ...faststart, 'numbered-audio.m4a'),
  'numbered-alac.m4a': file([noise(['-c:a', 'alac'])], ...faststart, 'numbered-alac.m4a'),
  'numbered-audio.ogg': file([noise(opus)], 'numbered-audio.ogg'),
  'numbered-audio.flac': file([noise(['-c:a', 'flac'])], 'numbered-audio.flac'),
  'numbered-audio.mp3': file([noise(['-c:a', 'libmp3lame', '-q:a', '2'])], 'numbered-audio.mp3'),
  'hls-numbered': numberedHls(),
  'hls-numbered-fmp4': numberedHls(...fmp4),
  'dash-numbered': copied(
    numberedMp4,
    ...['-f', 'dash', '-seg_duration', '2', '-use_template', '1', '-use_timeline', '1', ...separate],
    'manifest.mpd',
  ),
  // A file for each track, with an index in front.
  'numbered-indexed-video.mp4': copied(
    numberedMp4,
    ...onlyVideo,
    ...['-movflags', '+dash+global_sidx+frag_keyframe+delay_moov', 'numbered-indexed-video.mp4'],
  ),
  'numbered-indexed-audio.mp4': copied(
    numberedMp4,
    ...onlyAudio,
    ...['-movflags', '+dash+global_sidx+delay_moov', '-frag_duration', '2000000'],
    'numbered-indexed-audio.mp4',
  ),
  // Cut between key frames: an edit list hides what comes before.
  'numbered-trimmed.mp4': copied(
    numberedMp4,
    ...['-output_ts_offset', '-1.2', '-avoid_negative_ts', 'disabled', 'numbered-trimmed.mp4'],
  ),
  'cover.jpg': {
    args: ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=1:duration=1', '-frames:v', '1', 'cover.jpg'],
    durationSeconds: 0,
  },
};

/** AES-128 key of `hls-aes`, in hexadecimal. */
export const hlsKey = '000102030405060708090a0b0c0d0e0f';
