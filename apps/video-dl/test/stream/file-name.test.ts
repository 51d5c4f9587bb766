import fc from 'fast-check';
import { fileName } from '../../dist/stream/file-name.js';

describe('fileName', () => {
  it.each([
    ['A plain title', 'A plain title.mp3'],
    ['AC/DC \\ live: "Back?" <*|>', 'AC_DC _ live_ _Back_ _.mp3'],
    ['../../etc/passwd', '_.._etc_passwd.mp3'],
    ['.hidden', 'hidden.mp3'],
    ['line\r\nSet-Cookie: a=b', 'line Set-Cookie_ a=b.mp3'],
    ['exe.\u202e3pm', 'exe. 3pm.mp3'],
    ['con', '_con.mp3'],
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
