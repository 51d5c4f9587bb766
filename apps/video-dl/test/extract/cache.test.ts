import { ExtractionCache } from '../../dist/extract/cache.js';
import { extraction, format } from '../support/extractions.js';

const limits = { maxEntries: 3, maxBytes: 1_000_000 };
const page = extraction([format()], { expiresAt: 300_000 });

describe('ExtractionCache', () => {
  it('keeps an extraction while its media addresses live', () => {
    const cache = new ExtractionCache(limits);
    cache.set('a', page, 0);
    expect(cache.get('a', 200_000)).toBe(page);
  });

  it('never hands out one whose addresses are about to end', () => {
    const cache = new ExtractionCache(limits);
    cache.set('a', page, 0);
    expect(cache.get('a', 299_000)).toBeUndefined();
    expect(cache.size).toBe(0);
    cache.set('a', page, 299_000);
    expect(cache.size).toBe(0);
  });

  it('lets the least recently used go when it is full', () => {
    const cache = new ExtractionCache(limits);
    for (const url of ['a', 'b', 'c']) cache.set(url, page, 0);
    cache.get('a', 1);
    cache.set('d', page, 1);
    expect(['a', 'b', 'c', 'd'].filter((url) => cache.get(url, 1) !== undefined)).toEqual(['a', 'c', 'd']);
  });

  it('is bounded in bytes too', () => {
    const cache = new ExtractionCache({ maxEntries: 1000, maxBytes: 500_000 });
    const playlistText = 'segment.ts\n'.repeat(4000);
    const large = extraction([
      format({ source: { url: 'https://cdn.example/', headers: {}, kind: 'hls', playlistText } }),
    ]);
    for (let index = 0; index < 50; index += 1) cache.set(String(index), large, 0);
    expect(cache.size).toBeGreaterThan(0);
    expect(cache.size).toBeLessThan(8);
  });
});
