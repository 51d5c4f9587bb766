/** What a client gets: the complete correct file, an error status before any byte, or a reset connection. */
export type FaultOutcome = 'complete' | 'reset' | `${number} ${string}`;

export interface FaultCase {
  /** What the media server does. */
  fault: string;
  /**
   * Path and query of the page. `$` is replaced by a unique number, `{private}` by a forbidden address,
   * `{kind}` by the name of the same file for passing on, for a new header or for converting.
   */
  page: string;
  mp3: FaultOutcome;
  /** Absent if there is no video. */
  mp4?: FaultOutcome;
  /** The site's file with a new header; absent if there is no such file. */
  remuxed?: FaultOutcome;
  /** The site's MP4 passed through unchanged; absent if there is no such file. */
  original?: FaultOutcome;
  /** The site's original audio; absent if not tested. */
  audio?: FaultOutcome;
  /** The requested part, in seconds; absent for the whole. */
  clip?: { readonly start: number; readonly end: number };
  /** Duration of the result. */
  seconds: number;
  /** Other cases, which run by day, follow the same path through the code with another container, codec or manifest. */
  isNightly?: true;
}

const nightly = (faultCase: FaultCase): FaultCase => ({ ...faultCase, isNightly: true });

/** In the middle of `long.mp4`, `long-qt.mp4` and `long-dubbed.mp4`, which have about 5 MB. */
const middle = 2_500_000;

const long = (
  fault: string,
  query: string,
  mp3: FaultOutcome,
  mp4: FaultOutcome = mp3,
  original: FaultOutcome = mp4,
): FaultCase => ({
  fault,
  mp3,
  mp4,
  remuxed: original,
  original,
  audio: mp3,
  seconds: 20,
  page: `/watch?media=long{kind}.mp4&${query}&n=$`,
});

const short = (
  fault: string,
  media: string,
  query: string,
  mp3: FaultOutcome,
  mp4: FaultOutcome = mp3,
  original: FaultOutcome = mp4,
): FaultCase => ({
  fault,
  mp3,
  mp4,
  remuxed: original,
  original,
  seconds: 4,
  page: `/watch?media=${media}&${query}&n=$`,
});

/** A file in a container other than MP4; audio only, unless an outcome for MP4 is given. */
const other = (
  fault: string,
  media: string,
  query: string,
  { mp3, mp4, audio = mp3, seconds }: Pick<FaultCase, 'mp3' | 'mp4' | 'audio' | 'seconds'>,
): FaultCase => ({
  fault,
  mp3,
  ...(mp4 && { mp4 }),
  audio,
  seconds,
  page: `/watch?media=${media}&${query}&n=$`,
});

/** Damage inside frames, which can't be detected if the file is passed on as original audio. */
const made = (fault: string, media: string, query: string, mp3: FaultOutcome): FaultCase => ({
  fault,
  mp3,
  seconds: 4,
  page: `/watch?media=${media}&${query}&n=$`,
});

const privateUrl = encodeURIComponent('http://127.0.0.2:9/x.ts');

/** A fault of one segment of twelve: of the first, or of the ninth, whose predecessor is slow enough for a first byte to be sent. */
const segmentOf =
  (protocol: 'HLS' | 'DASH', media: string) =>
  (
    fault: string,
    { query = '', playlist = '', place = 8 }: { query?: string; playlist?: string; place?: 0 | 8 },
    mp3: FaultOutcome,
    mp4: FaultOutcome = mp3,
  ): FaultCase => ({
    fault: `${protocol}: ${fault}`,
    mp3,
    mp4,
    audio: mp3,
    seconds: 12,
    page: `/watch?media=${media}&n=$&slowBefore=150000${playlist}&segment=${place}&segmentFault=${encodeURIComponent(`n=$&${query}`)}`,
  });

const segment = segmentOf('HLS', 'hls-long/index.m3u8');
const dashSegment = segmentOf('DASH', 'dash-long/manifest.mpd');

const allComplete = { mp3: 'complete', mp4: 'complete', seconds: 4 } as const;

/** "Unknown" as a duration, after the time scale of 1000 ticks per second. */
const unknownDuration = `overwrite=${Buffer.from('mvhd').toString('hex')}${'00'.repeat(12)}000003e8:ffffffff`;
/** 40 s instead of 4 s. */
const overstatedMatroska = 'overwrite=448988:40e3880000000000';

