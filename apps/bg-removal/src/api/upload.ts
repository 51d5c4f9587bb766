import { DomainError, InvalidRequestError } from '@media-services/http-common';
import type { Request, Response } from 'express';
import multer from 'multer';
import { acceptedTypes } from '../images/image-type.js';
import { isCompressed, maxUrlLength } from './fetch-image.js';
import { fileTooLarge, multipartOverheadBytes } from './body-limit.js';

export const fileField = 'file';
export const sentAsText = `is text. Send it as a file, for example with curl -F ${fileField}=@picture.jpg`;

/** A parsed form: the file, if any, and the unvalidated text fields. */
export interface Upload {
  readonly file: { readonly bytes: Buffer; readonly name: string } | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

const limits = {
  fieldNameSize: 100,
  fieldSize: maxUrlLength,
  fields: 20,
  files: 1,
  parts: 21,
  headerPairs: 20,
  fieldNestingDepth: 0,
};

/** Reads multipart forms into memory, with limits on everything that the client controls. */
export function uploadReader(
  maxFileBytes: number,
): (req: Request, res: Response, signal: AbortSignal) => Promise<Upload> {
  const parse = multer({
    storage: multer.memoryStorage(),
    limits: { ...limits, fileSize: maxFileBytes },
    defParamCharset: 'utf8',
  }).single(fileField);

  return async (req, res, signal) => {
    if (req.headers['content-type'] === undefined) return { file: undefined, fields: {} };
    if (req.is('multipart/form-data') === false) {
      throw new DomainError(
        'unsupported_media_type',
        `The body must be multipart/form-data with the image in the field "${fileField}" (${acceptedTypes}).`,
      );
    }
    const encoding = req.headers['content-encoding'];
    if (isCompressed(encoding)) {
      throw new DomainError(
        'unsupported_media_type',
        `The body is compressed (Content-Encoding: ${encoding}). Send it uncompressed.`,
      );
    }
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
    const { file } = req;
    // The request stays in memory until its response is sent; the upload doesn't have to.
    delete req.file;
    return {
      file: file && { bytes: file.buffer, name: file.originalname },
      fields: (req.body ?? {}) as Record<string, unknown>,
    };
  };
}

function toDomainError(error: unknown, maxFileBytes: number): DomainError {
  if (!(error instanceof multer.MulterError)) {
    return new InvalidRequestError(
      [{ field: 'body', message: 'is not a complete multipart/form-data body' }],
      'The body is not a complete multipart/form-data body. Let your HTTP client build it.',
    );
  }
  const field = error.field ?? 'body';
  const invalid = (message: string, name = field): DomainError =>
    new InvalidRequestError([{ field: name, message }]);
  switch (error.code) {
    case 'LIMIT_FILE_SIZE':
      return fileTooLarge(maxFileBytes);
    case 'LIMIT_FILE_COUNT':
      return invalid('must be the only file', fileField);
    case 'LIMIT_UNEXPECTED_FILE':
      return invalid(
        field === fileField
          ? 'must be given once'
          : `is not a file of this endpoint; send the image as "${fileField}"`,
      );
    case 'LIMIT_FIELD_KEY':
      return invalid(`has a name of more than ${limits.fieldNameSize} bytes`);
    case 'LIMIT_FIELD_VALUE':
      return invalid(field === fileField ? sentAsText : `has a value of more than ${limits.fieldSize} bytes`);
    case 'LIMIT_FIELD_COUNT':
    case 'LIMIT_PART_COUNT':
      return invalid('has too many parts', 'body');
    case 'MISSING_FIELD_NAME':
      return invalid('has a part without a name', 'body');
    default:
      return invalid('has a part with an invalid name');
  }
}
