import fc from 'fast-check';
import sharp from 'sharp';
import { countJpegScans } from '../../dist/images/jpeg-scans.js';
import { manyScansJpeg } from '../support/deadly-images.js';

const jpeg = (progressive: boolean) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: '#335577' } })
    .jpeg({ progressive })
    .toBuffer();

test('a baseline JPEG has one scan, a progressive one ten, and added ones are counted', async () => {
  expect(countJpegScans(await jpeg(false))).toBe(1);
  expect(countJpegScans(await jpeg(true))).toBe(10);
  expect(countJpegScans(await manyScansJpeg(64, 500))).toBe(510);
});

test('a scan inside a segment (a thumbnail in EXIF) is not counted', async () => {
  const plain = await jpeg(false);
  const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0, 10]), Buffer.from('ffda0008ffd8ffda', 'hex')]);
  expect(countJpegScans(Buffer.concat([plain.subarray(0, 2), segment, plain.subarray(2)]))).toBe(1);
});

test('any bytes are counted to an end, and never more scans than fit in them', () => {
  const markers = fc.constantFrom(0xff, 0xda, 0x00, 0xd9, 0xd0, 0xc4);
  const bytes = fc.array(fc.oneof(fc.integer({ min: 0, max: 255 }), markers), { maxLength: 2000 });
  fc.assert(
    fc.property(bytes, (data) => {
      const scans = countJpegScans(Uint8Array.from(data));
      expect(scans).toBeGreaterThanOrEqual(0);
      expect(scans).toBeLessThanOrEqual(data.length / 2);
    }),
  );
});
