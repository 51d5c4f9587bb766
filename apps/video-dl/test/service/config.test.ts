import { fileURLToPath } from 'node:url';
import { ConfigError } from '@media-services/http-common';
import { readConfig } from '../../dist/config.js';
import { streamLimits } from '../../dist/stream/limits.js';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('has a default for everything, and takes an empty variable for an unset one', () => {
    expect(readConfig({ STREAMS_MAX: '' })).toEqual(readConfig({}));
  });

  it('reads durations and sizes with units', () => {
    const config = readConfig({ VIDEO_MAX_SECONDS: '2h', STREAM_MAX_BYTES: '1GiB' });
    expect(config).toMatchObject({ VIDEO_MAX_SECONDS: 7200, STREAM_MAX_BYTES: 1024 ** 3 });
  });

  it('lets a stream last longer than the longest video, for clients that read as fast as they play', () => {
    const { totalTimeoutMs } = streamLimits(readConfig({ VIDEO_MAX_SECONDS: '3h' }), {
      streams: 1,
      engines: 1,
    });
    expect(totalTimeoutMs).toBe(4 * 3600 * 1000);
  });

  it('tells every problem at once, each with its variable', () => {
    const problems = problemsOf({
      STREAMS_MAX: '0',
      ALLOWED_PRIVATE_SOURCES: '10.0.0.0/8,somewhere',
      OUTBOUND_PROXY: 'ftp://127.0.0.1:1080',
      COOKIES_FILE: '/does/not/exist',
      TRUSTED_ROOTS_FILE: fileURLToPath(import.meta.url),
      EXTRACTION_TIMEOUT_SECONDS: 'soon',
    });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'ALLOWED_PRIVATE_SOURCES',
      'COOKIES_FILE',
      'EXTRACTION_TIMEOUT_SECONDS',
      'OUTBOUND_PROXY',
      'STREAMS_MAX',
      'TRUSTED_ROOTS_FILE',
    ]);
  });
});
