import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { largestOf, pictureSizeIn } from '../../../src/formats/mpeg-ts/picture-size.js';

/** H.264 of a few frames. */
async function encoded(size: string, ...options: string[]): Promise<Buffer> {
  const input = ['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25:duration=0.1`];
  const args = [...input, '-c:v', 'libx264', ...options, '-f', 'h264', '-'];
  return (await promisify(execFile)('ffmpeg', args, { encoding: 'buffer' })).stdout;
}

describe('the size of H.264', () => {
  it.each([
    ['320x180', ['-pix_fmt', 'yuv420p', '-profile:v', 'baseline']],
    ['1920x1080', ['-pix_fmt', 'yuv420p']],
    ['720x576', ['-pix_fmt', 'yuv420p', '-flags', '+ildct+ilme', '-x264-params', 'tff=1']],
    ['1280x720', ['-pix_fmt', 'yuv420p10le']],
  ])('%s is read from its parameters (%j)', async (size, options) => {
    const [width, height] = size.split('x').map(Number);
    expect(pictureSizeIn(await encoded(size, ...options))).toEqual({ width, height });
  });

  it('is unknown if the bytes end before it', async () => {
    const bytes = await encoded('320x180', '-pix_fmt', 'yuv420p');
    const at = bytes.indexOf(Buffer.from([0, 0, 1, 0x67]));
    expect(pictureSizeIn(bytes.subarray(at, at + 12))).toBeUndefined();
    expect(pictureSizeIn(Buffer.alloc(0))).toBeUndefined();
  });
});

it('is the largest of several, if there are several', () => {
  const [small, large] = [
    { width: 320, height: 180 },
    { width: 640, height: 360 },
  ];
  expect(largestOf([small, large, { ...small }])).toEqual(large);
  expect(largestOf([large, { ...large }])).toBeUndefined();
  expect(largestOf([])).toBeUndefined();
});
