import { fileURLToPath } from 'node:url';
import { ConfigError } from '@media-services/http-common';
import { readConfig } from '../../dist/config.js';

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
    expect(readConfig({ MAX_CONCURRENT_STREAMS: '' })).toEqual(readConfig({}));
  });

  it('reads durations and sizes with units', () => {
    const config = readConfig({ MAX_DURATION_SECONDS: '2h', MAX_OUTPUT_BYTES: '1GiB' });
    expect(config).toMatchObject({ MAX_DURATION_SECONDS: 7200, MAX_OUTPUT_BYTES: 1024 ** 3 });
  });

  it('lets a stream last as long as the longest video, for clients that read as fast as they play', () => {
    const { MAX_STREAM_SECONDS, MAX_DURATION_SECONDS } = readConfig({});
    expect(MAX_STREAM_SECONDS).toBeGreaterThan(MAX_DURATION_SECONDS);
    expect(problemsOf({ MAX_DURATION_SECONDS: '10h' })).toEqual([
      expect.stringMatching(/^MAX_STREAM_SECONDS must be at least MAX_DURATION_SECONDS/),
    ]);
    expect(problemsOf({ MAX_DURATION_SECONDS: '10h', MAX_STREAM_SECONDS: '10h' })).toEqual([]);
  });

  it('tells every problem at once, each with its variable', () => {
    const problems = problemsOf({
      MAX_CONCURRENT_STREAMS: '0',
      ALLOWED_PRIVATE_SOURCES: '10.0.0.0/8,somewhere',
      OUTBOUND_PROXY: 'ftp://127.0.0.1:1080',
      COOKIES_FILE: '/does/not/exist',
      TRUSTED_ROOTS_FILE: fileURLToPath(import.meta.url),
      BASE_PATH: 'media/',
      EXTRACTION_TIMEOUT_SECONDS: 'soon',
    });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'ALLOWED_PRIVATE_SOURCES',
      'BASE_PATH',
      'COOKIES_FILE',
      'EXTRACTION_TIMEOUT_SECONDS',
      'MAX_CONCURRENT_STREAMS',
      'OUTBOUND_PROXY',
      'TRUSTED_ROOTS_FILE',
    ]);
  });
});
