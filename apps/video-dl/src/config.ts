import {
  clientPaceSetting,
  commonSettings,
  loadConfig,
  redisUrlSetting,
  setting,
} from '@media-services/http-common';
import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import { egressSettings } from '@media-services/egress-guard';
import { parseExtractorArguments } from './extract/extractor-arguments.js';
import { updateChannels } from './extract/update.js';
import { mp4VideoChoices } from './plan/codecs.js';
import { readRoots } from './trusted-roots.js';

/** Every environment variable of video-dl. */
export const configSchema = z.object({
  ...commonSettings({ port: 3001, metricsPort: 9101 }),
  REDIS_URL: redisUrlSetting(),

  STREAMS_MAX: setting
    .integerOrAuto({ min: 1, max: 1000 })
    .describe('Streams at the same time; auto: four per core, as long as they fit into half of the memory.'),
  STREAM_QUEUE_MAX: setting
    .integer(16, { min: 0, max: 10_000 })
    .describe(
      'Stream requests that may wait for a slot, and four times as many look-ups for an engine; further ones get 503.',
    ),
  ENGINE_PROCESSES: setting
    .integerOrAuto({ min: 1, max: 64 })
    .describe(
      'Download engine processes of about 120 MB, each for one page at a time; auto: one per core, as long as they fit into a quarter of the memory, and at least two.',
    ),
  ENGINE_MEMORY_MAX_BYTES: setting
    .bytes('600MiB', { min: 0 })
    .describe(
      'The most memory of one engine process: a page that needs more fails, and an idle engine above it is restarted; 0 for no limit.',
    ),
  EXTRACTION_CACHE_SECONDS: setting
    .seconds(300, { min: 0, max: 86_400 })
    .describe('How long an extraction is reused, never beyond the life of its media URLs.'),

  EXTRACTION_TIMEOUT_SECONDS: setting
    .seconds(45, { min: 1, max: 600 })
    .describe('From a page URL to its media URLs, waiting for an engine included.'),
  PAGE_MAX_BYTES: setting
    .bytes('32MiB', { min: 64 * 1024 })
    .describe('Bytes that one extraction may read of a site, all its pages and scripts together.'),
  FIRST_BYTE_TIMEOUT_SECONDS: setting
    .seconds(30, { min: 1, max: 600 })
    .describe(
      'From the media URLs to the first byte of the stream: waiting for the site, for a place and for ffmpeg included.',
    ),
  SOURCE_IDLE_TIMEOUT_SECONDS: setting
    .seconds(30, { min: 1, max: 600 })
    .describe(
      'How long a media server may send nothing while it is asked to; the time before its first byte is as long at most.',
    ),
  CLIENT_IDLE_TIMEOUT_SECONDS: setting
    .seconds(120, { min: 1, max: 3600 })
    .describe('How long a client may read nothing of a stream that has bytes for it.'),
  CLIENT_MIN_BYTES_PER_MINUTE: clientPaceSetting(),
  SOURCE_MIN_BYTES_PER_MINUTE: setting
    .bytes('64KiB', { min: 0 })
    .describe(
      'A media server that sends less in a minute in which a stream waits for it, and less than a quarter of real time, loses the stream; after 10 seconds already while others wait for a slot. 0 for no such limit.',
    ),
  VIDEO_MAX_SECONDS: setting
    .seconds(21_600, { min: 1 })
    .describe(
      'The longest video, or clip of one, that is accepted. A stream may take a third longer than this.',
    ),
  STREAM_MAX_BYTES: setting
    .bytes('10GiB')
    .describe('The largest stream that is made. Twice as much is read for it, and at least 16 GiB.'),
  MP4_VIDEO: setting
    .oneOf(mp4VideoChoices, 'copy')
    .describe(
      'What becomes of pictures in VP9, AV1 or HEVC, where a page has no H.264: copy them, which newer players play, or make h264 of them, which all play and which takes a core or more for as long as the stream lasts.',
    ),

  ...egressSettings(),
  TRUSTED_ROOTS_FILE: setting
    .text()
    .superRefine((file, context) => {
      const message = file === '' ? undefined : problemOf(() => readRoots(file));
      if (message !== undefined)
        context.addIssue({ code: 'custom', message: `names a file that cannot be used: ${message}` });
    })
    .describe(
      'PEM file of certificate authorities that are trusted beside the public ones, such as that of a proxy that inspects TLS.',
    ),
  COOKIES_FILE: setting
    .text()
    .superRefine((file, context) => {
      const message = file === '' ? undefined : problemOf(() => accessSync(file, constants.R_OK));
      if (message !== undefined)
        context.addIssue({ code: 'custom', message: `names a file that cannot be read: ${message}` });
    })
    .describe(
      "Netscape cookie file whose cookies are sent to the sites they belong to: the operator's own sessions.",
    ),

  YTDLP_EXTRACTOR_ARGS: setting
    .text()
    .superRefine((text, context) => {
      const message = problemOf(() => parseExtractorArguments(text));
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .describe(
      "What yt-dlp's --extractor-args takes, several separated by spaces: player clients, PO tokens, visitor data, impersonation (youtube:player_client=tv,web generic:impersonate).",
    ),
  POT_PROVIDER_URL: setting
    .text()
    .refine((url) => url === '' || (URL.canParse(url) && /^http:\/\/[^/@]+\/?$/i.test(url)), {
      error: 'must be http://host:port',
    })
    .describe('http://host:port of a bgutil PO token provider, which YouTube may ask a server for.'),
  YTDLP_UPDATES: setting
    .oneOf(['off', ...updateChannels], 'off')
    .describe(
      'Whether the running service installs the newest yt-dlp at start and every 24 hours; nightly takes pre-releases.',
    ),
  YTDLP_PYTHON: setting
    .text()
    .describe('Python interpreter that can import yt_dlp; the one that set-up chose when empty.'),
  FFMPEG_PATH: setting.text().describe("ffmpeg; when empty the one on PATH, else ffmpeg-static's binary."),
});

export type Config = z.output<typeof configSchema>;

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @throws ConfigError with every problem at once */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  return loadConfig(configSchema, env);
}
