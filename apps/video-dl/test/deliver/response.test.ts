import { fileName } from '@media-services/http-common';
import fc from 'fast-check';
import { selectRange, SentVersions } from '../../src/deliver/ranges.js';

describe('fileName', () => {
  it.each([
    ['A plain title', 'A plain title.mp3'],
    ['AC/DC \\ live: "Back?" <*|>', 'AC_DC _ live_ _Back_ _.mp3'],
    ['../../etc/passwd', '_.._etc_passwd.mp3'],
    ['.hidden', 'hidden.mp3'],
    ['line\r\nSet-Cookie: a=b', 'line Set-Cookie_ a=b.mp3'],
    ['exe.\u202e3pm', 'exe. 3pm.mp3'],
    ['con', '_con.mp3'],
    ['con.tact', '_con.tact.mp3'],
    ['  … ', '….mp3'],
    ['', 'download.mp3'],
    ['...', 'download.mp3'],
    ['\ud83d', 'download.mp3'],
    ['Ünïcödé 日本語 🎬', 'Ünïcödé 日本語 🎬.mp3'],
  ])('turns %j into a name that file systems accept', (title, expected) => {
    expect(fileName(title, 'mp3')).toBe(expected);
  });

  it('keeps emoji intact, and drops joiners elsewhere', () => {
    expect(fileName('Our 👨‍👩‍👧 and 👩🏽‍🚀', 'mp3')).toBe('Our 👨‍👩‍👧 and 👩🏽‍🚀.mp3');
    expect(fileName('a\u200db', 'mp3')).toBe('a b.mp3');
  });

  it('cuts long titles between characters', () => {
    const family = '👨‍👩‍👧‍👦';
    const name = fileName(family.repeat(100), 'mp4');
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(185);
    expect(name.replaceAll('👨👩👧👦', '')).not.toContain('\ufffd');
  });

  it('never returns separators, control characters or too many bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'grapheme' })),
        (title) => {
          const name = fileName(title, 'mp4');
          expect(name).not.toMatch(/[/\\\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
          expect(name).toMatch(/^[^.\s].*\.mp4$/su);
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(190);
        },
      ),
    );
  });
});

const file = { totalBytes: 1000, etag: '"v1"' };
const whole = null;
const part = (start: number, end: number) => ({ start, end });

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
    ['bytes=1000-', undefined, 'unsatisfiable'],
    ['bytes=-0', undefined, 'unsatisfiable'],
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
