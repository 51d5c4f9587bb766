/** What a client gets: all of it, correct; an error status before any byte; a connection that is reset. */
export type FaultOutcome = 'complete' | 'reset' | `${number} ${string}`;

export interface FaultCase {
  /** What the media server does. */
  fault: string;
  /**
   * Path and query of the page; `$` becomes a number of its own, `{private}` an address that is not permitted,
   * `{kind}` what the same medium is called where it is passed on and where it is made anew.
   */
  page: string;
  mp3: FaultOutcome;
  /** Absent where there are no pictures. */
  mp4?: FaultOutcome;
  /** The site's MP4 passed on as it is; absent where there is no such file. */
  original?: FaultOutcome;
  /** The audio as the site has it; absent where that is not tested. */
  audio?: FaultOutcome;
  /** Seconds of the medium. */
  seconds: number;
}

/** In the middle of `long.mp4` and `long-qt.mp4`, which have 4.9 MB. */
const middle = 2_500_000;

const long = (
  fault: string,
  query: string,
  mp3: FaultOutcome,
  mp4: FaultOutcome = mp3,
  original: FaultOutcome = mp4,
): FaultCase => ({
  ...{ fault, mp3, mp4, original, audio: mp3, seconds: 20 },
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
  ...{ fault, mp3, mp4, original, seconds: 4 },
  page: `/watch?media=${media}&${query}&n=$`,
});

/** A file of a container that is no MP4; sound alone unless the outcome of an MP4 is given. */
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

/** Damage inside frames, which nothing shows where the file is passed on as original audio. */
const made = (fault: string, media: string, query: string, mp3: FaultOutcome): FaultCase => ({
  ...{ fault, mp3, seconds: 4 },
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
    ...{ fault: `${protocol}: ${fault}`, mp3, mp4, audio: mp3, seconds: 12 },
    page: `/watch?media=${media}&n=$&slowBefore=150000${playlist}&segment=${place}&segmentFault=${encodeURIComponent(`n=$&${query}`)}`,
  });

const segment = segmentOf('HLS', 'hls-long/index.m3u8');
const dashSegment = segmentOf('DASH', 'dash-long/manifest.mpd');

