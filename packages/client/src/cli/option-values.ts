import { z } from 'zod';

const number = (name: string, low: number, high: number) =>
  z
    .string()
    .refine((text) => text.trim() !== '' && Number(text) >= low && Number(text) <= high, {
      error: `--${name} must be from ${low} to ${high}`,
    })
    .transform(Number)
    .optional();

const count = (name: string) =>
  z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, { error: `--${name} must be a whole number from 1 to 1000` })
    .transform(Number)
    .optional();

/** `1,3,5-7` as numbers. */
function itemsOf(text: string): 'all' | readonly number[] {
  if (text === 'all') return text;
  return text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  });
}

const time = (name: string) =>
  z
    .string()
    .regex(/^(?:\d+:){0,2}\d+(?:\.\d+)?$/, {
      error: `--${name} must be a time such as 90, 90.5, 1:30 or 0:01:30.5`,
    })
    .optional();

/** What a video is saved as, by option. */
const heights = { 720: 'mp4-720', 1080: 'mp4-1080' } as const;
export const streamChoices = { ...heights, mp3: 'mp3', original: 'original' } as const;
type StreamOption = keyof typeof streamChoices;
export type StreamChoice = (typeof streamChoices)[StreamOption];
export const streamOptions = Object.keys(streamChoices) as StreamOption[];
export const heightOptions = Object.keys(heights).map((height) => `--${height}`);

export function perStreamOption<Value>(value: Value): Record<StreamOption, Value> {
  return Object.fromEntries(streamOptions.map((option) => [option, value])) as Record<StreamOption, Value>;
}

/** The values of all options, by name. */
export const valuesSchema = z.object({
  server: z
    .string()
    .trim()
    // fetch rejects a user name and a password.
    .regex(/^https?:\/\/[^@?#]+$/i, {
      abort: true,
      error:
        'The server must be a URL such as http://127.0.0.1:8080. Set it with --server or MEDIA_SERVICES_URL.',
    })
    .refine((url) => URL.canParse(url), { error: 'The server is not a valid URL.' }),
  key: z
    .string()
    .regex(/^[\x21-\x7e]+$/, {
      error:
        'The key must have only ASCII characters, without spaces. Set it with --key or MEDIA_SERVICES_KEY.',
    })
    .optional(),
  quiet: z.boolean().default(false),
  output: z.string().min(1, { error: '--output is empty' }).optional(),
  force: z.boolean().default(false),
  ...perStreamOption(z.boolean().default(false)),
  url: z.url({ protocol: /^https?$/, error: '--url must be an http or https URL' }).optional(),
  threshold: number('threshold', 0, 255),
  feather: number('feather', 0, 24),
  strength: number('strength', 0.5, 2),
  format: z.enum(['png', 'webp', 'jpg'], { error: '--format must be png, webp or jpg' }).optional(),
  background: z.string().min(1, { error: '--background is empty' }).optional(),
  crop: z.boolean().default(false),
  'crop-margin': z
    .string()
    .regex(/^\d{1,5}(?:px|%)$/, { error: '--crop-margin must be like 20px or 10%' })
    .optional(),
  mask: z.boolean().default(false),
  'max-width': number('max-width', 1, 100_000),
  'max-height': number('max-height', 1, 100_000),
  item: count('item'),
  items: z
    .string()
    .regex(/^(?:all|\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*)$/, {
      error: '--items must be all, or numbers such as 1,3,5-7',
    })
    .transform(itemsOf)
    .optional(),
  'batch-file': z.string().min(1, { error: '--batch-file is empty' }).optional(),
  jobs: number('jobs', 1, 32),
  hours: number('hours', 0.01, 87_600),
  recursive: z.boolean().default(false),
  start: time('start'),
  end: time('end'),
  chapter: count('chapter'),
  lang: z.string().min(1, { error: '--lang is empty' }).optional(),
  subtitles: z.string().min(1, { error: '--subtitles is empty' }).optional(),
  json: z.boolean().default(false),
});

export type Values = z.output<typeof valuesSchema>;
