import { fileURLToPath } from 'node:url';
import { ConfigError } from '@media-services/http-common';
import { capacityOf, streamLimits } from '../../src/capacity.js';
import { readConfig } from '../../src/config.js';
import { parseExtractorArguments } from '../../src/extract/extractor-arguments.js';

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
  it('has a default for everything, and treats an empty variable as unset', () => {
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

  it('reports every problem at once, each with its variable', () => {
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

const auto = { ENGINE_PROCESSES: 'auto', STREAMS_MAX: 'auto' } as const;

test.each([
  [1, 1, { engines: 2, streams: 4 }],
  [2, 2, { engines: 2, streams: 8 }],
  [8, 16, { engines: 8, streams: 32 }],
  [64, 256, { engines: 64, streams: 256 }],
  [64, 2, { engines: 4, streams: 16 }],
])('%i cores and %i GiB', (cores, gibibytes, expected) => {
  expect(capacityOf(auto, { cores, memoryBytes: gibibytes * 1024 ** 3 })).toEqual(expected);
});

test('uses the numbers given', () => {
  expect(capacityOf({ ENGINE_PROCESSES: 3, STREAMS_MAX: 5 }, { cores: 64, memoryBytes: 2 ** 34 })).toEqual({
    engines: 3,
    streams: 5,
  });
});

describe('parseExtractorArguments', () => {
  it.each([
    ['', {}],
    ['youtube:player_client=tv,web', { youtube: { player_client: ['tv', 'web'] } }],
    [
      'youtube:player-client=tv;po_token=web.gvs+abc==  generic:impersonate',
      { youtube: { player_client: ['tv'], po_token: ['web.gvs+abc=='] }, generic: { impersonate: [''] } },
    ],
    ['YouTube:lang=a\\,b,c', { youtube: { lang: ['a,b', 'c'] } }],
  ])('parses “%s” like yt-dlp', (text, found) => {
    expect(parseExtractorArguments(text)).toEqual(found);
  });

  it.each(['youtube', 'youtube:', ':x=1', 'you tube:x=1 y', 'youtube:=1'])('rejects “%s”', (text) => {
    expect(() => parseExtractorArguments(text)).toThrow(TypeError);
  });
});
