import type { MediaServicesError } from '../errors.js';

const fileAdvice: Readonly<Record<string, string>> = {
  EACCES: 'Choose a folder that you may write to (-o).',
  EEXIST: 'It is a file, not a folder. Choose another one (-o).',
  EISDIR: 'It is a folder. Choose another name (-o).',
  ENAMETOOLONG: 'Choose a shorter name (-o).',
  ENOSPC: 'Free some space, then run the same command again.',
  ENOTDIR: 'Choose another folder (-o).',
  EROFS: 'Choose a folder that you may write to (-o).',
};

/** Node's message names the file and the reason. */
export function fileMessage(error: Error): string {
  const advice = 'code' in error ? fileAdvice[String(error.code)] : undefined;
  return advice === undefined ? error.message : `${error.message}. ${advice}`;
}

/** The option for a parameter of the HTTP API. */
const optionOf: Readonly<Record<string, string>> = {
  bg_color: '--background',
  crop_margin: '--crop-margin',
  end: '--end',
  image_url: '--url',
  item: '--item',
  max_height: '--max-height',
  max_width: '--max-width',
  start: '--start',
};

/** Replaces messages that name parts of an HTTP request. */
const adviceOf: Readonly<Record<string, string>> = {
  unauthorized: 'This server requires a valid access key. Set it with --key or MEDIA_SERVICES_KEY.',
};

/** The error with the options' names, what to do about it, and what the operator needs to find it. */
export function messageOf({ message, code, requestId, fields }: MediaServicesError): string {
  const reasons = fields.map(({ field, message }) => `${optionOf[field] ?? field} ${message}`);
  const text = reasons.length === 0 ? (adviceOf[code] ?? message) : `${reasons.join('; ')}.`;
  return `${text} (${code}${requestId === undefined ? '' : `, request ${requestId}`})`;
}