/** Unusual media, sent completely by a server without faults. */
const unusualMedia = [
  other('MP4 in fragments that states an unknown length', 'fragments.mp4', unknownDuration, allComplete),
  nightly(other('MP4 in fragments that starts at 1000 s', 'late-fragments.mp4', '', allComplete)),
  other('MP4 that starts after a day', 'late.mp4', '', allComplete),
  nightly(other('FLV that starts after a day', 'late.flv', '', allComplete)),
  other('MP4 whose first 1.2 s an edit list hides', 'trimmed.mp4', '', allComplete),
  nightly(other('MPEG Layer II in MP4', 'mp2.mp4', '', { ...allComplete, audio: '422 no_media' })),
  nightly(other('MPEG Layer II in an MP4 of audio', 'mp2.m4a', '', { mp3: 'complete', seconds: 4 })),
  other('LATM', 'latm.ts', '', { ...allComplete, audio: '422 no_media' }),
  nightly(
    other('Audio without names of its channels', 'tta.mkv', '', { ...allComplete, audio: '422 no_media' }),
  ),
  // Its MP4 has audio of 1 s.
  { ...made('FLV whose audio is shorter than its video', 'short-audio.flv', '', 'complete'), seconds: 1 },
  nightly(other('WavPack', 'sound.wv', '', { mp3: 'complete', audio: '422 no_media', seconds: 4 })),
  nightly(other('TTA', 'sound.tta', '', { mp3: 'complete', audio: '422 no_media', seconds: 4 })),
  nightly(other('IVF', 'film.ivf', '', { mp3: '422 no_media', mp4: 'complete', seconds: 4 })),
  other(
    'Matroska that overstates its length, its end missing',
    'h264.mkv',
    `${overstatedMatroska}&short=20000`,
    {
      mp3: '422 no_media',
      mp4: '422 no_media',
      seconds: 4,
    },
  ),
  // Copied audio keeps the times of its packets, which say nothing about its length.
  { ...made('Matroska whose audio overlaps', 'overlapping.mkv', '', 'reset'), mp4: 'complete' },
  other('HLS: segments named `*.bin`', 'hls-renamed/index.m3u8', '', allComplete),
] satisfies FaultCase[];

/** A clip from 10 s to 14 s of a file of 20 s. */
const clipOf = (
  fault: string,
  media: string,
  query: string,
  mp3: FaultOutcome,
  mp4: FaultOutcome = mp3,
): FaultCase => ({
  fault: `Clip: ${fault}`,
  mp3,
  mp4,
  seconds: 4,
  clip: { start: 10, end: 14 },
  page: `/watch?media=${media}&${query}&n=$`,
});

/** A clip of 7 s. Of the segments outside it, only the first is read. */
const clipOfSegments = (kind: string, media: string, { start, segmentSeconds }: SegmentedClip) => {
  const row = (fault: string, at: number, query: string, mp3: FaultOutcome): FaultCase => ({
    fault: `Clip of ${kind}: ${fault}`,
    mp3,
    mp4: mp3,
    seconds: 7,
    clip: { start, end: start + 7 },
    // A fault inside the clip occurs after the first byte. One before the clip may be in its first segment, which is probed.
    page: `/watch?media=${media}&n=$${at < 0 ? '' : '&slowBefore=75000'}&segment=${Math.floor((start + at) / segmentSeconds)}&segmentFault=${encodeURIComponent(`n=$&${query}`)}`,
  });
  return [
    row('segment missing', 6, 'status=404', 'reset'),
    row('segment cut, once', 6, 'cut=5000&times=1', 'complete'),
    row('segment silent, always', 6, 'stall=5000', 'reset'),
    row('segment before it missing', -1.5 * segmentSeconds, 'status=404', 'complete'),
    row('segment after it missing', 8 + segmentSeconds / 2, 'status=404', 'complete'),
  ];
};

interface SegmentedClip {
  readonly start: number;
  readonly segmentSeconds: number;
}

/** Of `long.mp4` and `long.mkv`, in bytes. */
const inClip = 3_000_000;
const afterClip = 4_300_000;

