import { z } from 'zod';
import { downloadTargets } from '../extract/index.js';
import { players } from '../plan/codecs.js';

const pixels = z.int().positive().nullable();
const codec = z.string().nullable().describe('As the site or ffprobe names it; null: none, or unknown.');
const kbps = z.number().min(0).nullable().describe('kbit/s');
const action = z.enum(['as is', 'copy', 'transcode']);

const format = z.strictObject({
  id: z.string(),
  ext: z.string().nullable(),
  protocol: z.string(),
  width: pixels,
  height: pixels,
  fps: z.number().min(0).nullable(),
  videoCodec: codec,
  audioCodec: codec,
  videoBitrateKbps: kbps,
  audioBitrateKbps: kbps,
  filesizeBytes: z.int().min(0).nullable(),
  filesizeIsEstimate: z.boolean(),
  note: z.string().nullable(),
  availableAt: z.iso
    .datetime()
    .nullable()
    .describe('When the site lets it be read, where advertisements come first; null: at once.'),
});

const download = z.strictObject({
  target: z.enum(downloadTargets),
  href: z.string().describe('Path and query of the stream on this server.'),
  height: pixels.optional().describe('Of the picture, in pixels; only for MP4.'),
  video: z
    .enum([...action.options, 'copy or transcode'])
    .nullable()
    .optional()
    .describe(
      "What is done to the picture (`as is`: the site's own file is sent, byte for byte); null: it has none; only for MP4.",
    ),
  plays: z
    .enum(players)
    .nullable()
    .optional()
    .describe(
      'What plays it. `everywhere`: H.264. `newer players`: HEVC, AV1 or VP9, because the page has nothing else of that size: VLC and most current browsers, but not QuickTime (AV1, VP9) and older phones. `some players`: older codecs, such as MPEG-4 Part 2. null: it has no picture. Only for MP4. Where the operator has set `MP4_VIDEO=h264`, all of it plays everywhere.',
    ),
  audio: action
    .nullable()
    .describe(
      "What is done to the sound (`as is`: the site's own file is sent, byte for byte); null: it has none.",
    ),
  formatIds: z.array(z.string()).describe('The entries of `formats` that it is made of.'),
  estimatedBytes: z.int().min(0).nullable(),
  clipEnd: z
    .enum(['exact', 'up to a few frames late'])
    .nullable()
    .describe(
      'How exactly a clip ends; it always begins with the frame and the audio sample at its start. null: it is the whole video.',
    ),
  exactBytes: z
    .int()
    .min(0)
    .nullable()
    .describe('The `Content-Length` that the stream will have; null where only its end tells.'),
});

const originalAudio = z.strictObject({
  href: z.string().describe('Path and query of the stream on this server.'),
  container: z
    .enum(['m4a', 'mp3', 'ogg', 'opus', 'webm', 'flac', 'wav'])
    .describe('The extension of the file; `opus`: Opus in Ogg.'),
  codec: z.string().nullable().describe('As the site or ffprobe names it; null: unknown.'),
  bitrateKbps: kbps,
  isSiteFile: z.boolean().describe("Whether it is the site's own file, byte for byte, with ranges."),
  estimatedBytes: z.int().min(0).nullable(),
  exactBytes: z
    .int()
    .min(0)
    .nullable()
    .describe('The `Content-Length` that the stream will have; null where only its end tells.'),
});

/** The response of `GET /api/info`. Seconds, bytes, pixels, kbit/s; unknown values are null. */
export const infoSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  thumbnail: z.string().nullable(),
  duration: z.number().min(0).nullable().describe('Seconds, of the whole video'),
  suggestedStart: z
    .number()
    .min(0)
    .nullable()
    .describe(
      'Seconds: where the link lets the video begin (`t=90`). Streams ignore it; send it as `start` for a clip.',
    ),
  clip: z
    .strictObject({ start: z.number().min(0), end: z.number().min(0).nullable() })
    .nullable()
    .describe(
      'The part, in seconds of the whole video, that the downloads contain: as `start` and `end` ask for it, or the clip that the page is about; null for the whole video.',
    ),
  uploader: z.string().nullable(),
  webpageUrl: z.string(),
  extractor: z.string(),
  isLive: z.literal(false).describe('Live pages are rejected with `live_not_supported`.'),
  uploadDate: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .nullable(),
  description: z.string().nullable(),
  playlistIndex: z.int().nullable().describe('Which of the videos on the page this is, from 1.'),
  playlistCount: z.int().nullable().describe('How many videos the page has, where it has several.'),
  items: z
    .array(
      z.strictObject({
        index: z.int().min(1).describe('The value for `item`.'),
        title: z.string().nullable(),
        duration: z.number().min(0).nullable().describe('Seconds'),
        thumbnail: z.string().nullable(),
      }),
    )
    .describe('The first 50 videos of a page with several; empty where the page has one.'),
  formats: z.array(format).describe('How the page offers its media.'),
  downloads: z
    .array(download)
    .describe('The downloads that this service offers; a target that it cannot make is missing.'),
  originalAudio: originalAudio
    .nullable()
    .describe(
      'The best audio without re-encoding (`/api/stream?fmt=original`); null: the page has no audio, or none that can be copied.',
    ),
});
