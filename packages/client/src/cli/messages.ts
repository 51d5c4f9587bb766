import { isRecord, type MediaServicesError } from '../errors.js';

const writable = 'Choose a folder that you may write to (-o).';
const freeSpace = 'Free some space, then run the same command again.';

const fileAdvice: Readonly<Record<string, string>> = {
  EACCES: writable,
  EDQUOT: freeSpace,
  EEXIST: 'It is a file, not a folder. Choose another one (-o).',
  EISDIR: 'It is a folder. Choose another name (-o).',
  EFBIG: 'This disk has a limit for the size of a file. Choose a folder on another one (-o).',
  ENAMETOOLONG: 'Choose a shorter name (-o).',
  ENOSPC: freeSpace,
  ENOTDIR: 'Choose another folder (-o).',
  EPERM: writable,
  EROFS: writable,
};

/** Node's message names the file and the reason. */
export function fileMessage(error: Error): string {
  const advice = 'code' in error ? fileAdvice[String(error.code)] : undefined;
  return advice === undefined ? error.message : `${error.message}. ${advice}`;
}

/** The option for a parameter of the HTTP API. */
export const optionOf: Readonly<Record<string, string>> = {
  bg_color: '--background',
  chapter: '--chapter',
  crop_margin: '--crop-margin',
  end: '--end',
  image_url: '--url',
  item: '--item',
  lang: '--lang',
  max_height: '--max-height',
  max_width: '--max-width',
  start: '--start',
  subtitles: '--subtitles',
};

/** Replaces messages that name parts of an HTTP request. */
const adviceOf: Readonly<Record<string, string>> = {
  unauthorized: 'This server requires a valid access key. Set it with --key or MEDIA_SERVICES_KEY.',
};

const untrusted =
  "This computer doesn't trust the server's certificate. If it is your own server, save its certificate (or that of its authority) as a PEM file and set NODE_EXTRA_CA_CERTS to the path of that file.";

/** Whether TLS failed because of the certificate's issuer. fetch's error has the reason in its cause. */
function isUntrusted(cause: unknown): boolean {
  if (!isRecord(cause)) return false;
  const code = typeof cause.code === 'string' ? cause.code : '';
  return /SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code) || isUntrusted(cause.cause);
}

/** The error with the options' names, what to do about it, and what the operator needs to find it. */
export function messageOf({ message, code, requestId, fields, cause }: MediaServicesError): string {
  if (isUntrusted(cause)) return untrusted;
  const reasons = fields.map(({ field, message }) => `${optionOf[field] ?? field} ${message}`);
  const text = reasons.length === 0 ? (adviceOf[code] ?? message) : `${reasons.join('; ')}.`;
  return `${text} (${code}${requestId === undefined ? '' : `, request ${requestId}`})`;
}
