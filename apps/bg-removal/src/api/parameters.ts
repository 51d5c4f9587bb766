import { InvalidRequestError, parseRequest, DomainError, type FieldError } from '@media-services/http-common';
import { z } from 'zod';
import { defaultTuning, type Tuning } from '../matte/tuning.js';
import { fileField, type Upload } from './upload.js';

/** A decimal number, written plainly and within its range; nothing is rounded, cut or guessed. */
function decimal(min: number, max: number, fallback: number, description: string) {
  const message = `must be a number from ${min} to ${max}`;
  return z
    .string({ error: (issue) => (Array.isArray(issue.input) ? 'must be given once' : message) })
    .regex(/^-?\d+(\.\d+)?$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback)
    .meta({
      type: 'number',
      minimum: min,
      maximum: max,
      default: fallback,
      description: `${description} Written without an exponent.`,
    });
}

export const parametersSchema = z.strictObject({
  threshold: decimal(
    0,
    255,
    defaultTuning.threshold,
    'Opacity up to this, of 255, becomes full transparency; the rest is stretched. Clears faint leftovers.',
  ),
  feather: decimal(
    0,
    24,
    defaultTuning.feather,
    'Least width of edges, in pixels of the image: harder edges are softened, wider ones stay. 0 leaves all as they are.',
  ),
  foreground_strength: decimal(
    0.5,
    2,
    defaultTuning.foregroundStrength,
    'Above 1 makes translucent parts more solid, below 1 less. From 1 on, wide areas that the network is unsure of become solid or disappear; below 1 they stay translucent, such as glass.',
  ),
});

/**
 * Checks the form and the query, and names every problem at once.
 * @throws InvalidRequestError, or DomainError `missing_file` when that is the only problem
 */
export function readParameters(
  upload: Upload,
  query: object,
): { file: Buffer; fileName: string; tuning: Tuning } {
  const { [fileField]: fileAsText, ...fields } = upload.fields;
  const problems: FieldError[] = Object.keys(query).map((field) => ({
    field,
    message: 'is not read from the query; send it as a field of the form',
  }));
  let tuning = defaultTuning;
  try {
    const parsed = parseRequest(parametersSchema, fields);
    tuning = {
      threshold: parsed.threshold,
      feather: parsed.feather,
      foregroundStrength: parsed.foreground_strength,
    };
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    problems.push(...(error.fields ?? []));
  }
  const { file } = upload;
  const hasFile = file !== undefined && file.bytes.length > 0;
  if (problems.length > 0) {
    throw new InvalidRequestError(
      hasFile ? problems : [...problems, { field: fileField, message: 'is missing' }],
    );
  }
  if (!hasFile) {
    const detail =
      fileAsText === undefined
        ? `The form has no image. Send it in the field "${fileField}".`
        : `The field "${fileField}" is text. Send it as a file, for example with curl -F ${fileField}=@picture.jpg.`;
    throw new DomainError('missing_file', detail);
  }
  return { file: file.bytes, fileName: file.name, tuning };
}
