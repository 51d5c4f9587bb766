import { z } from 'zod';
import { downloadTargets } from '../targets.js';
import { players } from '../formats/codecs.js';

/** Null if unknown. */
const text = z.string().nullable();
const pixels = z.int().positive().nullable();
const bytes = z.int().min(0).nullable();
const seconds = z.number().min(0).nullable();
const codec = text.describe("The site's or ffprobe's name for it; null if none or unknown.");
const kbps = z.number().min(0).nullable().describe('kbit/s');
const action = z.enum(['as is', 'copy', 'transcode']);

/** An object that documents and generated clients call by this name. */
function named<const Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.strictObject(shape).meta({ id });
}

const format = named('Format', {
  id: z.string(),
  ext: text,
  protocol: z.string(),
  width: pixels,
  height: pixels,
  fps: z.number().min(0).nullable(),
  videoCodec: codec,
  audioCodec: codec,
  videoBitrateKbps: kbps,
  audioBitrateKbps: kbps,
  filesizeBytes: bytes,
  filesizeIsEstimate: z.boolean(),
  note: text,
  availableAt: z.iso
    .datetime()
    .nullable()
    .describe('When the site releases it, if ads come first; null if available now.'),
});

/** Of every stream. */
const href = z.string().describe('Path and query of the stream on this server.');
const sizes = {
  estimatedBytes: bytes,
  exactBytes: bytes.describe('The `Content-Length` of the stream; null if not known yet.'),
};

const download = named('Download', {
  target: z.enum(downloadTargets),
  href,
  height: pixels.optional().describe('Height of the video in pixels; only for MP4.'),
  video: z
    .enum([...action.options, 'copy or transcode'])
    .nullable()
    .optional()
    .describe(
      "What happens to the video (`as is`: the site's own file is sent, byte for byte); null if the page has no video; only for MP4.",
    ),
  plays: z
    .enum(players)
    .nullable()
    .optional()
    .describe(
      'Which players support it. `everywhere`: H.264. `newer players`: HEVC, AV1 or VP9, used if the page has no H.264 of that size; works in VLC and most current browsers, but not in QuickTime (AV1, VP9) or on older phones. `some players`: older codecs, such as MPEG-4 Part 2. null: no video. Only for MP4. With `MP4_VIDEO=h264`, every MP4 plays everywhere.',
    ),
  audio: action
    .nullable()
    .describe(
      "What happens to the audio (`as is`: the site's own file is sent, byte for byte); null if the page has no audio.",
    ),
  formatIds: z.array(z.string()).describe('The ids of the `formats` it uses.'),
  ...sizes,
  clipEnd: z
    .enum(['exact', 'up to a few frames late'])
    .nullable()
    .describe(
      'How exactly the clip ends. Its start is always exact, to the frame and the audio sample. null for the whole video.',
    ),
});

const originalAudio = named('OriginalAudio', {
  href,
  container: z
    .enum(['m4a', 'mp3', 'ogg', 'opus', 'webm', 'flac', 'wav'])
    .describe('The extension of the file; `opus`: Opus in Ogg.'),
  codec: text.describe("The site's or ffprobe's name for it; null if unknown."),
  bitrateKbps: kbps,
  isSiteFile: z.boolean().describe("Whether the site's own file is sent, byte for byte, with range support."),
  ...sizes,
});

const audioLanguage = named('AudioLanguage', {
  language: z.string().describe('The value for `lang` of the streams, such as `de` or `pt-BR`.'),
  label: z.string().describe('Its English name.'),
  isOriginal: z.boolean().describe('Whether streams without `lang` have it.'),
  isDescription: z.boolean().describe('Whether it describes the video for people who can’t see it.'),
});

const clip = named('Clip', { start: z.number().min(0), end: seconds });

const chapter = named('Chapter', {
  title: z.string(),
  start: z.number().min(0).describe('Seconds of the whole video'),
  end: seconds,
});

const subtitles = named('Subtitles', {
  language: z.string().describe('The value for `subtitles` of the streams.'),
  label: z.string().describe("The site's name for it, or else the English name of the language."),
  isAutomatic: z.boolean().describe('Whether a machine wrote them.'),
});

const item = named('PageItem', {
  index: z.int().min(1).describe('The value for `item`.'),
  title: text,
  duration: seconds.describe('Seconds'),
  thumbnail: text,
});

/** The response of `GET /api/info`. Seconds, bytes, pixels, kbit/s; unknown values are null. */
export const infoSchema = named('VideoInfo', {
  id: z.string(),
  title: z.string(),
  thumbnail: text,
  duration: seconds.describe('Duration of the whole video in seconds'),
  durationSource: z
    .enum(['media', 'page'])
    .nullable()
    .describe(
      'Where `duration` comes from: `media`: the media files or their playlist; `page`: only the page; null: unknown.',
    ),
  suggestedStart: seconds.describe(
    'Start time in the link (`t=90`), in seconds. Streams ignore it; send it as `start` to get a clip.',
  ),
  clip: clip
    .nullable()
    .describe(
      "The part that the downloads contain, in seconds of the whole video: from `start` and `end`, or the page's own clip; null for the whole video.",
    ),
  uploader: text,
  webpageUrl: z.string(),
  extractor: z.string(),
  // No literal: generators of clients read a constant `false` as a string.
  isLive: z.boolean().describe('Always false: live pages are rejected with `live_not_supported`.'),
  uploadDate: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .nullable(),
  description: text,
  playlistIndex: z.int().nullable().describe('Number of this video on a page with several, from 1.'),
  playlistCount: z.int().nullable().describe('How many videos the page has, if several.'),
  items: z.array(item).describe('The first 50 videos of a page with several; empty for a page with one.'),
  chapters: z
    .array(chapter)
    .describe('The chapters that the page states. Generated MP3 and MP4 files contain them.'),
  subtitles: z.array(subtitles).describe('Machine translations of other subtitles are left out.'),
  formats: z.array(format).describe('The formats that the page offers.'),
  audioLanguages: z
    .array(audioLanguage)
    .describe("The languages of the page's audio; empty if the site states none."),
  downloads: z
    .array(download)
    .describe("The available downloads. Targets that this service can't produce are omitted."),
  originalAudio: originalAudio
    .nullable()
    .describe(
      'The best audio without re-encoding (`/api/stream?fmt=original`); null if the page has no audio, or none that can be copied.',
    ),
});
