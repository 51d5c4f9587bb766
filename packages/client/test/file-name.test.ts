import { fileNameOf } from '../dist/file-name.js';

test.each([
  [`attachment; filename="a.mp3"; filename*=UTF-8''%E2%99%AB%20a.mp3`, '♫ a.mp3'],
  ['attachment; filename="say \\"hi\\".mp3"', 'say _hi_.mp3'],
  ['attachment; filename=plain.mp3', 'plain.mp3'],
  [`attachment; filename="ok.mp3"; filename*=UTF-8''%FF.mp3`, 'ok.mp3'],
  [`attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`, '_.._etc_passwd'],
  ['attachment; filename="C:\\\\x.mp3"', 'C__x.mp3'],
  ['attachment; filename=".."', undefined],
  ['attachment', undefined],
  [null, undefined],
])('%s is %s', (header, name) => {
  expect(fileNameOf(header)).toBe(name);
});

test('keeps the extension of a long name', () => {
  expect(fileNameOf(`attachment; filename="${'x'.repeat(500)}.mp4"`)).toMatch(/^x{196}\.mp4$/);
});
