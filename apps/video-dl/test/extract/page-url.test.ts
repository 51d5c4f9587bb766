import { parsePageUrl } from '../../src/extract/page-url.js';
import { codeOf } from '../support/expectations.js';

describe('parsePageUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com:443/Watch?v=1', 'https://example.com/Watch?v=1'],
    ['http://example.com/a%20b/ü', 'http://example.com/a%20b/%C3%BC'],
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
    ['both https://a.example/ and https://b.example/', 'holds 2 links. Send one link at a time.'],
    ['no URL at all', 'Send the full http(s) URL'],
  ])('says what to do about %j', (given, advice) => {
    expect(() => parsePageUrl(given)).toThrow(advice);
  });
});

describe('what people paste', () => {
  const link = 'https://example.com/watch?v=1';

  it.each([
    ['words before it', `Look at this! ${link}`],
    ['words behind it', `${link} my favourite film`],
    ['a title, a line break and a full stop', `A film\n${link}.`],
    ['brackets', `A film (${link}) by me`],
    ['angle brackets', `<${link}>`],
    ['quotes', `"${link}"`],
    ['a share text without spaces', `复制打开，看看：${link}，好看`],
    ['a comma behind it', `See ${link},`],
    ['a Chinese full stop behind it', `看看 ${link}。`],
    ['an ideographic comma behind it', `看看 ${link}、`],
    ['a closing bracket behind it', `A film (see ${link}).`],
    ['a wide closing bracket behind it', `看看（${link}）`],
    ['the same link twice', `${link}\n${link}`],
    ['marks of direction', `\u202a${link}\u202c`],
    ['a mark before the scheme', `\u200e${link}`],
    ['a space of no width inside', `https://example.com/\u200bwatch?v=1`],
    ['a byte order mark', `\ufeff${link}\r\n`],
  ])('takes the only link out of %s', (_what, pasted) => {
    expect(parsePageUrl(pasted)).toBe(link);
  });

  it.each(['.', '!', '?', '*', ')', ','])('keeps %s at the end of a link without other words', (end) => {
    expect(parsePageUrl(`https://example.com/a${end}\n`)).toBe(`https://example.com/a${end}`);
  });

  it('keeps brackets that the link opens', () => {
    const url = 'https://example.com/a_(film)';
    expect(parsePageUrl(`see ${url}, and more`)).toBe(url);
    expect(parsePageUrl(`see (${url})`)).toBe(url);
  });

  it('keeps joiners inside a path, which some scripts and emoji need', () => {
    const path = 'می\u200cخواهم';
    expect(parsePageUrl(`https://example.com/${path}`)).toBe(
      `https://example.com/${encodeURIComponent(path)}`,
    );
  });

  it.each([
    ['https://www.google.com/url?sa=t&url=https%3A%2F%2Fexample.com%2Fwatch%3Fv%3D1&usg=x', link],
    [
      'https://www.youtube.com/redirect?event=video_description&q=https%3A%2F%2Fexample.com%2Fwatch%3Fv%3D1',
      link,
    ],
    ['https://l.facebook.com/l.php?u=https%3A%2F%2Fexample.com%2Fwatch%3Fv%3D1&h=AT0', link],
    ['https://out.reddit.com/t3_abc?url=https%3A%2F%2Fexample.com%2Fwatch%3Fv%3D1&token=x', link],
    [
      'https://l.facebook.com/l.php?u=https%3A%2F%2Ffxtwitter.com%2Fa%2Fstatus%2F1',
      'https://x.com/a/status/1',
    ],
    ['https://vxtwitter.com/a/status/1?s=20', 'https://x.com/a/status/1?s=20'],
    ['https://www.ddinstagram.com/reel/abc/', 'https://www.instagram.com/reel/abc/'],
    ['https://vm.vxtiktok.com/abc/', 'https://vm.vxtiktok.com/abc/'],
  ])('follows %s without a request', (pasted, expected) => {
    expect(parsePageUrl(pasted)).toBe(expected);
  });

  it('leaves a redirector alone that leads to no page', () => {
    const search = 'https://www.google.com/url?q=cats';
    expect(parsePageUrl(search)).toBe(search);
  });

  it('checks the target like any other URL', () => {
    const hidden = `https://www.google.com/url?q=${encodeURIComponent('https://user:secret@example.com/#__youtubedl_smuggle=x')}`;
    expect(codeOf(() => parsePageUrl(hidden))).toBe('invalid_url');
    const fragment = `https://www.google.com/url?q=${encodeURIComponent('https://example.com/#__youtubedl_smuggle=x')}`;
    expect(parsePageUrl(fragment)).toBe('https://example.com/');
  });
});
