import { commonSettings, loadConfig, problemOf, redisUrlSetting, setting } from '@media-services/http-common';
import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import { egressSettings } from '@media-services/egress-guard';
import { parseExtractorArguments } from './extract/extractor-arguments.js';
import { updateChannels } from './extract/update.js';
import { mp4VideoChoices } from './formats/codecs.js';
import { readRoots } from './trusted-roots.js';

/** A text that is empty, or accepted by the code that uses it. */
function usable(problem: string, use: (text: string) => unknown) {
  return setting.text().superRefine((text, context) => {
    const message = text === '' ? undefined : problemOf(() => use(text));
    if (message !== undefined) context.addIssue({ code: 'custom', message: problem + message });
  });
}

/** Every environment variable of video-dl. */
export const configSchema = z.object({
  ...commonSettings({ port: 3001, metricsPort: 9101 }),
  REDIS_URL: redisUrlSetting(),

  STREAMS_MAX: setting
    .integerOrAuto({ min: 1, max: 1000 })
    .describe('Concurrent streams; auto: four per core, limited to what fits in half of the memory.'),
  ENGINE_PROCESSES: setting
    .integerOrAuto({ min: 1, max: 64 })
    .describe(
      'Download engine processes. Each takes about 120 MB and extracts one page at a time; auto: one per core, limited to what fits in a quarter of the memory, but at least two.',
    ),
  ENGINE_MEMORY_MAX_BYTES: setting
    .bytes('600MiB', { min: 0 })
    .describe(
      'Memory limit of one engine process. A page that needs more fails, and an idle engine above it is restarted; 0 for no limit.',
    ),

  EXTRACTION_TIMEOUT_SECONDS: setting
    .seconds(45, { min: 1, max: 600 })
    .describe('Limit for one extraction, including the wait for an engine.'),
  PAGE_MAX_BYTES: setting
    .bytes('32MiB', { min: 64 * 1024 })
    .describe('Bytes that one extraction may read from a site, counting all pages and scripts.'),
  FIRST_BYTE_TIMEOUT_SECONDS: setting
    .seconds(30, { min: 1, max: 600 })
    .describe(
      'Limit from the end of the extraction to the first byte of the stream, including the waits for the site, a slot and ffmpeg.',
    ),
  SOURCE_IDLE_TIMEOUT_SECONDS: setting
    .seconds(30, { min: 1, max: 600 })
    .describe(
      'How long a media server may send nothing during a request. Also the limit for its first byte.',
    ),
  SOURCE_MIN_BYTES_PER_MINUTE: setting
    .bytes('64KiB', { min: 0 })
    .describe(
      'A stream ends if its media server sends less than this in a minute of waiting, and less than a quarter of real time. While other requests wait for a slot, 10 seconds of that are enough. 0 for no limit.',
    ),
  VIDEO_MAX_SECONDS: setting
    .seconds(21_600, { min: 1 })
    .describe('The longest video or clip that is accepted. A stream may take a third longer than this.'),
  STREAM_MAX_BYTES: setting
    .bytes('10GiB')
    .describe('The largest stream. Up to twice as much may be read from the site, and at least 16 GiB.'),
  MP4_VIDEO: setting
    .oneOf(mp4VideoChoices, 'copy')
    .describe(
      'What to do with VP9, AV1 or HEVC video if a page has no H.264. copy: newer players support it. h264: convert it, which all players support, but which takes a core or more during the stream.',
    ),

  ...egressSettings(),
  TRUSTED_ROOTS_FILE: usable("is a file that can't be used: ", readRoots).describe(
    'PEM file of certificate authorities to trust in addition to the public ones, such as that of a TLS-inspecting proxy.',
  ),
  COOKIES_FILE: usable("is a file that can't be read: ", (file) => accessSync(file, constants.R_OK)).describe(
    "Netscape cookie file with the operator's sessions. Each cookie is sent only to its own site.",
  ),

  YTDLP_EXTRACTOR_ARGS: usable('', parseExtractorArguments).describe(
    "Values for yt-dlp's --extractor-args, separated by spaces: player clients, PO tokens, visitor data, impersonation (youtube:player_client=tv,web generic:impersonate).",
  ),
  POT_PROVIDER_URL: setting
    .text()
    .refine((url) => url === '' || (URL.canParse(url) && /^http:\/\/[^/@]+\/?$/i.test(url)), {
      error: 'must be http://host:port',
    })
    .describe('http://host:port of a bgutil PO token provider, which YouTube may require.'),
  YTDLP_UPDATES: setting
    .oneOf(['off', ...updateChannels], 'off')
    .describe(
      'Whether the running service installs the newest yt-dlp at start and every 24 hours; nightly includes pre-releases.',
    ),
  YTDLP_PYTHON: setting
    .text()
    .describe('Python interpreter that can import yt_dlp; if empty, the one from set-up.'),
  FFMPEG_PATH: setting
    .text()
    .describe(
      'Path of ffmpeg; if empty, the static build that `npm start` installs on Linux, or the one on PATH.',
    ),
});

export type Config = z.output<typeof configSchema>;

/** @throws ConfigError with every problem at once */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  return loadConfig(configSchema, env);
}
