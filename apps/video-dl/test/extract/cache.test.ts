import { ExtractionCache, urlExpiry } from '../../src/extract/cache.js';
import { extraction, format } from '../support/extractions.js';

const limits = { maxEntries: 3, maxBytes: 1_000_000 };
const page = extraction([format()], { expiresAt: 300_000 });

describe('ExtractionCache', () => {
  beforeEach(() => vi.useFakeTimers({ now: 1 }));
  afterEach(() => vi.useRealTimers());

  it('keeps an extraction while its media URLs are valid', () => {
    const cache = new ExtractionCache(limits);
    cache.set('a', page);
    vi.advanceTimersByTime(200_000);
    expect(cache.get('a')).toBe(page);
  });

  it('never returns one whose URLs are about to expire', () => {
    const cache = new ExtractionCache(limits);
    cache.set('a', page);
    vi.advanceTimersByTime(299_000);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.size).toBe(0);
    cache.set('a', page);
    expect(cache.size).toBe(0);
  });

  it('drops the least recently used when it is full', () => {
    const cache = new ExtractionCache(limits);
    for (const url of ['a', 'b', 'c']) cache.set(url, page);
    cache.get('a');
    cache.set('d', page);
    expect(['a', 'b', 'c', 'd'].filter((url) => cache.get(url) !== undefined)).toEqual(['a', 'c', 'd']);
  });

  it('is also limited in bytes', () => {
    const cache = new ExtractionCache({ maxEntries: 1000, maxBytes: 500_000 });
    const playlistText = 'segment.ts\n'.repeat(4000);
    const large = extraction([
      format({ source: { url: 'https://cdn.example/', headers: {}, kind: 'hls', playlistText } }),
    ]);
    for (let index = 0; index < 50; index += 1) cache.set(String(index), large);
    expect(cache.size).toBeGreaterThan(0);
    expect(cache.size).toBeLessThan(8);
  });
});

const at = 1_800_000_000_000;

describe('urlExpiry', () => {
  it.each([
    ['YouTube', 'https://r1.googlevideo.com/videoplayback?expire=1800000000&ei=x'],
    ['CloudFront', 'https://d1.cloudfront.net/v.mp4?Expires=1800000000&Signature=x&Key-Pair-Id=y'],
    ['Akamai tokens', 'https://cdn.example/v.mp4?hdnts=st=1799990000~exp=1800000000~acl=/*~hmac=0a'],
    ['milliseconds', 'https://cdn.example/v.mp4?expires=1800000000000'],
    ['the earlier of two', 'https://cdn.example/v.mp4?expires=1800000000&exp=1900000000'],
  ])('reads the expiry of %s URLs', (_site, address) => {
    expect(urlExpiry(address)).toBe(at);
  });

  it.each([
    'https://example.com/v.mp4',
    'https://example.com/v.mp4?expires=never',
    'https://example.com/v.mp4?e=12',
    'https://example.com/v.mp4?expires=99999999999',
    'not an address',
  ])('returns null for %s', (address) => {
    expect(urlExpiry(address)).toBeNull();
  });
});
