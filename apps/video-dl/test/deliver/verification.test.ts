import { DomainError } from '@media-services/http-common';
import { StderrTail } from '@media-services/processes';
import { assertComplete } from '../../src/deliver/verification.js';
import { Expectation, type ExpectedInput } from '../../src/deliver/expectation.js';

type Stream = Parameters<typeof assertComplete>[0];

const input = (
  durationSeconds: number | null,
  known: Partial<ExpectedInput['input']> = {},
): ExpectedInput => ({
  input: { isJoined: false, statedSeconds: null, lengths: null, ...known },
  facts: {
    format: 'mov,mp4,m4a,3gp,3g2,mj2',
    durationSeconds,
    startSeconds: 0,
    hasVideo: true,
    decodedSeconds: null,
  },
});
/** A file of which ffmpeg has decoded this much audio. */
const decoded = (decodedSeconds: number): ExpectedInput => {
  const { input: known, facts } = input(null);
  return { input: known, facts: facts && { ...facts, decodedSeconds } };
};
const expected = (...inputs: ExpectedInput[]) => new Expectation({ seconds: 8 }, inputs);
const video = (endSeconds: number) => ({ type: 'video' as const, endSeconds });
const audio = (endSeconds: number) => ({ type: 'audio' as const, endSeconds });
const stderr = (text = '') => {
  const tail = new StderrTail();
  tail.push(Buffer.from(`${text}\n`));
  return tail;
};
const child = (code: number | null, signal: NodeJS.Signals | null = null, wrote = '') => ({
  exited: Promise.resolve({ code, signal }),
  stderr: stderr(wrote),
  hasExceededMemory: false,
});
const output = (...tracks: Stream['output']['tracks']) => ({ hasMedia: true, isWhole: true, tracks });

/** A complete stream except for `part`. */
const stream = (part: Partial<Stream> = {}): Stream => ({
  plan: { video: null },
  signal: new AbortController().signal,
  session: { failure: undefined, allReceived: () => true },
  child: child(0),
  output: output(video(8), audio(8)),
  expected: expected(input(8)),
  facts: { hasInvalidData: false, decodeErrors: 0, audioPackets: null, isSpatial: false },
  ...part,
});

const joined = input(8, { isJoined: true, statedSeconds: 8, lengths: { video: 8, audio: 8 } });

describe('a stream is complete', () => {
  it.each<[string, () => Partial<Stream>]>([
    ['when nothing is wrong', () => ({})],
    ['with a damaged frame', () => ({ facts: { hasInvalidData: false, decodeErrors: 1 } })],
    [
      'with ten damaged frames in ten minutes',
      () => ({
        facts: { hasInvalidData: false, decodeErrors: 10 },
        output: output(video(600), audio(600)),
        expected: expected(input(600)),
      }),
    ],
    [
      'with what segments leave at their edges',
      () => ({ facts: { hasInvalidData: false, decodeErrors: 40 }, expected: expected(joined) }),
    ],
    ['with audio that is shorter than its video', () => ({ output: output(video(8), audio(4)) })],
  ])('%s', async (_what, part) => {
    await expect(assertComplete(stream(part()))).resolves.toBeUndefined();
  });
});

describe('a stream is incomplete', () => {
  it.each<[string, () => Partial<Stream>, string]>([
    [
      'when it ends inside a frame',
      () => ({ output: { ...output(audio(8)), isWhole: false } }),
      'the output ends in the middle of a frame',
    ],
    [
      'when bytes are missing',
      () => ({ session: { failure: undefined, allReceived: () => false } }),
      'some of its bytes are missing',
    ],
    [
      'when it contains invalid data',
      () => ({ facts: { hasInvalidData: true, decodeErrors: 0, audioPackets: null, isSpatial: false } }),
      'it contains invalid data',
    ],
    [
      "when more than a damaged frame or two can't be decoded",
      () => ({ facts: { hasInvalidData: false, decodeErrors: 4, audioPackets: null, isSpatial: false } }),
      "4 parts of it can't be decoded",
    ],
    [
      'when audio is missing in the middle',
      () => ({ output: output(video(8), audio(2)), expected: expected(decoded(8)) }),
      '6.0 s in the middle of its audio are missing',
    ],
    [
      'when separate audio is missing in the middle',
      () => ({ output: output(video(8), audio(2)), expected: expected(input(8), decoded(8)) }),
      '6.0 s in the middle of its audio are missing',
    ],
    [
      'when a file is shorter than it states',
      () => ({ output: output(video(4), audio(4)) }),
      'its video ends at 4.0 s of 8.0 s',
    ],
    [
      'when segments are shorter than they were',
      () => ({ output: output(video(4), audio(8)), expected: expected(joined) }),
      'its video ends at 4.0 s of 8.0 s',
    ],
  ])('%s', async (_what, part, message) => {
    await expect(assertComplete(stream(part()))).rejects.toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining(`is incomplete: ${message}`) as string,
    });
  });

  it('permanently when everything arrived but nothing is playable', async () => {
    const part = () => ({ output: { ...output(audio(8)), hasMedia: false } });
    await expect(assertComplete(stream(part()))).rejects.toMatchObject({ code: 'no_media' });
  });

  it('permanently when a track has no samples', async () => {
    const part = () => ({ output: output({ ...video(0), samples: 0 }, audio(8)) });
    await expect(assertComplete(stream(part()))).rejects.toMatchObject({
      code: 'no_media',
      message: expect.stringContaining("site's video is empty") as string,
    });
  });

  it("with its abort's reason, whatever else is wrong", async () => {
    const reason = new Error('client gone');
    const gone = stream({ signal: AbortSignal.abort(reason), child: child(null, 'SIGTERM') });
    await expect(assertComplete(gone)).rejects.toBe(reason);
  });

  it('with the upstream failure, whatever ffmpeg reports', async () => {
    const failure = new DomainError('geo_blocked', 'Not here.');
    const session = { failure, allReceived: () => false };
    await expect(assertComplete(stream({ session, child: child(1) }))).rejects.toBe(failure);
  });

  it.each<[string, Stream['child'], string]>([
    ['was killed', child(null, 'SIGKILL'), 'engine_unavailable'],
    ['crashed', child(null, 'SIGABRT'), 'no_media'],
    ['lacks an encoder', child(1, null, "[error] Unknown encoder 'libx264'"), 'internal_error'],
    ['lacks a filter', child(8, null, "[error] No such filter: 'scale'"), 'internal_error'],
    ['took too much memory', { ...child(null, 'SIGKILL'), hasExceededMemory: true }, 'too_long'],
    ['cannot read its input', child(1, null, 'Invalid data found'), 'no_media'],
  ])('when ffmpeg %s, whatever its output', async (_what, ended, code) => {
    const failed = assertComplete(stream({ child: ended }));
    await expect(failed).rejects.toMatchObject({
      code,
      cause: expect.objectContaining({
        message: expect.stringContaining(ended.stderr.toString()) as string,
      }) as unknown,
    });
  });
});
