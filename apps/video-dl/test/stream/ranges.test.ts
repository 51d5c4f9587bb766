import { selectRange, SentVersions } from '../../dist/stream/ranges.js';

const file = { totalBytes: 1000, etag: '"v1"' };
const whole = { kind: 'whole' };
const part = (start: number, end: number) => ({ kind: 'part', start, end });

describe('selectRange', () => {
  it.each<[string | undefined, string | undefined, unknown]>([
    [undefined, undefined, whole],
    ['bytes=0-', undefined, part(0, 999)],
    ['bytes=400-', undefined, part(400, 999)],
    ['bytes=400-499', undefined, part(400, 499)],
    ['bytes=400-5000', undefined, part(400, 999)],
    ['bytes=400-400', undefined, part(400, 400)],
    ['bytes=0-0', undefined, part(0, 0)],
    ['bytes=999-', undefined, part(999, 999)],
    ['bytes=-100', undefined, part(900, 999)],
    ['bytes=-5000', undefined, part(0, 999)],
    ['bytes=1000-', undefined, { kind: 'unsatisfiable' }],
    ['bytes=-0', undefined, { kind: 'unsatisfiable' }],
    ['bytes=0-1,5-9', undefined, whole],
    ['bytes=500-400', undefined, whole],
    ['bytes=-', undefined, whole],
    ['items=0-5', undefined, whole],
    ['bytes=400-', '"v1"', part(400, 999)],
    ['bytes=400-', ' "v1" ', part(400, 999)],
    ['bytes=400-', '"v2"', whole],
    ['bytes=400-', 'W/"v1"', whole],
    ['bytes=400-', 'Wed, 21 Oct 2026 07:28:00 GMT', whole],
    ['bytes=1000-', '"v2"', whole],
  ])('%s with If-Range %s', (range, ifRange, expected) => {
    expect(selectRange({ range, ifRange }, file)).toEqual(expected);
  });

  it('never returns a part for If-Range without a strong validator', () => {
    const unnamed = { totalBytes: 1000, etag: null };
    expect(selectRange({ range: 'bytes=400-', ifRange: '"v1"' }, unnamed)).toEqual(whole);
    expect(selectRange({ range: 'bytes=400-', ifRange: undefined }, unnamed)).toEqual(part(400, 999));
  });
});

describe('SentVersions', () => {
  const sent = { client: '192.0.2.1', url: 'https://example.com/', target: 'mp3' };

  it('remembers the version of a stream that a client was sent', () => {
    const versions = new SentVersions();
    expect(versions.holds(sent, 'v1')).toBe(false);
    versions.remember(sent, 'v1');
    versions.remember(sent, 'v1');
    expect(versions.holds(sent, 'v1')).toBe(true);
    expect(versions.holds(sent, 'v2')).toBe(false);
    expect(versions.holds({ ...sent, client: '192.0.2.2' }, 'v1')).toBe(false);
    expect(versions.holds({ ...sent, target: 'mp4-720' }, 'v1')).toBe(false);
  });

  it('trusts neither version after a client was sent two', () => {
    const versions = new SentVersions();
    for (const version of ['v1', 'v2', 'v2']) versions.remember(sent, version);
    expect(versions.holds(sent, 'v1')).toBe(false);
    expect(versions.holds(sent, 'v2')).toBe(false);
  });

  it('forgets the oldest beyond ten thousand', () => {
    const versions = new SentVersions();
    for (let index = 0; index <= 10_000; index += 1) versions.remember({ ...sent, url: String(index) }, 'v1');
    expect(versions.holds({ ...sent, url: '0' }, 'v1')).toBe(false);
    expect(versions.holds({ ...sent, url: '1' }, 'v1')).toBe(true);
  });
});
