import {
  formatRange,
  isEmptyRange,
  parseContentLength,
  parseContentRange,
  parseRange,
  parseUnsatisfiedTotal,
} from '../../src/upstream/byte-range.js';
import { cookieHeader, type Cookie } from '../../src/upstream/cookies.js';

describe('parseRange', () => {
  it.each([
    ['bytes=0-', { start: 0, end: null }],
    ['bytes=0-0', { start: 0, end: 0 }],
    [' bytes=12-345 ', { start: 12, end: 345 }],
    ['bytes=999999999999999-', { start: 999_999_999_999_999, end: null }],
  ])('%j', (header, range) => {
    expect(parseRange(header)).toEqual(range);
  });

  it.each([
    ...[undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=-5', 'bytes=5', 'bytes=5-4', 'bytes=a-'],
    ...['bytes=1-2,4-5', 'bytes=1-2x', 'xbytes=1-2', 'items=1-2', 'bytes=1000000000000000-'],
  ])('is not %j', (header) => {
    expect(parseRange(header)).toBeNull();
  });

  it.each([
    [{ start: 0, end: null }, 'bytes=0-'],
    [{ start: 0, end: 0 }, 'bytes=0-0'],
    [{ start: 12, end: 345 }, 'bytes=12-345'],
  ])('%j is formatted as %s', (range, header) => {
    expect(formatRange(range)).toBe(header);
  });
});

it.each([
  ['bytes 5-4/10', true],
  ['bytes 10-9/*', true],
  ['bytes 5-5/10', false],
  ['bytes=5-4/10', false],
  [undefined, false],
])('isEmptyRange(%j) returns %p', (header, isEmpty) => {
  expect(isEmptyRange(header)).toBe(isEmpty);
});

describe('parseContentRange', () => {
  it.each([
    ['bytes 0-0/1', { start: 0, end: 0, total: 1 }],
    ['bytes 12-345/346', { start: 12, end: 345, total: 346 }],
    ['bytes 12-345/*', { start: 12, end: 345, total: null }],
    [' Bytes  12-345/1000 ', { start: 12, end: 345, total: 1000 }],
  ])('%j', (header, place) => {
    expect(parseContentRange(header)).toEqual(place);
  });

  it.each([
    ...[undefined, '', 'bytes 5-4/10', 'bytes 0-10/10', 'bytes */10', 'bytes 0-/10', 'bytes -9/10'],
    ...['bytes=0-9/10', 'bytes 0-9', 'bytes 0-9/', 'x bytes 0-9/10', 'bytes 0-9/10x', 'items 0-9/10'],
  ])('is not %j', (header) => {
    expect(parseContentRange(header)).toBeNull();
  });
});

it.each([
  ['bytes */1234', 1234],
  [' BYTES  */0 ', 0],
  ['bytes 0-9/10', null],
  ['bytes */*', null],
  ['xbytes */1', null],
  ['bytes */1x', null],
  [undefined, null],
])('parseUnsatisfiedTotal(%j) returns %p', (header, total) => {
  expect(parseUnsatisfiedTotal(header)).toBe(total);
});

it.each([
  ['0', 0],
  [' 1234 ', 1234],
  ['-1', null],
  ['1.5', null],
  ['12, 12', null],
  ['1000000000000000', null],
  ['', null],
  [undefined, null],
])('parseContentLength(%j) returns %p', (header, length) => {
  expect(parseContentLength(header)).toBe(length);
});

const site = 'https://video.example/';
const cookie = (changes: Partial<Cookie> = {}): Cookie => ({
  name: 'a',
  value: '1',
  domain: '.video.example',
  path: '/',
  secure: false,
  ...changes,
});

describe('cookieHeader', () => {
  it.each<[Partial<Cookie>, string, string | undefined]>([
    [{}, site, 'a=1'],
    [{}, 'https://cdn.video.example/x', 'a=1'],
    [{}, 'https://notvideo.example/x', undefined],
    [{ domain: 'video.example' }, site, 'a=1'],
    [{ domain: 'video.example' }, 'https://cdn.video.example/x', undefined],
    [{ path: '/deep' }, 'https://video.example/deep/er', 'a=1'],
    [{ path: '/deep' }, 'https://video.example/deep', 'a=1'],
    [{ path: '/deep' }, 'https://video.example/deeper', undefined],
    [{ path: '/deep/' }, 'https://video.example/deep', undefined],
    [{ secure: true }, 'https://video.example/', 'a=1'],
    [{ secure: true }, 'http://video.example/', undefined],
    [{ value: 'x; "y"' }, site, 'a=x; "y"'],
    [{ value: 'b=c' }, site, 'a=b=c'],
    [{ value: '1\r\nEvil: 1' }, site, 'a=1Evil: 1'],
    [{ name: 'a b' }, site, undefined],
    [{ name: '' }, site, undefined],
  ])('sends %j to %s as %j', (changes, url, expected) => {
    expect(cookieHeader([cookie(changes)], new URL(url))).toBe(expected);
  });

  it('has all cookies of a URL', () => {
    const cookies = [cookie(), cookie({ domain: '.other.example' }), cookie({ name: 'b', value: '2' })];
    expect(cookieHeader(cookies, new URL(site))).toBe('a=1; b=2');
    expect(cookieHeader([], new URL(site))).toBeUndefined();
  });
});
