import fc from 'fast-check';
import { FileStructure } from '../../src/formats/file-structure.js';
import { DamagedMediaError } from '../../src/formats/structure-check.js';
import { expectLinearTime } from '../support/expectations.js';
import { noise } from './support/noise.js';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 500);

const beginnings = {
  Matroska: Buffer.from('1a45dfa3801853806701ffffffffffffff1f43b675ff', 'hex'),
  Ogg: Buffer.from('4f6767530002', 'hex'),
  MP3: Buffer.from('fffb9064', 'hex'),
  ADTS: Buffer.from('fff150800c1ffc', 'hex'),
  ID3: Buffer.from('49443304000000000010', 'hex'),
};
const part = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(...Object.values(beginnings)),
  fc.integer({ min: 1, max: 3000 }).map((length) => Buffer.alloc(length)),
);
const anyFile = fc
  .tuple(fc.constantFrom(...Object.values(beginnings)), fc.array(part, { maxLength: 12 }))
  .map(([beginning, parts]) => Buffer.concat([beginning, ...parts]));

/** Whether a file passes with chunks of this size. */
function passes(bytes: Buffer, chunkBytes: number): boolean {
  const structure = new FileStructure();
  try {
    for (let at = 0; at < bytes.length; at += chunkBytes)
      structure.read(at, bytes.subarray(at, at + chunkBytes));
    return true;
  } catch (error) {
    if (error instanceof DamagedMediaError) return false;
    throw error;
  }
}

it('gives the same result for any bytes in any chunks', () => {
  fc.assert(
    fc.property(anyFile, fc.integer({ min: 1, max: 200 }), (bytes, chunkBytes) => {
      expect(passes(bytes, chunkBytes)).toBe(passes(bytes, bytes.length));
    }),
    { numRuns },
  );
});

it('accepts parts in any order', () => {
  const parts = fc.array(fc.tuple(fc.nat(5000), fc.nat(2000)), { maxLength: 20 });
  fc.assert(
    fc.property(anyFile, parts, (bytes, ranges) => {
      const structure = new FileStructure();
      try {
        for (const [offset, length] of ranges)
          structure.read(offset, bytes.subarray(offset, offset + length));
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedMediaError);
      }
    }),
    { numRuns },
  );
});

it.each(Object.entries(beginnings))(
  'takes linear time for a file that starts like %s',
  (_name, beginning) => {
    // Repeated headers, each of which could be valid.
    expectLinearTime((size) => {
      const bytes = Buffer.concat([beginning, Buffer.alloc(size, beginning.subarray(0, 4)), noise(size)]);
      return () => passes(bytes, 16_384);
    });
  },
);
