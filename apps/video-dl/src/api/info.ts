import { parseRequest, requestContext } from '@media-services/http-common';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { AppContext } from '../context.js';
import { parseVideoUrl } from '../extract/index.js';
import { describeExtraction } from '../plan/index.js';
import { pageUrlParameter } from './page-url-parameter.js';

export const infoQuery = z.strictObject({ url: pageUrlParameter });

/** `GET /api/info?url=` */
export function infoHandler({ extraction: extractions, planLimits }: AppContext): RequestHandler {
  return async (req, res) => {
    const context = requestContext(res);
    const url = parseVideoUrl(parseRequest(infoQuery, req.query).url);
    context.note({ host: new URL(url).host });
    const extraction = await context.timings.measure('extract', async () =>
      extractions.extract(url, { signal: context.signal }),
    );
    const lifeSeconds = Math.floor((extraction.expiresAt - Date.now()) / 1000);
    res.setHeader('Cache-Control', `private, max-age=${Math.max(0, lifeSeconds)}`);
    res.json(describeExtraction(extraction, url, planLimits));
  };
}
