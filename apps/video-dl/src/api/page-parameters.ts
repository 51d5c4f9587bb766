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

/** Which video: what all three endpoints take. */
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
};
