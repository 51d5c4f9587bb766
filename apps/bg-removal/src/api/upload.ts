import { DomainError, InvalidRequestError } from '@media-services/http-common';
import type { Request, Response } from 'express';
import multer from 'multer';
import { acceptedTypes, hasImageSignature } from '../images/image-type.js';
import { isCompressed, maxUrlLength } from './fetch-image.js';
import { fileTooLarge, multipartOverheadBytes } from './body-limit.js';

export const fileField = 'file';
export const sentAsText = `is text. Send it as a file, for example with curl -F ${fileField}=@picture.jpg`;

/** What a client sent: the file, if any, and the unvalidated text fields. */
export interface Upload {
  readonly file: { readonly bytes: Buffer; readonly name: string } | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether it is a form. Otherwise the parameters are in the query. */
  readonly isForm: boolean;
}

const limits = {
  fieldNameSize: 100,
  fields: 20,
  // Web forms send an empty file for each input that nobody has used.
  files: 4,
  parts: 24,
  headerPairs: 20,
  fieldNestingDepth: 0,
};

/** Reads uploads into memory, with limits on everything that the client controls. */
export function uploadReader(
  maxFileBytes: number,
): (req: Request, res: Response, signal: AbortSignal) => Promise<Upload> {
  const readForm = formReader(maxFileBytes);
  return async (req, res, signal) => {
    if (req.headers['content-type'] === undefined) return { file: undefined, fields: {}, isForm: false };
    const isForm = req.is('multipart/form-data') !== false;
    if (!isForm && req.is(['image/*', 'application/octet-stream']) === false) {
      throw new DomainError(
        'unsupported_media_type',
        `The body must be multipart/form-data with the image in the field "${fileField}", or the image itself with its type in Content-Type (${acceptedTypes}).`,
      );
    }
    const encoding = req.headers['content-encoding'];
    if (isCompressed(encoding)) {
      throw new DomainError(
        'unsupported_media_type',
        `The body is compressed (Content-Encoding: ${encoding}). Send it uncompressed.`,
      );
    }
    if (isForm) return readForm(req, res, signal);
    return { file: { bytes: await readBody(req, maxFileBytes, signal), name: '' }, fields: {}, isForm };
  };
}

/** Reads a body that is the image itself. */
async function readBody(req: Request, maxFileBytes: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const read = new AbortController();
  let keep = (_chunk: Buffer): void => undefined;
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: read.signal });
    keep = (chunk) => {
      length += chunk.length;
      if (length > maxFileBytes) reject(fileTooLarge(maxFileBytes));
      else chunks.push(chunk);
    };
    req.on('data', keep);
    req.once('end', resolve);
    req.once('close', () => reject(new InvalidRequestError([{ field: 'body', message: 'is incomplete' }])));
  }).finally(() => {
    read.abort();
    req.off('data', keep);
  });
  return Buffer.concat(chunks, length);
}

function formReader(
  maxFileBytes: number,
): (req: Request, res: Response, signal: AbortSignal) => Promise<Upload> {
  const parse = multer({
    storage: multer.memoryStorage(),
    // A file without a name arrives as a text field.
    limits: { ...limits, fileSize: maxFileBytes, fieldSize: maxFileBytes },
    defParamCharset: 'utf8',
    defCharset: 'latin1',
    streamHandler: (req, busboy) => {
      busboy.prependListener('file', nameFile);
      req.pipe(busboy);
    },
  }).any();

  return async (req, res, signal) => {
    const read = new AbortController();
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: read.signal });
      let received = 0;
      req.on('data', (chunk: Buffer) => {
        received += chunk.length;
        // For a body without Content-Length: multer would read it to the end before it reports an
        // error.
        if (received > maxFileBytes + multipartOverheadBytes) reject(fileTooLarge(maxFileBytes));
      });
      parse(req, res, (error: unknown) => {
        if (error === undefined || error === null) resolve();
        else reject(toDomainError(error, maxFileBytes));
      });
      // Node keeps a combined signal, and with it the request and its file, in memory while it
      // has listeners.
    }).finally(() => read.abort());
    const files = Array.isArray(req.files) ? req.files : [];
    // The request stays in memory until its response is sent; the upload doesn't have to.
    delete req.files;
    return { ...uploadOf(files, (req.body ?? {}) as Record<string, unknown>), isForm: true };
  };
}

/** Multer drops files without a name, as several HTTP clients send bytes. */
function nameFile(field: string, _stream: unknown, info: { filename?: string }): void {
  if (field === fileField) info.filename ??= unnamed;
}
const unnamed = 'image';

/** @throws InvalidRequestError for a second file, a file in another field, or a long text */
function uploadOf(
  files: readonly Express.Multer.File[],
  parts: Readonly<Record<string, unknown>>,
): Omit<Upload, 'isForm'> {
  const filled = files.filter(({ size }) => size > 0);
  const stray = filled.find(({ fieldname }) => fieldname !== fileField);
  if (stray !== undefined) throw strayFile(stray.fieldname);
  const { [fileField]: text, ...rest } = parts;
  const asText = typeof text === 'string' ? Buffer.from(text, 'latin1') : undefined;
  const isImage = asText !== undefined && hasImageSignature(asText);
  if (filled.length + Number(isImage) > 1) throw invalid(fileField, 'must be given once');
  const [file = files.find(({ fieldname }) => fieldname === fileField)] = filled;
  const fields = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, fieldText(name, value)]),
  );
  if (isImage) return { file: { bytes: asText, name: unnamed }, fields };
  return {
    file: file && { bytes: file.buffer, name: file.originalname },
    fields: text === undefined ? fields : { ...fields, [fileField]: text },
  };
}

/** Texts were read byte by byte; without a stated charset they are UTF-8. */
function fieldText(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => fieldText(name, each));
  if (typeof value !== 'string') return value;
  if (value.length > maxUrlLength) throw longText(name);
  return /^[\0-\xff]*$/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}

function invalid(field: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ field, message }]);
}

function strayFile(field: string): InvalidRequestError {
  return invalid(field, `is not a file of this endpoint; send the image as "${fileField}"`);
}

function longText(field: string): InvalidRequestError {
  return invalid(field, field === fileField ? sentAsText : `has a value of more than ${maxUrlLength} bytes`);
}

function toDomainError(error: unknown, maxFileBytes: number): DomainError {
  if (!(error instanceof multer.MulterError)) {
    return new InvalidRequestError(
      [{ field: 'body', message: 'is not a complete multipart/form-data body' }],
      'The body is not a complete multipart/form-data body. Let your HTTP client build it.',
    );
  }
  const field = error.field ?? 'body';
  switch (error.code) {
    case 'LIMIT_FILE_SIZE':
      return fileTooLarge(maxFileBytes);
    case 'LIMIT_UNEXPECTED_FILE':
      return strayFile(field);
    case 'LIMIT_FIELD_KEY':
      return invalid(field, `has a name of more than ${limits.fieldNameSize} bytes`);
    case 'LIMIT_FIELD_VALUE':
      return longText(field);
    case 'LIMIT_FILE_COUNT':
    case 'LIMIT_FIELD_COUNT':
    case 'LIMIT_PART_COUNT':
      return invalid('body', 'has too many parts');
    case 'MISSING_FIELD_NAME':
      return invalid('body', 'has a part without a name');
    default:
      return invalid(field, 'has a part with an invalid name');
  }
}
