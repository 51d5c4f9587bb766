import { InvalidRequestError, parseRequest, DomainError, type FieldError } from '@media-services/http-common';
import { z } from 'zod';
import colourNames from 'color-name';
import { defaultOutput, formatNames, type Output } from '../images/output.js';
import { defaultTuning } from '../matte/tuning.js';
import type { GivenTuning } from '../pixels/task.js';
import { isWebUrl, maxUrlLength } from './fetch-image.js';
import { fileField, sentAsText, type Upload } from './upload.js';

/**
 * A decimal number in plain notation within a range. Nothing is rounded, clamped or guessed.
 * @param fallback what the service uses if the field is missing; for the documentation
 */
function optionalDecimal(min: number, max: number, fallback: number, description: string) {
  const message = `must be a number from ${min} to ${max}, written like 0.5`;
  return z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : message) })
    .regex(/^-?\d+(\.\d+)?$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .optional()
    .meta({
      type: 'number',
      minimum: min,
      maximum: max,
      default: fallback,
      description: `${description} Written without an exponent.`,
    });
}

/**
 * One of several words, in any case.
 * @param synonyms what programs send instead of a word
 */
function word<const Words extends readonly string[]>(
  words: Words,
  fallback: Words[number],
  description: string,
  synonyms: Readonly<Record<string, Words[number]>> = {},
) {
  const message = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const known = (value: unknown): unknown => {
    const lower = typeof value === 'string' ? value.toLowerCase() : value;
    return typeof lower === 'string' && Object.hasOwn(synonyms, lower) ? synonyms[lower] : lower;
  };
  return z
    .preprocess(
      known,
      z.enum(words, { error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : message) }),
    )
    .default(fallback)
    .meta({ type: 'string', enum: [...words], default: fallback, description });
}

/** An optional text field. */
function text(pattern: RegExp, message: string, description: string) {
  return z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : message) })
    .regex(pattern, { error: message, abort: true })
    .optional()
    .meta({ type: 'string', description });
}

const maxMarginPixels = 65_535;
const marginMessage = `must be pixels, such as 20 or 20px, up to ${maxMarginPixels}, or a percentage up to 100%`;
const urlMessage = `must be an http or https URL of at most ${maxUrlLength} characters, without user name and password`;
const colourMessage = 'must be a hex colour of 3, 4, 6 or 8 digits, or a CSS colour name';

function length(description: string) {
  const message = 'must be a whole number from 1 to 65535';
  return text(/^[1-9]\d{0,4}$/, message, description)
    .refine((value) => value === undefined || Number(value) <= 65_535, message)
    .meta({ type: 'integer', minimum: 1, maximum: 65_535, description });
}

const ownAlphaStands =
  ' An upload that is already cut out keeps its own alpha, and this applies to it only if sent.';

export const parametersSchema = z.strictObject({
  threshold: optionalDecimal(
    0,
    255,
    defaultTuning.threshold,
    `Opacity up to this value (of 255) becomes fully transparent; the rest is stretched. Removes faint leftovers.${ownAlphaStands}`,
  ),
  feather: optionalDecimal(
    0,
    24,
    defaultTuning.feather,
    `Width of hard edges, in pixels of the image. Edges that are almost as wide already are softened less. 0 changes nothing.${ownAlphaStands}`,
  ),
  foreground_strength: optionalDecimal(
    0.5,
    2,
    defaultTuning.foregroundStrength,
    `Above 1 makes translucent parts more solid, below 1 less. From 1 on, wide areas that are probably foreground become solid; below 1 they stay translucent, such as glass.${ownAlphaStands}`,
  ),
  format: word(
    formatNames,
    'png',
    'Type of the result. `webp` and `jpg` have quality 90; the alpha of `webp` is lossless. `jpg` has a background: `bg_color`, or white by default.',
    { jpeg: 'jpg' },
  ),
  channels: word(['rgba', 'alpha'], 'rgba', '`alpha` returns only the matte, as an 8-bit grey PNG.'),
  bg_color: text(
    // Without a flag, which the OpenAPI document could not state.
    /^(#?([\da-fA-F]{3}|[\da-fA-F]{4}|[\da-fA-F]{6}|[\da-fA-F]{8})|[a-zA-Z]+)$/,
    colourMessage,
    'Colour behind the subject: hex (`fff`, `ffff`, `ffffff`, `ffffffff`, with or without `#`; the fourth component is opacity) or a CSS colour name. Transparent by default.',
  ).refine((value) => value === undefined || colourOf(value) !== undefined, colourMessage),
  crop: word(['true', 'false'], 'false', '', { '1': 'true', on: 'true', '0': 'false', off: 'false' }).meta({
    type: 'boolean',
    default: false,
    description: 'Crops the result to the subject.',
  }),
  crop_margin: text(
    /^\d{1,5}(\.\d+)?(px|%)?$/,
    marginMessage,
    'Margin around the cropped subject, limited by the image: pixels (`20`, `20px`) or a percentage of the subject (`10%`).',
  ).refine(
    (value) => value === undefined || parseFloat(value) <= (value.endsWith('%') ? 100 : maxMarginPixels),
    marginMessage,
  ),
  max_width: length('Maximum width in pixels; a wider result is scaled down proportionally.'),
  max_height: length('Maximum height in pixels; a taller result is scaled down proportionally.'),
  image_url: z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : urlMessage) })
    .refine(isWebUrl, urlMessage)
    .optional()
    .meta({
      type: 'string',
      format: 'uri',
      maxLength: maxUrlLength,
      description:
        'Public URL of the image, instead of a file. Only available if the operator has set IMAGE_URLS=true. Counts towards the rate limit once the image is fetched.',
    }),
});

