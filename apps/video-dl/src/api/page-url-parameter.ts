import { z } from 'zod';
import { maxUrlCharacters } from '../extract/video-url.js';

/** `url` of every endpoint; what a URL must be is in `parseVideoUrl`. */
export const pageUrlParameter = z
  .string({ error: 'is required exactly once: the URL of the page that plays the video, URL-encoded' })
  .min(1, 'must not be empty')
  .meta({
    format: 'uri',
    maxLength: maxUrlCharacters,
    pattern: '^https?://',
    description: 'Address of the public page that plays the video, http or https, URL-encoded.',
  });
