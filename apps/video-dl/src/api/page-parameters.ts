import { z } from 'zod';
import { maxUrlCharacters } from '../extract/page-url.js';

/** `url` of every endpoint; `parsePageUrl` validates it further. */
const pageUrlParameter = z
  .string({ error: 'is required exactly once: the URL of the page that plays the video, URL-encoded' })
  .min(1, 'must not be empty')
  .meta({
    format: 'uri',
    maxLength: maxUrlCharacters,
    pattern: '^https?://',
    description: 'URL of the public page that plays the video, http or https, URL-encoded.',
  });

const numberError = { error: 'must be a whole number from 1 to 1000' };

function numberParameter(description: string) {
  return z
    .string(numberError)
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, numberError)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: 1000, description });
}

const timePattern = /^(?:\d{1,2}:[0-5]?\d:[0-5]\d|\d{1,4}:[0-5]\d|\d{1,6})(?:\.\d{1,6})?$/;
const timeError = { error: 'must be a time such as 90, 90.5, 1:30 or 0:01:30.5' };

function timeParameter(description: string) {
  return z
    .string(timeError)
    .regex(timePattern, timeError)
    .transform((text) => text.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0))
    .optional()
    .meta({ type: 'string', pattern: timePattern.source, examples: ['90.5', '1:30'], description });
}

/** Parameters of all three endpoints: which video, and which part of it. */
export const pageParameters = {
  url: pageUrlParameter,
  item: numberParameter(
    'Number of the video on a page with several, from 1; see `items` of `/api/info`. Defaults to the first video that works.',
  ),
  start: timeParameter(
    "Start of the clip, as seconds (`90.5`) or `1:30`, `0:01:30.5`. Exact to the frame and the audio sample. Defaults to the start of the page's own clip, or of the video.",
  ),
  end: timeParameter(
    "End of the clip, in the time of the whole video. A time after the video's end means its end. Defaults to the end of the page's own clip, or of the video.",
  ),
  chapter: numberParameter(
    'Number of a chapter, from 1, which becomes the clip; see `chapters` of `/api/info`. Instead of `start` and `end`.',
  ),
};

const timesSchema = z.object({ start: z.number().optional(), end: z.number().optional() });
const clipSchema = timesSchema.extend({ chapter: z.number().optional() });

/** Rejects an empty clip, and times beside a chapter. Checks even if other fields are invalid, to report all at once. */
export function withOneClip<Schema extends z.ZodType<z.output<typeof clipSchema>>>(schema: Schema): Schema {
  return schema
    .refine(({ start, end }) => start === undefined || end === undefined || end > start, {
      path: ['end'],
      error: 'must be after start',
      when: ({ value }) => timesSchema.safeParse(value).success,
    })
    .refine(
      ({ start, end, chapter }) => chapter === undefined || (start === undefined && end === undefined),
      {
        path: ['chapter'],
        error: 'must not be combined with start or end',
        when: ({ value }) => clipSchema.safeParse(value).success,
      },
    );
}
