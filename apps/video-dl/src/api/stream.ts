import { parseRequest, requestContext } from '@media-services/http-common';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { parsePageUrl } from '../extract/page-url.js';
import type { StreamRequest } from '../deliver/job.js';
import type { StreamingService } from '../deliver/service.js';
import { audioTargets, mp4ShortSides, mp4Targets } from '../targets.js';
import { clipError, endsAfterStart, pageParameters } from './page-parameters.js';

const oneOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export const audioQuery = z
  .strictObject({
    ...pageParameters,
    fmt: z
      .enum(audioTargets, { error: `must be ${oneOf.format(audioTargets)}` })
      .default('mp3')
      .describe(
        '`original`: the best audio without re-encoding; `originalAudio` of `/api/info` describes it.',
      ),
  })
  .refine(endsAfterStart, clipError);

export const videoQuery = z
  .strictObject({
    ...pageParameters,
    fmt: z
      .enum(mp4Targets, { error: `must be ${oneOf.format(mp4Targets)}` })
      .default('mp4-720')
      .describe(
        `Maximum size: the shorter side has at most ${oneOf.format(Object.values(mp4ShortSides).map(String))} pixels. If the page offers nothing that small, you get its smallest video, scaled down only if it has to be re-encoded. See \`height\` and \`estimatedBytes\` of \`/api/info\`.`,
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
    await respond(streaming, req, res, { url: parsePageUrl(url), item, clip, target: fmt });
  };
}

/** `GET /api/stream/video?url=&fmt=` */
export function videoStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    const { url, item, fmt, ...clip } = parseRequest(videoQuery, req.query);
    await respond(streaming, req, res, { url: parsePageUrl(url), item, clip, target: fmt });
  };
}

async function respond(
  streaming: StreamingService,
  req: Request,
  res: Response,
  requested: Pick<StreamRequest, 'url' | 'item' | 'clip' | 'target'>,
): Promise<void> {
  const context = requestContext(res);
  context.note({ host: new URL(requested.url).host, target: requested.target });
  const request: StreamRequest = {
    ...requested,
    range: req.get('range'),
    ifRange: req.get('if-range'),
    client: context.client,
  };
  if (req.method === 'HEAD') {
    res.set(await streaming.headers(request, context)).end();
    return;
  }
  await streaming.stream(request, res, context);
}
