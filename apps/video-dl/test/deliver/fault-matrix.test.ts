import { EventEmitter, once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@media-services/http-common';
import { inspect } from '../media/support/inspect.js';
import {
  compressedFile,
  type FaultCase,
  faultCases,
  type FaultOutcome,
  Faults,
  media,
  type Site,
  startSite,
} from '@media-services/fault-site';
import { isNight } from '../../../../proof/vitest/at-night.js';
import { startService } from '../support/service.js';
import type { TestService } from '../support/service.js';
import { receive } from './support/receive.js';
import type { Received } from './support/receive.js';

const docs = fileURLToPath(new URL('../../../../docs/internals/fault-matrix.md', import.meta.url));

const faults = new Faults();
let site: Site;
let service: TestService;
let folder: string;
let counter = 0;

const tested = isNight ? faultCases : faultCases.filter(({ isNightly }) => isNightly !== true);

/** Generated before the tests, because generating media on request would be an additional fault. */
async function prepareMedia(): Promise<void> {
  for (const { page } of tested) {
    const name = /media=([^/&]+)/u.exec(page)?.[1] ?? '';
    for (const kind of ['', '-qt', '-dubbed']) {
      const path = await media(name.replace('{kind}', kind));
      if (page.includes('&compressed')) await compressedFile(path);
    }
  }
}

beforeAll(async () => {
  await prepareMedia();
  folder = await mkdtemp(join(tmpdir(), 'video-dl-faults-'));
  site = await startSite({ intercept: faults.intercept });
  site.on('/expiring', faults.expiringPage);
  service = await startService(
    {
      ALLOWED_PRIVATE_SOURCES: site.host,
      SOURCE_IDLE_TIMEOUT_SECONDS: '2',
      EXTRACTION_TIMEOUT_SECONDS: '48',
    },
    { logger: createLogger({ service: 'test', level: 'info', destination: { write: readLog } }) },
  );
  askAll();
});

type LogLine = Readonly<Record<string, unknown>>;

/** The log's line about each request, by request id. */
const requestLines = new Map<string, LogLine>();
const logged = new EventEmitter();

function readLog(text: string): void {
  const line = JSON.parse(text) as LogLine;
  if (line['msg'] !== 'request') return;
  const id = String(line['requestId']);
  requestLines.set(id, line);
  logged.emit(id);
}

/** The client sees a reset before the service logs it. */
async function requestLineOf({ headers }: Received): Promise<LogLine | undefined> {
  const id = String(headers['x-request-id']);
  if (!requestLines.has(id)) await once(logged, id);
  return requestLines.get(id);
}

/** The log says why a stream was reset: a code that is never our own mistake, and a sentence. */
const loggedReset = {
  outcome: 'truncated',
  code: expect.stringMatching(
    /^(?:upstream_\w+|video_not_found|forbidden_address|no_media|timeout)$/u,
  ) as string,
  reason: expect.stringMatching(/^[A-Z].*\w{3}.*\.$/u) as string,
};

interface Answered {
  received?: Received;
  error?: unknown;
}

const targets = ['mp3', 'mp4', 'remuxed', 'original', 'audio'] as const;
const paths = { mp3: '', mp4: '/video', remuxed: '/video', original: '/video', audio: '' };
const kinds: Partial<Record<MatrixTarget, string>> = { mp4: '-dubbed', remuxed: '-qt' };
type MatrixTarget = (typeof targets)[number];
const answers = new Map<string, Promise<Answered>>();

/**
 * What is tried of a case: everything at night. By day, one output of each outcome, in turn,
 * because all outputs are read through the same relay.
 */
function targetsOf(faultCase: FaultCase): MatrixTarget[] {
  const all = targets.filter((target) => faultCase[target] !== undefined);
  if (isNight) return all;
  const first = faultCases.indexOf(faultCase) % all.length;
  const inTurn = [...all.slice(first), ...all.slice(0, first)];
  return inTurn.filter(
    (target, index) => inTurn.findIndex((other) => faultCase[other] === faultCase[target]) === index,
  );
}

const keyOf = ({ fault }: FaultCase, target: string): string => `${fault}|${target}`;

/** Most cases wait for a timeout, so several run at once. */
function askAll(): void {
  const atOnce = 6;
  const lanes: Promise<unknown>[] = Array.from({ length: atOnce }, () => Promise.resolve());
  for (const faultCase of tested) {
    for (const target of targetsOf(faultCase)) {
      const lane = answers.size % atOnce;
      const answered = Promise.resolve(lanes[lane])
        .then(() => ask(faultCase, target))
        .then(
          (received): Answered => ({ received }),
          (error: unknown): Answered => ({ error }),
        );
      answers.set(keyOf(faultCase, target), answered);
      lanes[lane] = answered;
    }
  }
}

/** What was asked beside others; a test that runs again asks alone. */
async function answerTo(faultCase: FaultCase, target: MatrixTarget): Promise<Received> {
  const key = keyOf(faultCase, target);
  const answered = answers.get(key);
  answers.delete(key);
  if (answered === undefined) return ask(faultCase, target);
  const { received, error } = await answered;
  if (received === undefined) throw error;
  return received;
}

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function ask({ page, clip }: FaultCase, target: MatrixTarget): Promise<Received> {
  counter += 1;
  const number = String(counter);
  const path = page
    .replaceAll('$', number)
    .replace('{kind}', kinds[target] ?? '')
    .replace('{private}', encodeURIComponent('http://127.0.0.2:9/x.mp4'));
  const url = encodeURIComponent(`${site.url}${path}`);
  const fmt = target === 'audio' ? '&fmt=original' : '';
  const part = clip === undefined ? '' : `&start=${clip.start}&end=${clip.end}`;
  const stream = `${service.url}/api/stream${paths[target]}?url=${url}${fmt}${part}`;
  return receive(stream, {}, () => faults.begin(number));
}

/** What a client observes. A clean end counts as complete only if the media decodes to the whole source, or is the source. */
async function outcomeOf(
  received: Received,
  target: MatrixTarget,
  { page, seconds, clip }: FaultCase,
): Promise<FaultOutcome> {
  if (received.status !== 200) {
    const { code } = JSON.parse(received.body.toString()) as { code: string };
    return `${received.status} ${code}`;
  }
  if (!received.complete) return 'reset';
  if (target === 'original' && received.headers['accept-ranges'] === 'bytes') {
    const name = /media=(\w+)/u.exec(page)?.[1] ?? '';
    expect(received.body.equals(await readFile(await media(`${name}.mp4`)))).toBe(true);
    return 'complete';
  }
  const hasVideo = paths[target] === '/video';
  const file = join(folder, `output.${hasVideo ? 'mp4' : target}`);
  await writeFile(file, received.body);
  const { streams } = await inspect(file);
  // An M4A states the duration of its source, which for ADTS is an estimate.
  const toleranceSeconds = target === 'audio' ? 0.5 : 0.25;
  const hasBoth = hasVideo && streams.length > 1;
  // Beside video, the frames of the audio are counted.
  for (const stream of hasBoth ? streams.slice(0, 1) : streams)
    expect(Math.abs((stream.duration ?? 0) - seconds)).toBeLessThan(toleranceSeconds);
  const surplus = (streams[0]?.nb_read_frames ?? 0) - seconds * 25;
  // A copied clip may end with frames that others refer to.
  if (hasVideo) expect(clip === undefined || surplus < 0 || surplus > 2 ? surplus : 0).toBe(0);
  const aacFrames = Math.ceil((seconds * 44_100) / 1024);
  const sound = streams.at(-1)?.nb_read_frames ?? 0;
  if (hasBoth) expect(Math.abs(sound - aacFrames)).toBeLessThanOrEqual(2);
  return 'complete';
}

describe.each(tested)('$fault', (faultCase) => {
  it.each(targetsOf(faultCase))('%s', async (target) => {
    const received = await answerTo(faultCase, target);
    const outcome = await outcomeOf(received, target, faultCase);
    expect(outcome).toBe(faultCase[target]);
    if (outcome === 'reset') expect(await requestLineOf(received)).toMatchObject(loggedReset);
  });
});

it('covers every output and every outcome, by day too', () => {
  const all = faultCases.flatMap((each) => targets.map((target) => each[target]));
  const asked = tested.flatMap((each) =>
    targetsOf(each).map((target) => ({ target, outcome: each[target] })),
  );

  expect(new Set(asked.map(({ target }) => target))).toEqual(new Set(targets));
  expect(new Set(asked.map(({ outcome }) => outcome))).toEqual(
    new Set(all.filter((outcome) => outcome !== undefined)),
  );
});

it('matches the matrix in the documentation', async () => {
  const table = renderTable();
  if (process.env['UPDATE_DOCS'] === '1') await writeFile(docs, table);
  expect(withoutPadding(await readFile(docs, 'utf8'))).toBe(withoutPadding(table));
});

const testedElsewhere = [
  ['A file with other advertisements in each response', 'deliver/one-shot', 'is passed on from one response'],
  [
    'A file with another length in each response',
    'deliver/one-shot',
    'is converted from one response even if it has another length than before',
  ],
  ['Encrypted MP4 files and segments', 'deliver/encrypted', 'is rejected by %s with %j'],
  ['A redirect to another file each time', 'upstream/redirects', 'is followed once per source'],
  [
    'DASH with several periods',
    'deliver/sources',
    'has every period of a DASH manifest, even if they differ',
  ],
  ['DASH templates with absolute paths', 'relay/segments', 'are resolved from templates with absolute paths'],
  [
    'Audio in its own rendition of a manifest',
    'deliver/service',
    'reads only the audio of a manifest with separate video',
  ],
  ['Playlists and manifests without codecs', 'deliver/sources', 'a master playlist without codecs'],
  [
    'Initialisations that differ in bit rates and edits',
    'relay/segments',
    'are joined if only bit rates and edits differ',
  ],
  [
    'A DASH track that is shorter than its period',
    'relay/segments',
    'are complete without a last one that only the duration of another track implies',
  ],
  ['A server that rejects every range', 'upstream/transfer', 'from a server that rejects every range'],
  [
    'A server that rejects even the first range with 403',
    'upstream/transfer',
    'from a server that rejects even the first range with 403',
  ],
  ["Monkey's Audio, DSD", 'deliver/rare-files', 'is converted completely'],
  ['TAK that is damaged', 'deliver/rare-files', 'TAK that is damaged is rejected permanently'],
  ['An AVI whose tracks start late', 'deliver/rare-files', 'start late is sent completely'],
  ['Matroska with times before zero', 'deliver/rare-files', 'Matroska whose audio starts before zero'],
  [
    'A program stream that starts with B-frames',
    'deliver/rare-files',
    'is cut before B-frames has every frame that can be decoded',
  ],
  [
    'Audio that is stated and never comes',
    'deliver/joined-files',
    'does not keep the video of %s from being sent',
  ],
  ['A default audio track that is not the first', 'deliver/rare-files', 'is sent with its main audio as'],
  ['Listeners in real time', 'service/config', 'for clients that read as fast as they play'],
  ['Segments of Ogg', 'relay/segments', 'of Ogg are the slices of one stream'],
  ['Ads in a playlist', 'relay/segments', 'exclude the ads that Anvato and Uplynk mark'],
  [
    'Parameters of segments and keys that only yt-dlp knows',
    'relay/segments',
    'are added to the URLs of segments and keys',
  ],
  ['Compressed playlists and keys', 'upstream/fetch-bytes', 'the encoding of the upload'],
  [
    'Formats that their extractor doubts',
    'info/sources',
    'checks a format that its extractor marks as doubtful',
  ],
  [
    'Clear variants beside protected ones',
    'deliver/encrypted',
    'leaves the clear variants of a master playlist that %s',
  ],
  [
    'Clear Representations beside protected ones',
    'deliver/encrypted',
    'leaves the clear Representations of a manifest that states no protection',
  ],
  ['A playlist of six hours', 'info/sources', 'reads the playlist of a film of six hours'],
  ['Clocks that restart', 'relay/clock', 'when the clocks of fragmented MP4 restart'],
  ['MP3 files as segments', 'relay/segments', 'of MP3 lose the frame that only describes a file'],
  ['Whole files as segments', 'relay/segments', 'that are each a complete %s are rejected permanently'],
  [
    'A length that counts from zero',
    'deliver/expectation',
    'has the length of its media if its container %s',
  ],
  ["The code of each site's message", 'extract/failures', '“%s” is %s'],
  ['A preview instead of the whole', 'info/failures', 'preview-warned'],
  ["A site's own clip", 'info/sources', "returns the page's clip, unless another is requested"],
  [
    'Several videos, the first unavailable',
    'info/sources',
    'tries the next video of a page if the first is unavailable',
  ],
  ['An index of 30 MB', 'look/media-header', 'supports the index of a film of several hours'],
  [
    'MP3 of every length',
    'deliver/exact-mp3',
    'matches the size of every LAME frame, even if the last one is padded',
  ],
  ['Frames of different sizes', 'deliver/picture-size', 'are fitted into one size if the playlist marks it'],
  ['An advertisement with another sample rate', 'deliver/picture-size', 'may come with another sample rate'],
  ['A recording whose clock was set back', 'ffmpeg/probe', 'treats %s as unknown'],
  ['An advertisement with another video header', 'deliver/picture-size', 'do not prevent an MP3 or clips'],
  [
    'DASH segments of different lengths',
    'relay/segments',
    'may be shorter than the only duration that their manifest states',
  ],
  ['Audio that is longer than its page says', 'info/sources', "prefers the length of %s to the page's"],
  ['DASH periods that share a file or segments', 'manifests/dash-periods', 'that divide a file read it once'],
  [
    'DASH periods that play a part of a file',
    'relay/segments',
    'fail permanently if a period plays only a part',
  ],
  ['A playlist of too many segments', 'relay/segments', 'has too many segments'],
  [
    'SAMPLE-AES that only media playlists name',
    'deliver/encrypted',
    'is rejected if only the playlists of the variants name the key',
  ],
  ['360° video', 'deliver/remuxed-files', 'keeps the mark %s'],
  ['Recordings that nobody may see', 'double/failures', 'Google Drive: downloaded too often'],
  ['Messages of the installed yt-dlp', 'extract/yt-dlp-messages', 'still exists and is'],
] as const;

it.each(testedElsewhere)('%s is tested by %s', async (_what, file, name) => {
  const read = async (kind: string) =>
    readFile(fileURLToPath(new URL(`../${file}.${kind}.ts`, import.meta.url)), 'utf8');
  expect(await read('test').catch(async () => read('nightly'))).toContain(name);
});

/** The formatter aligns columns. */
function withoutPadding(markdown: string): string {
  return markdown
    .replace(/ +/gu, ' ')
    .replace(/-{3,}/gu, '---')
    .replace(/ ?\| ?/gu, '|');
}

function renderTable(): string {
  const rows = faultCases.map(
    ({ fault, mp3, mp4 = '', remuxed = '', original = '', audio = '' }) =>
      `| ${fault} | ${mp3} | ${mp4} | ${remuxed} | ${original} | ${audio} |`,
  );
  return [
    '# Fault matrix of video-dl',
    '',
    'What a client gets when the media server misbehaves. Each row is a test in `apps/video-dl/test/deliver/fault-matrix.test.ts`, which also checks that this table is current (`UPDATE_DOCS=1` writes it). By day it runs one of the cases that differ only in container, codec or output.',
    '',
    '- **complete**: a clean end. The file decodes without an error and has every frame and the full length of the source, or every byte if it is passed on.',
    '- **reset**: we reset the connection.',
    '- a status and code: an error before the first byte of media.',
    '',
    "A stream that ends cleanly is complete: every byte that the site's server announced has arrived, the file has the bytes that its own header states, every segment that the manifest lists is in, and everything that was read is in the output. These are the cases that we can't detect:",
    '',
    "- a bare transport stream, or an MP3 without a length in its header, cut by a server that doesn't state a length either;",
    '- WebM clusters or MP4 fragments without a stated length, cut between two of them by such a server;',
    '- an AVI without sizes, cut anywhere;',
    '- the last segment of WebM, of a playlist that states lengths in whole seconds, or of a manifest that states one length for all, cut between two packets;',
    '- noise inside an intact packet, box, block or frame: in copied audio, inside a single unit of copied H.264 or HEVC, in other copied codecs, in a file that is remuxed or passed on, and up to 16 kB at the end of a bare MP3, which look like an old tag. When media is decoded, at most 3 frames may fail, plus one for each minute;',
    "- damage in a single file whose structure we don't check (AVI, FLV, MPEG-TS, FLAC, WAV), if ffmpeg skips it;",
    '- a joined FLV whose parameters change;',
    '- a wrong stated length in FLV, or in joined transport streams, Ogg, FLAC or fragments.',
    '',
    'When a container stops, a stream that its client reads within the grace period is complete to the last byte; any other is broken off. A service resets it. The gateway can only close it, and waits up to 10 s more for the close to reach the client. A client that needs longer for the bytes already on their way (up to 4 MB) sees silence instead, until its own timeout or TCP keepalive.',
    '',
    "A video cut from a recording may begin with frames that refer to one before the cut (B-frames). No player can decode them, so they don't count as missing.",
    '',
    'If the index of a file is at its end, the server must state a length.',
    '',
    '| fault | MP3 | MP4, made | MP4, remuxed | MP4, passed on | Original audio |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    '`packages/egress-guard` tests which addresses are rejected, also behind NAT64. The contents of pages, manifests and rare files are tested where they are read:',
    '',
    '| what | test |',
    '|---|---|',
    ...testedElsewhere.map(([what, file, name]) => `| ${what} | \`${file}\`: ${name} |`),
    '',
  ].join('\n');
}
