import { parsePageUrl } from '../../dist/extract/page-url.js';
import { codeOf } from '../support/expectations.js';

describe('parsePageUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com:443/Watch?v=1', 'https://example.com/Watch?v=1'],
    ['http://example.com/a b/ü', 'http://example.com/a%20b/%C3%BC'],
    ['  https://example.com/x ', 'https://example.com/x'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ])('normalises %s', (given, expected) => {
    expect(parsePageUrl(given)).toBe(expected);
  });

  it('drops the fragment, from which yt-dlp would read request headers', () => {
    const smuggled = 'https://example.com/watch#__youtubedl_smuggle=%7B%22http_headers%22%3A%7B%7D%7D';
    expect(parsePageUrl(smuggled)).toBe('https://example.com/watch');
  });

  it.each([
    ['another scheme', 'ftp://example.com/a.mp4'],
    ['a file', 'file:///etc/passwd'],
    ['a search prefix', 'ytsearch:cats'],
    ['a search prefix with a URL', 'ytsearch5:https://example.com/'],
    ['a script', 'javascript:alert(1)'],
    ['no scheme', 'example.com/watch'],
    ['no host', 'https://'],
    ['an impossible port', 'https://example.com:99999/'],
    ['a user name', 'https://user@example.com/'],
    ['a password', 'https://:secret@example.com/'],
    ['too many characters', `https://example.com/${'a'.repeat(2048)}`],
    ['too many characters once encoded', `https://example.com/${'ü'.repeat(500)}`],
  ])('rejects %s', (_what, given) => {
    expect(codeOf(() => parsePageUrl(given))).toBe('invalid_url');
  });

  it.each([
    ['youtube.com/watch?v=abc', 'Put https:// in front of it.'],
    [' www.example.com:8080/film ', 'Put https:// in front of it.'],
    ['Look at this! https://example.com/film', 'Send only the URL'],
    ['A film\n(https://example.com/film) by me', 'Send only the URL'],
    ['https inside, https://a.example/ and https://b.example/', 'Send the full http(s) URL'],
    ['no URL at all', 'Send the full http(s) URL'],
    ['ytsearch5:https://example.com/', 'Send the full http(s) URL'],
  ])('says what to do about %j', (given, advice) => {
    expect(() => parsePageUrl(given)).toThrow(advice);
  });
});
