import { DomainError, requestContext } from '@media-services/http-common';
import contentDisposition from 'content-disposition';
import type { RequestHandler } from 'express';
import { readParameters } from './parameters.js';
import { uploadReader } from './upload.js';
import { removeBackground, type RemoveBackgroundDependencies } from '../remove-background.js';
import { pngFileName } from './png-file-name.js';

export interface RemoveBackgroundRouteOptions extends RemoveBackgroundDependencies {
  readonly maxFileBytes: number;
  readonly timeoutMs: number;
}

/** `POST /api/remove-background`: an image in a form in, a PNG with a transparent background out. */
export function removeBackgroundRoute(options: RemoveBackgroundRouteOptions): RequestHandler {
  const readUpload = uploadReader(options.maxFileBytes);

  return async (req, res) => {
    const context = requestContext(res);
    const { timings } = context;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(timeoutError(options.timeoutMs)), options.timeoutMs);
    res.once('close', () => clearTimeout(timer));
    const signal = AbortSignal.any([context.signal, deadline.signal]);

    const upload = await timings.measure('upload', () => readUpload(req, res, signal));
    const { file, fileName, tuning } = readParameters(upload, req.query);
    const { png, width, height } = await removeBackground(options, {
      file,
      tuning,
      signal,
      onStage: (stage, milliseconds) => timings.set(stage, milliseconds),
    });

    context.note({ width, height, bytesIn: file.length, bytesOut: png.length });
    res.setHeader('Content-Type', 'image/png');
    res.setHeader('Content-Length', String(png.length));
    res.setHeader('Content-Disposition', contentDisposition(pngFileName(fileName)));
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Width', String(width));
    res.setHeader('X-Height', String(height));
    res.end(png);
  };
}

function timeoutError(timeoutMs: number): DomainError {
  return new DomainError(
    'timeout',
    `The image was not done within ${timeoutMs / 1000} s. Try again later, or with a smaller image.`,
  );
}