type Parameters = z.output<typeof parametersSchema>;

/** Finds fields that contradict each other. */
function contradictions({ channels, format, bg_color, crop, crop_margin }: Parameters): FieldError[] {
  const problems: FieldError[] = [];
  if (channels === 'alpha' && format !== 'png')
    problems.push({ field: 'format', message: 'must be png with channels=alpha' });
  if (channels === 'alpha' && bg_color !== undefined)
    problems.push({ field: 'bg_color', message: 'cannot be used with channels=alpha' });
  if (crop === 'false' && crop_margin !== undefined)
    problems.push({ field: 'crop_margin', message: 'needs crop=true' });
  return problems;
}

function tuningOf({ threshold, feather, foreground_strength: foregroundStrength }: Parameters): GivenTuning {
  return {
    ...(threshold !== undefined && { threshold }),
    ...(feather !== undefined && { feather }),
    ...(foregroundStrength !== undefined && { foregroundStrength }),
  };
}

function outputOf(parsed: Parameters): Output {
  const { format, channels, bg_color, crop, crop_margin = '0', max_width, max_height } = parsed;
  return {
    format,
    channels,
    background: bg_color === undefined ? undefined : colourOf(bg_color),
    cropMargin:
      crop === 'true'
        ? { value: parseFloat(crop_margin), unit: crop_margin.endsWith('%') ? '%' : 'px' }
        : undefined,
    maxWidth: max_width === undefined ? undefined : Number(max_width),
    maxHeight: max_height === undefined ? undefined : Number(max_height),
  };
}

function colourOf(value: string): Output['background'] {
  const name = value.toLowerCase();
  if (name === 'transparent') return [0, 0, 0, 0];
  const named = Object.hasOwn(colourNames, name) ? colourNames[name] : undefined;
  if (named !== undefined) return [...named, 255];
  const digits = name.replace('#', '');
  // Other lengths of hex digits, such as `ff`, are not a colour.
  if (!/^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(digits)) return undefined;
  const long = digits.length <= 4 ? Array.from(digits, (digit) => digit + digit).join('') : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = Buffer.from(long, 'hex');
  return [red, green, blue, alpha];
}

/** An uploaded image, or an image URL. */
export type Source = { readonly bytes: Buffer; readonly name: string } | { readonly url: string };

/** Programs and forms send every field, also those that nobody has filled in. */
function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/**
 * Validates the fields, and reports all problems at once.
 * @param query not accepted beside a form
 * @param allowsUrls whether the operator allows `image_url`
 * @throws InvalidRequestError, or DomainError `missing_file` if that is the only problem
 */
export function readParameters(
  upload: Upload,
  query: object,
  allowsUrls: boolean,
): { source: Source; tuning: GivenTuning; output: Output } {
  const { isForm } = upload;
  const { [fileField]: fileAsText, ...fields } = withoutEmpty(isForm ? upload.fields : { ...query });
  const problems: FieldError[] = Object.keys(isForm ? query : {}).map((field) => ({
    field,
    message: 'is not accepted in the query; send it as a form field',
  }));
  let tuning: GivenTuning = {};
  let output = defaultOutput;
  let url: string | undefined;
  try {
    const parsed = parseRequest(parametersSchema, fields);
    tuning = tuningOf(parsed);
    output = outputOf(parsed);
    url = parsed.image_url;
    problems.push(...contradictions(parsed));
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    problems.push(...(error.fields ?? []));
  }
  const { file } = upload;
  const hasFile = file !== undefined && file.bytes.length > 0;
  const hasUrl = Object.hasOwn(fields, 'image_url');
  if (hasUrl && !allowsUrls) problems.push({ field: 'image_url', message: urlsDisabled });
  else if (hasUrl && hasFile)
    problems.push({ field: 'image_url', message: `cannot be used with "${fileField}"; send one of them` });
  if (problems.length > 0) {
    throw new InvalidRequestError(
      hasFile || hasUrl ? problems : [...problems, { field: fileField, message: 'is missing' }],
    );
  }
  if (url !== undefined) return { source: { url }, tuning, output };
  if (!hasFile) {
    throw new DomainError('missing_file', missingFile(file, fileAsText, allowsUrls));
  }
  return { source: file, tuning, output };
}

function missingFile(file: Upload['file'], fileAsText: unknown, allowsUrls: boolean): string {
  if (file !== undefined) return 'The file is empty. Check it and send it again.';
  if (fileAsText !== undefined) return `The field "${fileField}" ${sentAsText}.`;
  const otherwise = allowsUrls ? ', or its URL in "image_url"' : '';
  return `The form has no image. Send it as a file, with a file name, in the field "${fileField}"${otherwise}.`;
}

const urlsDisabled = `is disabled on this server; send the image in the field "${fileField}". If you run this server: set IMAGE_URLS=true`;
