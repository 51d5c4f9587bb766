import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { otherBuilds } from '../support/media-tools.js';

const app = fileURLToPath(new URL('../..', import.meta.url));
/** Whatever starts ffmpeg. */
const suites = ['test/double', 'test/ffmpeg', 'test/look', 'test/relay', 'test/deliver'];
const maxMs = 30 * 60_000;

it.each(otherBuilds())(
  'every media suite passes with the $build ffmpeg',
  async ({ ffmpeg }) => {
    const env = { TEST_FFMPEG: ffmpeg, TEST_NIGHTLY: '' };
    const { exitCode, all } = await execa('npm', ['test', '--', ...suites], {
      cwd: app,
      env,
      all: true,
      reject: false,
      timeout: maxMs,
    });
    expect({ exitCode, all }).toEqual({ exitCode: 0, all: expect.any(String) as string });
  },
  maxMs,
);
