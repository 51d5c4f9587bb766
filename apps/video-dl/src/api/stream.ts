import { parseRequest, requestContext } from '@media-services/http-common';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { isLanguage } from '../extract/languages.js';
import { parsePageUrl } from '../extract/page-url.js';
import type { StreamRequest } from '../deliver/job.js';
import type { StreamingService } from '../deliver/service.js';
import { audioTargets, mp4ShortSides, mp4Targets } from '../targets.js';
import { chapterError, clipError, endsAfterStart, isOneClip, pageParameters } from './page-parameters.js';

const oneOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const dispositions = ['attachment', 'inline'] as const;

/** How a browser treats the stream. */
const saveParameters = {
  filename: z
    .string({ error: 'must be given once' })
    .min(1, 'must not be empty')
    .max(200, 'must have at most 200 characters')
    .optional()
    .meta({
      maxLength: 200,
      description: "Name of the file, instead of the video's title. Its extension is added if it is missing.",
      examples: ['my-film.mp4'],
    }),
  disposition: z
    .enum(dispositions, { error: `must be ${oneOf.format(dispositions)}` })
    .default('attachment')
    .describe('`inline`: a browser plays the stream instead of saving it.'),
};

const languageError = { error: 'must be a language such as de or pt-BR, or original' };

const languageParameters = {
  lang: z
    .string(languageError)
    .max(40, languageError)
    .refine(isLanguage, languageError)
    .optional()
    .meta({
      maxLength: 40,
      description:
        'Language of the audio (BCP 47), one of `audioLanguages` of `/api/info`; `de` also finds `de-AT`. `original`, the default: what the page plays by itself.',
      examples: ['de', 'pt-BR', 'original'],
    }),
};

export const audioQuery = z
  .strictObject({
    ...pageParameters,
    ...saveParameters,
    ...languageParameters,
    fmt: z
      .enum(audioTargets, { error: `must be ${oneOf.format(audioTargets)}` })
      .default('mp3')
      .describe(
        '`original`: the best audio without re-encoding; `originalAudio` of `/api/info` describes it.',
      ),
  })
  .refine(endsAfterStart, clipError)
  .refine(isOneClip, chapterError);

export const videoQuery = z
  .strictObject({
    ...pageParameters,
    ...saveParameters,
    ...languageParameters,
    fmt: z
      .enum(mp4Targets, { error: `must be ${oneOf.format(mp4Targets)}` })
      .default('mp4-720')
      .describe(
        `Maximum size: the shorter side has at most ${oneOf.format(Object.values(mp4ShortSides).map(String))} pixels. If the page offers nothing that small, you get its smallest video, scaled down only if it has to be re-encoded. See \`height\` and \`estimatedBytes\` of \`/api/info\`.`,
      ),
  })
  .refine(endsAfterStart, clipError)
  .refine(isOneClip, chapterError);

interface StreamContext {
  readonly streaming: StreamingService;
}

/** `GET /api/stream?url=&fmt=` */
export function audioStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    await respond(streaming, req, res, parseRequest(audioQuery, req.query));
  };
}

/** `GET /api/stream/video?url=&fmt=` */
export function videoStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    await respond(streaming, req, res, parseRequest(videoQuery, req.query));
  };
}

async function respond(
  streaming: StreamingService,
  req: Request,
  res: Response,
  query: z.output<typeof audioQuery> | z.output<typeof videoQuery>,
): Promise<void> {
  const context = requestContext(res);
  const url = parsePageUrl(query.url);
  context.note({ host: new URL(url).host, target: query.fmt });
  const request: StreamRequest = {
    url,
    item: query.item,
    language: query.lang,
    target: query.fmt,
    clip: { start: query.start, end: query.end, chapter: query.chapter },
    saveAs: { name: query.filename, isInline: query.disposition === 'inline' },
    range: req.get('range'),
    ifRange: req.get('if-range'),
    ifMatch: req.get('if-match'),
    ifNoneMatch: req.get('if-none-match'),
    client: context.client,
  };
  if (req.method === 'HEAD') {
    const { status, headers } = await streaming.headers(request, context);
    res.status(status).set(headers).end();
    return;
  }
  await streaming.stream(request, res, context);
}
