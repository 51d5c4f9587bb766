import { z } from 'zod';
import { maxUrlCharacters } from '../extract/page-url.js';

/** `url` of every endpoint; `parsePageUrl` says what a URL must be. */
const pageUrlParameter = z
  .string({ error: 'is required exactly once: the URL of the page that plays the video, URL-encoded' })
  .min(1, 'must not be empty')
  .meta({
    format: 'uri',
    maxLength: maxUrlCharacters,
    pattern: '^https?://',
    description: 'URL of the public page that plays the video, http or https, URL-encoded.',
  });

const itemError = { error: 'must be a whole number from 1 to 1000' };

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

/** Which video, and which part of it: what all three endpoints take. */
export const pageParameters = {
  url: pageUrlParameter,
  item: z
    .string(itemError)
    .regex(/^[1-9]\d{0,3}$/, itemError)
    .transform(Number)
    .pipe(z.int().max(1000, itemError))
    .optional()
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description:
        'Which video of a page with several, from 1; `items` of `/api/info` lists them. Without it, the first video that works.',
    }),
  start: timeParameter(
    "Where the clip begins: seconds (`90.5`) or `1:30`, `0:01:30.5`. The first frame shown is the one at this time, and audio begins at its sample. Without it, where the page's own clip begins, or the beginning.",
  ),
  end: timeParameter(
    "Where the clip ends, in the time of the whole video; after the video's end means its end. Without it, where the page's own clip ends, or the end.",
  ),
};

const timesSchema = z.object({ start: z.number().optional(), end: z.number().optional() });

/** For `refine`: a clip has a length. */
export function endsAfterStart({ start, end }: z.output<typeof timesSchema>): boolean {
  return start === undefined || end === undefined || end > start;
}

export const clipError = {
  path: ['end'],
  error: 'must be after start',
  // Whatever is wrong with other fields: all problems are reported at once.
  when: ({ value }: { value: unknown }) => timesSchema.safeParse(value).success,
};
