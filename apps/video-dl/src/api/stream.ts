import { parseRequest, requestContext } from '@media-services/http-common';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { parsePageUrl } from '../extract/index.js';
import type { StreamRequest } from '../stream/job.js';
import type { StreamingService } from '../stream/service.js';
import { clipError, endsAfterStart, pageParameters } from './page-parameters.js';

export const audioQuery = z
  .strictObject({
    ...pageParameters,
    fmt: z
      .enum(['mp3', 'original'], { error: 'must be mp3 or original' })
      .default('mp3')
      .describe(
        '`original`: the best audio as the site has it, without re-encoding; `originalAudio` of `/api/info` says what that is.',
      ),
  })
  .refine(endsAfterStart, clipError);

export const videoQuery = z
  .strictObject({
    ...pageParameters,
    fmt: z
      .enum(['mp4-720', 'mp4-1080'], { error: 'must be mp4-720 or mp4-1080' })
      .default('mp4-720')
      .describe(
        'Largest picture: the shorter side has at most 720 or 1080 pixels. Where the page offers nothing that small, the smallest it has is sent, scaled down where it is encoded anew: `height` and `estimatedBytes` of `/api/info` tell what comes.',
      ),
  })
  .refine(endsAfterStart, clipError);

interface StreamContext {
  readonly streaming: StreamingService;
}

/** `GET /api/stream?url=&fmt=` */
export function audioStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    const { url, item, fmt, ...clip } = parseRequest(audioQuery, req.query);
    await answer(streaming, req, res, { url: parsePageUrl(url), item, clip, target: fmt });
  };
}

/** `GET /api/stream/video?url=&fmt=` */
export function videoStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    const { url, item, fmt, ...clip } = parseRequest(videoQuery, req.query);
    await answer(streaming, req, res, { url: parsePageUrl(url), item, clip, target: fmt });
  };
}

async function answer(
  streaming: StreamingService,
  req: Request,
  res: Response,
  asked: Pick<StreamRequest, 'url' | 'item' | 'clip' | 'target'>,
): Promise<void> {
  const context = requestContext(res);
  context.note({ host: new URL(asked.url).host, target: asked.target });
  const request: StreamRequest = {
    ...asked,
    range: req.get('range'),
    ifRange: req.get('if-range'),
    client: req.ip ?? 'unknown',
  };
  if (req.method === 'HEAD') {
    res.set(await streaming.headers(request, context)).end();
    return;
  }
  await streaming.stream(request, res, context);
}
