import { parseRequest, requestContext } from '@media-services/http-common';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { parseVideoUrl, type Target } from '../extract/index.js';
import type { StreamingService } from '../stream/service.js';
import { pageUrlParameter } from './page-url-parameter.js';

export const audioQuery = z.strictObject({ url: pageUrlParameter });

export const videoQuery = z.strictObject({
  url: pageUrlParameter,
  fmt: z
    .enum(['mp4-720', 'mp4-1080'], { error: 'must be mp4-720 or mp4-1080' })
    .default('mp4-720')
    .describe(
      'Largest picture: the shorter side has at most 720 or 1080 pixels. Where the page offers nothing that small, the smallest it has is sent: `height` and `estimatedBytes` of `/api/info` tell what comes.',
    ),
});

interface StreamContext {
  readonly streaming: StreamingService;
}

/** `GET /api/stream?url=` */
export function audioStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    const query = parseRequest(audioQuery, req.query);
    await answer(streaming, req, res, query.url, 'mp3');
  };
}

/** `GET /api/stream/video?url=&fmt=` */
export function videoStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    const query = parseRequest(videoQuery, req.query);
    await answer(streaming, req, res, query.url, query.fmt);
  };
}

async function answer(
  streaming: StreamingService,
  req: Request,
  res: Response,
  rawUrl: string,
  target: Target,
): Promise<void> {
  const context = requestContext(res);
  const pageUrl = parseVideoUrl(rawUrl);
  context.note({ host: new URL(pageUrl).host, target });
  if (req.method === 'HEAD') {
    res.set(await streaming.headers(pageUrl, target, context)).end();
    return;
  }
  await streaming.stream(pageUrl, target, res, context);
}