const clips = [
  clipOf('none', 'long.mp4', '', 'complete'),
  clipOf('connection cut inside it, once', 'long.mp4', `cut=${inClip}&times=1`, 'complete'),
  clipOf('connection cut inside it, always', 'long.mp4', `cut=${inClip}`, 'reset'),
  clipOf('silence inside it, always', 'long.mp4', `stall=${inClip}`, 'reset'),
  nightly(clipOf('connection cut after its end, always', 'long.mp4', `cut=${afterClip}`, 'complete')),
  nightly(clipOf('no ranges', 'long.mp4', 'ignoreRange', 'complete')),
  nightly(clipOf('no Content-Length', 'long.mp4', 'chunked', 'complete')),
  nightly(clipOf('no Content-Length, validators or ranges', 'long.mp4', 'bare', 'complete')),
  clipOf('index at the end: none', 'numbered-end.mp4', '', 'complete'),
  clipOf('Matroska: none', 'long.mkv', '', 'complete'),
  nightly({
    ...clipOf('Matroska: connection cut inside it, always', 'long.mkv', `cut=${inClip}&begun`, 'reset'),
    // Its encoder needs several seconds before its first output.
    clip: { start: 2, end: 18 },
    seconds: 16,
  }),
  nightly(
    clipOf('Matroska: connection cut after its end, always', 'long.mkv', `cut=${afterClip}`, 'complete'),
  ),
  ...clipOfSegments('HLS', 'hls-long/index.m3u8', { start: 3, segmentSeconds: 1 }),
  ...clipOfSegments('HLS in fMP4', 'hls-numbered-fmp4/index.m3u8', { start: 6, segmentSeconds: 2 }).map(
    nightly,
  ),
  ...clipOfSegments('DASH', 'dash-long/manifest.mpd', { start: 3, segmentSeconds: 1 }).map(nightly),
] satisfies FaultCase[];

