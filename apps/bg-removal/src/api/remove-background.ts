import type { Guard } from '@media-services/egress-guard';
import { contentDisposition, DomainError, requestContext, withDeadline } from '@media-services/http-common';
import type { Request, RequestHandler, Response } from 'express';
import { formats } from '../images/output.js';
import {
  removeBackground,
  type CutOutImage,
  type RemoveBackgroundDependencies,
} from '../remove-background.js';
import { withMinRate, type MinRate, multipartOverheadBytes } from './body-limit.js';
import { ByteBudget } from './byte-budget.js';
import { fetchImage, type FetchedImage } from './fetch-image.js';
import { readParameters } from './parameters.js';
import { countFailures, excuseFailures } from './refused-before-work.js';
import { outputFileName, sendBytes } from './send-bytes.js';
import { uploadReader } from './upload.js';

export interface RemoveBackgroundRouteOptions extends RemoveBackgroundDependencies {
  readonly maxFileBytes: number;
  /** Time from the first byte of the request to the first byte of the response. */
  readonly requestTimeoutMs: number;
  /** Time from the first to the last byte of the response. */
  readonly responseTimeoutMs: number;
  /** Minimum rate of the upload and of the response. */
  readonly minRate: MinRate;
  /** Limits for the bytes of incoming uploads and outgoing results in memory. */
  readonly maxUploadingBytes: number;
  readonly maxSendingBytes: number;
  /** The guard for `image_url`; undefined if URLs are disabled. */
  readonly guard: Guard | undefined;
}

/** `POST /api/remove-background`: takes an image in a form and returns its cut-out. */
export function removeBackgroundRoute(options: RemoveBackgroundRouteOptions): RequestHandler {
  const transfers = imageTransfers(options);

  return async (req, res) => {
    const context = requestContext(res);
    const { client, timings } = context;
    const deadline = (timeoutMs: number) => ({
      timeoutMs,
      signal: context.signal,
      late: () => timeoutError(timeoutMs),
    });
    // Reject before the upload rather than after it.
    options.turns.assertRoom(client);

    const made = await withDeadline(deadline(options.requestTimeoutMs), async (signal) => {
      const upload = await timings.measure('upload', () =>
        excuseFailures(() => transfers.receive(req, res, client, signal)),
      );
      const { source, tuning, output } = readParameters(upload, req.query, options.guard !== undefined);
      const cutOut = async ({ bytes: file, name: fileName }: FetchedImage) => {
        const onStage = (stage: string, milliseconds: number) => timings.add(stage, milliseconds);
        const image = await removeBackground(options, { client, file, tuning, output, signal, onStage });
        return { ...image, fileName, bytesIn: file.length };
      };
      if (!('url' in source)) return cutOut(source);
      const { url } = source;
      // Check before fetching, while failures don't count yet.
      options.turns.assertRoom(client);
      options.engine.assertReady();
      return countFailures(async () => {
        context.note({ host: new URL(url).host });
        return cutOut(await timings.measure('fetch', () => transfers.fetch(url, client, signal)));
      });
    });

    const { bytes, width, height } = made.image;
    context.note({ width, height, bytesIn: made.bytesIn, bytesOut: bytes.length });
    setImageHeaders(res, made);
    await withDeadline(deadline(options.responseTimeoutMs), (signal) =>
      transfers.send(res, bytes, client, signal),
    );
  };
}

/** Moves the bytes of images. Every transfer has a minimum rate, and its memory counts for the client. */
function imageTransfers({ guard, maxFileBytes, minRate, ...options }: RemoveBackgroundRouteOptions) {
  const readUpload = uploadReader(maxFileBytes);
  // Separate from the turns, because a slow transfer holds memory but must never block a process.
  const uploading = new ByteBudget(options.maxUploadingBytes);
  const sending = new ByteBudget(options.maxSendingBytes);
  return {
    receive(req: Request, res: Response, client: string, signal: AbortSignal) {
      const { socket } = req;
      return uploading.run(client, uploadBytes(req, maxFileBytes), signal, (kept) =>
        withMinRate(
          minRate,
          () => socket.bytesRead,
          kept,
          (paced) => readUpload(req, res, paced),
        ),
      );
    },
    fetch(url: string, client: string, signal: AbortSignal) {
      if (guard === undefined) throw new Error('image_url is disabled');
      return uploading.run(client, maxFileBytes, signal, (kept) =>
        fetchImage(url, { guard, client, maxFileBytes, minRate, signal: kept }),
      );
    },
    send(res: Response, bytes: Uint8Array, client: string, signal: AbortSignal) {
      let taken = 0;
      return sending.run(client, bytes.length, signal, (kept) =>
        withMinRate(
          minRate,
          () => taken,
          kept,
          (paced) => sendBytes(res, bytes, paced, (sent) => (taken = sent)),
        ),
      );
    },
  };
}

function setImageHeaders(
  res: Response,
  { image, subject, fileName }: CutOutImage & { readonly fileName: string },
): void {
  res.setHeader('Content-Type', formats[image.format].mediaType);
  res.setHeader('Content-Length', String(image.bytes.length));
  res.setHeader('Content-Disposition', contentDisposition(outputFileName(fileName, image.format)));
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Width', String(image.width));
  res.setHeader('X-Height', String(image.height));
  res.setHeader('X-Foreground-Left', String(subject.left));
  res.setHeader('X-Foreground-Top', String(subject.top));
  res.setHeader('X-Foreground-Width', String(subject.width));
  res.setHeader('X-Foreground-Height', String(subject.height));
}

/** The maximum memory of an upload, including its connection. */
function uploadBytes(req: Request, maxFileBytes: number): number {
  const announced = Number(req.headers['content-length'] ?? Infinity);
  return Math.min(announced, maxFileBytes) + multipartOverheadBytes;
}

function timeoutError(timeoutMs: number): DomainError {
  return new DomainError(
    'timeout',
    `The image was not finished within ${timeoutMs / 1000} s. Try again later or with a smaller image.`,
  );
}
