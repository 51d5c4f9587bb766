import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { largestOf, pictureSizeIn } from '../../../src/formats/mpeg-ts/picture-size.js';

const encoders = {
  h264: ['-c:v', 'libx264'],
  hevc: ['-c:v', 'libx265', '-x265-params', 'log-level=none'],
} as const;

/** Video of a few frames. */
async function encoded(codec: keyof typeof encoders, size: string, ...options: string[]): Promise<Buffer> {
  const input = ['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25:duration=0.1`];
  const args = [...input, ...encoders[codec], ...options, '-f', codec, '-'];
  return (await promisify(execFile)('ffmpeg', args, { encoding: 'buffer' })).stdout;
}

describe('the size of video', () => {
  it.each([
    ['h264', '320x180', ['-pix_fmt', 'yuv420p', '-profile:v', 'baseline']],
    ['h264', '1920x1080', ['-pix_fmt', 'yuv420p']],
    ['h264', '720x576', ['-pix_fmt', 'yuv420p', '-flags', '+ildct+ilme', '-x264-params', 'tff=1']],
    ['h264', '1280x720', ['-pix_fmt', 'yuv420p10le']],
    ['hevc', '320x180', ['-pix_fmt', 'yuv420p']],
    ['hevc', '1920x1080', ['-pix_fmt', 'yuv420p10le']],
    ['hevc', '640x360', ['-pix_fmt', 'yuv420p', '-x265-params', 'temporal-layers=3:log-level=none']],
  ] as const)('is read from the parameters of %s: %s (%j)', async (codec, size, options) => {
    const [width, height] = size.split('x').map(Number);
    const type = codec === 'h264' ? 0x1b : 0x24;
    expect(pictureSizeIn(await encoded(codec, size, ...options), type)).toEqual({ width, height });
  });

  it('is unknown if the bytes end before it', async () => {
    const bytes = await encoded('h264', '320x180', '-pix_fmt', 'yuv420p');
    const at = bytes.indexOf(Buffer.from([0, 0, 1, 0x67]));
    expect(pictureSizeIn(bytes.subarray(at, at + 12), 0x1b)).toBeUndefined();
    expect(pictureSizeIn(Buffer.alloc(0), 0x1b)).toBeUndefined();
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