/** Each fault of the sample site, and what each kind of stream makes of it. */
export const faultCases: readonly FaultCase[] = [
  long('none', '', 'complete'),
  long('connection cut in the middle, once', `cut=${middle}&times=1`, 'complete'),
  long('connection cut in the middle, always at the same byte', `cut=${middle}`, 'reset'),
  long('connection cut after every 500 kB', 'cutEvery=500000', 'complete'),
  short(
    'connection cut once, index at the end of the file',
    'end{kind}.mp4',
    'cut=400000&times=1',
    'complete',
  ),
  short('connection cut always, index at the end of the file', 'end{kind}.mp4', 'cut=400000', 'reset'),
  long('silence in the middle, once', `stall=${middle}&times=1`, 'complete'),
  long('silence in the middle, always', `stall=${middle}`, 'reset'),
  short('slow: 500 kB/s', 'front{kind}.mp4', 'slow=500000', 'complete'),
  long('no ranges', 'ignoreRange', 'complete'),
  short('no ranges, index at the end of the file', 'end{kind}.mp4', 'ignoreRange', 'complete'),
  long('no ranges, cut in the middle, once', `ignoreRange&cut=${middle}&times=1`, 'complete'),
  long('no Content-Length', 'chunked', 'complete'),
  long('no Content-Length, validators or ranges', 'bare', 'complete'),
  other('no Content-Length, validators or ranges, less than 128 kB', 'small.mp4', 'bare', {
    ...{ mp3: 'complete', mp4: 'complete', seconds: 4 },
  }),
  // Nobody can go back in what is sent once.
  short(
    'no Content-Length, validators or ranges, index at the end',
    'end{kind}.mp4',
    'bare',
    '502 upstream_error',
  ),
  long('wrong Content-Range after a cut', 'cutEvery=2500000&wrongRange', 'reset'),
  long('another ETag after a cut', 'cutEvery=2500000&etag=change', 'reset', 'reset', '502 upstream_error'),
  // The head and the whole file agree; the answer to the resumption is the first that doesn't.
  long(
    'another size in every answer',
    'cutEvery=2500000&size=change',
    '502 upstream_error',
    '502 upstream_error',
    'reset',
  ),
  long('Content-Length too large', 'length=1000', '502 upstream_error'),
  long(
    'Content-Length too large, no ranges',
    'ignoreRange&length=1000',
    '504 upstream_timeout',
    '504 upstream_timeout',
    'reset',
  ),
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
    ...{ fault: 'address expires in the middle (403), a new one works', seconds: 20 },
    page: `/expiring?media=long{kind}.mp4&expire=${middle}&n=$`,
    ...{ mp3: 'complete', mp4: 'complete', original: 'complete' },
  },
  {
    ...made('MP4: 40 kB of noise among its pictures', 'long-qt.mp4', 'noise=2500000&slow=1500000', 'reset'),
    ...{ mp4: 'reset', seconds: 20 },
  },
  made('MP4: a damaged frame of its audio', 'sound.m4a', 'damage=20000', 'complete'),
  made('MP4: more damage than a player skips', 'sound.m4a', 'noise=5000', 'reset'),
  other('FLV: timestamps that do not advance', 'equal-times.flv', '', {
    ...{ mp3: 'complete', mp4: 'complete', seconds: 4 },
  }),
  other('Matroska: the end is missing, as if that were all', 'long.mkv', 'short=150000', {
    ...{ mp3: '502 upstream_error', mp4: '502 upstream_error', seconds: 20 },
  }),
  long('the end is missing, as if that were all', 'short=150000', 'reset'),
  other('Matroska: none', 'long.mkv', '', { mp3: 'complete', mp4: 'complete', seconds: 20 }),
  other('Matroska: 40 kB of noise in the middle', 'long.mkv', 'noise=2500000&slow=1500000', {
    ...{ mp3: 'reset', mp4: 'reset', seconds: 20 },
  }),
  other('MP3, passed on: none', 'long.mp3', '', { mp3: 'complete', seconds: 60 }),
  other('MP3, passed on: 40 kB of noise in the middle', 'long.mp3', 'noise=500000', {
    ...{ mp3: 'reset', seconds: 60 },
  }),
  other('MP3 without Content-Length: none', 'long.mp3', 'chunked', { mp3: 'complete', seconds: 60 }),
  other('MP3 without Content-Length: 40 kB of noise', 'long.mp3', 'chunked&noise=500000&slow=250000', {
    ...{ mp3: 'reset', seconds: 60 },
  }),
  other('ADTS: none', 'long.aac', '', { mp3: 'complete', seconds: 60 }),
  other('ADTS: 40 kB of noise in the middle', 'long.aac', 'noise=300000&slow=150000', {
    ...{ mp3: 'reset', seconds: 60 },
  }),
  other('Ogg: none', 'long.ogg', '', { mp3: 'complete', seconds: 60 }),
  other('Ogg: 40 kB of noise in the middle', 'long.ogg', 'noise=400000&slow=200000', {
    ...{ mp3: 'reset', seconds: 60 },
  }),
  segment('none', {}, 'complete'),
  segment('first segment missing', { query: 'status=404', place: 0 }, '404 video_not_found'),
  segment('first segment is a web page', { query: 'page', place: 0 }, '502 upstream_error'),
  segment(
    'first segment redirects to a private address',
    { query: `redirect=${privateUrl}`, place: 0 },
    '403 forbidden_address',
  ),
  segment('segment missing', { query: 'status=404' }, 'reset'),
  segment('segment fails once', { query: 'status=503&times=1' }, 'complete'),
  segment('segment cut, once', { query: 'cut=50000&times=1' }, 'complete'),
  segment('segment cut, always', { query: 'cut=50000' }, 'reset'),
  segment('segment silent, always', { query: 'stall=50000' }, 'reset'),
  segment('segment too short, by its own Content-Length', { query: 'ignoreRange&length=-100000' }, 'reset'),
  segment('garbage instead of a segment', { query: 'garbage' }, 'reset'),
  segment('a web page instead of a segment', { query: 'page' }, 'reset'),
  segment('segment empty', { query: 'empty' }, 'reset'),
  segment('half a segment', { query: 'half' }, 'reset'),
  segment('segment redirects to a private address', { query: `redirect=${privateUrl}` }, 'reset'),
  segment('discontinuities: none', { playlist: '&discontinuous' }, 'complete'),
  segment(
    'discontinuities: garbage instead of a segment',
    { query: 'garbage', playlist: '&discontinuous' },
    'reset',
  ),
  segment(
    'discontinuities: a web page instead of a segment',
    { query: 'page', playlist: '&discontinuous' },
    'reset',
  ),
  segment('discontinuities: half a segment', { query: 'half', playlist: '&discontinuous' }, 'reset'),
  segment('lengths understated: none', { playlist: '&extinf=0.1' }, 'complete'),
  segment('lengths understated: half a segment', { query: 'half', playlist: '&extinf=0.1' }, 'reset'),
  segment('lengths understated: segment empty', { query: 'empty', playlist: '&extinf=0.1' }, 'reset'),
  dashSegment('none', {}, 'complete'),
  dashSegment('first segment missing', { query: 'status=404', place: 0 }, '404 video_not_found'),
  dashSegment('first segment is a web page', { query: 'page', place: 0 }, '502 upstream_error'),
  dashSegment(
    'first segment redirects to a private address',
    { query: `redirect=${privateUrl}`, place: 0 },
    '403 forbidden_address',
  ),
  dashSegment('segment missing', { query: 'status=404' }, 'reset'),
  dashSegment('segment fails once', { query: 'status=503&times=1' }, 'complete'),
  dashSegment('segment cut, once', { query: 'cut=5000&times=1' }, 'complete'),
  dashSegment('segment cut, always', { query: 'cut=5000' }, 'reset'),
  dashSegment('segment silent, always', { query: 'stall=5000' }, 'reset'),
  dashSegment(
    'segment too short, by its own Content-Length',
    { query: 'ignoreRange&length=-100000' },
    'reset',
  ),
  dashSegment('garbage instead of a segment', { query: 'garbage' }, 'reset'),
  dashSegment('a web page instead of a segment', { query: 'page' }, 'reset'),
  dashSegment('segment empty', { query: 'empty' }, 'reset'),
  dashSegment('half a segment', { query: 'half' }, 'reset'),
  dashSegment('segment redirects to a private address', { query: `redirect=${privateUrl}` }, 'reset'),
  dashSegment('segment cut between two fragments', { query: 'halfFragments' }, 'reset'),
];
