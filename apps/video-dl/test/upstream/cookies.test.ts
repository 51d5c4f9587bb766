import { SourceCookies } from '../../dist/upstream/cookies.js';

const sourceUrl = 'https://video.example/watch';
const header = (text: string, url: string) => new SourceCookies(text, sourceUrl).headerFor(new URL(url));

describe('SourceCookies', () => {
  it.each([
    ['a=1; b=2', sourceUrl, 'a=1; b=2'],
    ['a=1; b=2', 'https://cdn.video.example/', undefined],
    ['a=1; Domain=.video.example; Path=/', 'https://cdn.video.example/x', 'a=1'],
    ['a=1; Domain=.video.example; Path=/', 'https://notvideo.example/x', undefined],
    ['a=1; Domain=video.example; Path=/', 'https://cdn.video.example/x', undefined],
    ['a=1; Domain=.VIDEO.example; Path=/deep', 'https://video.example/deep/er', 'a=1'],
    ['a=1; Domain=.video.example; Path=/deep', 'https://video.example/deeper', undefined],
    ['a=1; Domain=.video.example; Path=/; Secure; Expires=99', 'https://video.example/', 'a=1'],
    ['a=1; Domain=.video.example; Path=/; Secure; Expires=99', 'http://video.example/', undefined],
    ['a=1; Domain=.video.example; Path=/; b=2; Domain=.other.example; Path=/', sourceUrl, 'a=1'],
    ['a="x\\073 \\"y\\""; Domain=.video.example', sourceUrl, 'a=x; "y"'],
    ['a=b=c', sourceUrl, 'a=b=c'],
    ['a=1\r\nEvil: 1', sourceUrl, 'a=1Evil: 1'],
    ['', sourceUrl, undefined],
    ['Domain=.video.example', sourceUrl, 'Domain=.video.example'],
  ])('sends %j to %s as %j', (text, url, expected) => {
    expect(header(text, url)).toBe(expected);
  });
});