/** Each fault of the sample site, with the outcome for each kind of stream. */
export const faultCases: readonly FaultCase[] = [
  long('none', '', 'complete'),
  long('connection cut in the middle, once', `cut=${middle}&times=1`, 'complete'),
  long('connection cut in the middle, always at the same byte', `cut=${middle}`, 'reset'),
  long('connection cut after every 500 kB', 'cutEvery=500000', 'complete'),
  nightly(
    short(
      'connection cut once, index at the end of the file',
      'end{kind}.mp4',
      'cut=400000&times=1',
      'complete',
    ),
  ),
  short('connection cut always, index at the end of the file', 'end{kind}.mp4', 'cut=400000', 'reset'),
  long('silence in the middle, once', `stall=${middle}&times=1`, 'complete'),
  long('silence in the middle, always', `stall=${middle}`, 'reset'),
  nightly(short('slow: 500 kB/s', 'front{kind}.mp4', 'slow=500000', 'complete')),
  nightly(long('no ranges', 'ignoreRange', 'complete')),
  short('no ranges, index at the end of the file', 'end{kind}.mp4', 'ignoreRange', 'complete'),
  long('no ranges, cut in the middle, once', `ignoreRange&cut=${middle}&times=1`, 'complete'),
  long('parts rejected with 403', 'rangeStatus=403', 'complete'),
  nightly(
    short(
      'parts rejected with 501, index at the end of the file',
      'end{kind}.mp4',
      'rangeStatus=501',
      'complete',
    ),
  ),
  nightly(
    other('Ogg: parts rejected with 403', 'long.ogg', 'rangeStatus=403', { mp3: 'complete', seconds: 60 }),
  ),
  nightly(
    other('Matroska: parts rejected with 403', 'long.mkv', 'rangeStatus=403', {
      mp3: 'complete',
      mp4: 'complete',
      seconds: 20,
    }),
  ),
  nightly(
    other('MP4 in fragments: parts rejected with 405', 'fragments.mp4', 'rangeStatus=405', allComplete),
  ),
  long('parts sent as one of several', 'multipart', 'complete'),
  long('the file compressed', 'compressed', 'complete'),
  nightly(other('MP3: the file compressed', 'long.mp3', 'compressed', { mp3: 'complete', seconds: 60 })),
  long('no Content-Length', 'chunked', 'complete'),
  long('no Content-Length, validators or ranges', 'bare', 'complete'),
  other('no Content-Length, validators or ranges, less than 128 kB', 'small.mp4', 'bare', {
    mp3: 'complete',
    mp4: 'complete',
    seconds: 4,
  }),
  // Bytes that are already sent can't be changed.
  short(
    'no Content-Length, validators or ranges, index at the end',
    'end{kind}.mp4',
    'bare',
    '502 upstream_error',
  ),
  long('wrong Content-Range after a cut', 'cutEvery=2500000&wrongRange', 'reset'),
  short('parts without the size, index at the end of the file', 'end{kind}.mp4', 'unsizedParts', 'complete'),
  long('another date for the same ETag', 'cutEvery=2500000&modified=change', 'complete'),
  long('another ETag for the same date and size', 'cutEvery=2500000&etag=change', 'complete'),
  // It counts as a file that differs with each response, and the only response used ends early.
  {
    ...long(
      'another ETag and date after a cut',
      'cutEvery=2500000&etag=change&modified=change',
      'reset',
      'reset',
      '502 upstream_error',
    ),
    original: 'reset',
    remuxed: 'reset',
  },
  // The resumed request is the first that doesn't fit, unless another one is needed before the first byte.
  {
    ...long(
      'another size in every response',
      'cutEvery=2500000&size=change&begun',
      'reset',
      '502 upstream_error',
      'reset',
    ),
    audio: '502 upstream_error',
  },
  long('Content-Length too large', 'length=1000', '502 upstream_error'),
  {
    ...long(
      'Content-Length too large, no ranges',
      'ignoreRange&length=1000',
      '504 upstream_timeout',
      '504 upstream_timeout',
      'reset',
    ),
    // The index says where the last frame ends.
    remuxed: 'complete',
  },
  long('Content-Length too small, no ranges', 'ignoreRange&length=-2000000', 'reset'),
  long('status 404', 'status=404', '404 video_not_found'),
  long('status 500', 'status=500', '502 upstream_error'),
  long('status 503, once', 'status=503&times=1', 'complete'),
  short('garbage instead of media', 'front{kind}.mp4', 'garbage', '422 no_media'),
  short('a body without end', 'front{kind}.mp4', 'endless', '502 upstream_error'),
  short(
    'redirect to a private address',
    'front{kind}.mp4',
    `redirect=${privateUrl}`,
    '403 forbidden_address',
  ),
  {
    fault: 'URL expires in the middle (403), a new one works',
    seconds: 20,
    page: `/expiring?media=long{kind}.mp4&expire=${middle}&n=$`,
    mp3: 'complete',
    mp4: 'complete',
    remuxed: 'complete',
    original: 'complete',
  },
  {
    ...made(
      'MP4: 40 kB of noise in its video frames',
      'long-dubbed.mp4',
      'noise=2500000&slow=1500000',
      'reset',
    ),
    mp4: 'reset',
    seconds: 20,
  },
  made('MP4: a damaged frame of its audio', 'sound.m4a', 'damage=20000', 'complete'),
  made('MP4: more damage than a player skips', 'sound.m4a', 'noise=5000', 'reset'),
  nightly(
    other('FLV: timestamps that do not advance', 'equal-times.flv', '', {
      mp3: 'complete',
      mp4: 'complete',
      seconds: 4,
    }),
  ),
  nightly(other('AVI: none', 'film.avi', '', allComplete)),
  other('AVI without sizes and lengths', 'streamed.avi', '', allComplete),
  ...unusualMedia,
  other('Matroska: the end is missing, Content-Length fits', 'long.mkv', 'short=150000', {
    mp3: '422 no_media',
    mp4: '422 no_media',
    seconds: 20,
  }),
  long('the end is missing, Content-Length fits', 'short=150000', '422 no_media'),
  ...(['film.avi', 'sound.wav', 'sound.mp3'] as const).map((media) =>
    other(`${media}: the end is missing, Content-Length fits`, media, 'short=40000', {
      mp3: '422 no_media',
      ...(media === 'film.avi' && { mp4: '422 no_media' }),
      seconds: 4,
    }),
  ),
  nightly(other('Matroska: none', 'long.mkv', '', { mp3: 'complete', mp4: 'complete', seconds: 20 })),
  other('Matroska: 40 kB of noise in the middle', 'long.mkv', 'noise=2500000&slow=1500000', {
    mp3: 'reset',
    mp4: 'reset',
    seconds: 20,
  }),
  nightly(other('MP3, passed on: none', 'long.mp3', '', { mp3: 'complete', seconds: 60 })),
  other('MP3, passed on: 40 kB of noise in the middle', 'long.mp3', 'noise=500000', {
    mp3: 'reset',
    seconds: 60,
  }),
  nightly(other('MP3 without Content-Length: none', 'long.mp3', 'chunked', { mp3: 'complete', seconds: 60 })),
  other('MP3 without Content-Length: 40 kB of noise', 'long.mp3', 'chunked&noise=500000&slow=250000', {
    mp3: 'reset',
    seconds: 60,
  }),
  nightly(other('ADTS: none', 'long.aac', '', { mp3: 'complete', seconds: 60 })),
  other('ADTS: 40 kB of noise in the middle', 'long.aac', 'noise=300000&slow=150000', {
    mp3: 'reset',
    seconds: 60,
  }),
  nightly(other('Ogg: none', 'long.ogg', '', { mp3: 'complete', seconds: 60 })),
  other('Ogg: 40 kB of noise in the middle', 'long.ogg', 'noise=400000&slow=200000', {
    mp3: 'reset',
    seconds: 60,
  }),
  segment('none', {}, 'complete'),
  nightly(segment('first segment missing', { query: 'status=404', place: 0 }, '404 video_not_found')),
  segment('first segment is a web page', { query: 'page', place: 0 }, '502 upstream_error'),
  segment(
    'first segment redirects to a private address',
    { query: `redirect=${privateUrl}`, place: 0 },
    '403 forbidden_address',
  ),
  segment('segment missing', { query: 'status=404' }, 'reset'),
  segment('segment fails once', { query: 'status=503&times=1' }, 'complete'),
  nightly(segment('segment cut, once', { query: 'cut=50000&times=1' }, 'complete')),
  segment('segment cut, always', { query: 'cut=50000' }, 'reset'),
  nightly(segment('segment silent, always', { query: 'stall=50000' }, 'reset')),
  nightly(
    segment('segment too short, by its own Content-Length', { query: 'ignoreRange&length=-100000' }, 'reset'),
  ),
  segment('garbage instead of a segment', { query: 'garbage' }, 'reset'),
  nightly(segment('a web page instead of a segment', { query: 'page' }, 'reset')),
  segment('segment empty', { query: 'empty' }, 'reset'),
  segment('half a segment', { query: 'half' }, 'reset'),
  segment('segment redirects to a private address', { query: `redirect=${privateUrl}` }, 'reset'),
  segment('discontinuities: none', { playlist: '&discontinuous' }, 'complete'),
  nightly(
    segment(
      'discontinuities: garbage instead of a segment',
      { query: 'garbage', playlist: '&discontinuous' },
      'reset',
    ),
  ),
  nightly(
    segment(
      'discontinuities: a web page instead of a segment',
      { query: 'page', playlist: '&discontinuous' },
      'reset',
    ),
  ),
  nightly(segment('discontinuities: half a segment', { query: 'half', playlist: '&discontinuous' }, 'reset')),
  nightly(segment('lengths understated: none', { playlist: '&extinf=0.1' }, 'complete')),
  segment('lengths understated: half a segment', { query: 'half', playlist: '&extinf=0.1' }, 'reset'),
  nightly(
    segment('lengths understated: segment empty', { query: 'empty', playlist: '&extinf=0.1' }, 'reset'),
  ),
  dashSegment('none', {}, 'complete'),
  dashSegment('first segment missing', { query: 'status=404', place: 0 }, '404 video_not_found'),
  nightly(dashSegment('first segment is a web page', { query: 'page', place: 0 }, '502 upstream_error')),
  dashSegment(
    'first segment redirects to a private address',
    { query: `redirect=${privateUrl}`, place: 0 },
    '403 forbidden_address',
  ),
  nightly(dashSegment('segment missing', { query: 'status=404' }, 'reset')),
  nightly(dashSegment('segment fails once', { query: 'status=503&times=1' }, 'complete')),
  nightly(dashSegment('segment cut, once', { query: 'cut=5000&times=1' }, 'complete')),
  nightly(dashSegment('segment cut, always', { query: 'cut=5000' }, 'reset')),
  dashSegment('segment silent, always', { query: 'stall=5000' }, 'reset'),
  dashSegment(
    'segment too short, by its own Content-Length',
    { query: 'ignoreRange&length=-100000' },
    'reset',
  ),
  nightly(dashSegment('garbage instead of a segment', { query: 'garbage' }, 'reset')),
  nightly(dashSegment('a web page instead of a segment', { query: 'page' }, 'reset')),
  nightly(dashSegment('segment empty', { query: 'empty' }, 'reset')),
  dashSegment('half a segment', { query: 'half' }, 'reset'),
  nightly(
    dashSegment('segment redirects to a private address', { query: `redirect=${privateUrl}` }, 'reset'),
  ),
  dashSegment('segment cut between two fragments', { query: 'halfFragments' }, 'reset'),
  ...clips,
];
