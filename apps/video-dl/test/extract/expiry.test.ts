import { urlExpiry } from '../../dist/extract/expiry.js';

const at = 1_800_000_000_000;

describe('urlExpiry', () => {
  it.each([
    ['YouTube', 'https://r1.googlevideo.com/videoplayback?expire=1800000000&ei=x'],
    [
      'YouTube manifests',
      'https://manifest.googlevideo.com/api/manifest/hls_playlist/expire/1800000000/ei/x/index.m3u8',
    ],
    ['CloudFront', 'https://d1.cloudfront.net/v.mp4?Expires=1800000000&Signature=x&Key-Pair-Id=y'],
    ['Akamai tokens', 'https://cdn.example/v.mp4?hdnts=st=1799990000~exp=1800000000~acl=/*~hmac=0a'],
    ['Azure', `https://x.blob.core.windows.net/v.mp4?se=${encodeURIComponent('2027-01-15T08:00:00Z')}&sig=x`],
    ['Facebook, in hexadecimal', 'https://video.fbcdn.net/v.mp4?oe=6b49d200&_nc_ht=x'],
    ['milliseconds', 'https://cdn.example/v.mp4?expires=1800000000000'],
    ['the sooner of two', 'https://cdn.example/v.mp4?expires=1800000000&exp=1900000000'],
  ])('reads the end of %s addresses', (_site, address) => {
    expect(urlExpiry(address)).toBe(at);
  });

  it('adds the lifetime of an AWS signature to its date', () => {
    const address =
      'https://b.s3.amazonaws.com/v.mp4?X-Amz-Date=20270115T070000Z&X-Amz-Expires=3600&X-Amz-Signature=x';
    expect(urlExpiry(address)).toBe(Date.UTC(2027, 0, 15, 8));
  });

  it.each([
    'https://example.com/v.mp4',
    'https://example.com/v.mp4?expires=never',
    'https://example.com/v.mp4?e=12',
    'https://example.com/v.mp4?expires=99999999999',
    'not an address',
  ])('says nothing of %s', (address) => {
    expect(urlExpiry(address)).toBeNull();
  });
});
