import { parseRequest, requestContext } from '@media-services/http-common';
import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { isLanguage } from '../extract/languages.js';
import { parsePageUrl } from '../extract/page-url.js';
import type { StreamRequest } from '../deliver/job.js';
import { dispositionOf } from '../deliver/response.js';
import type { StreamingService } from '../deliver/service.js';
import { writeSubRip, writeWebVtt } from '../formats/subtitles/webvtt.js';
import { audioTargets, mp4ShortSides, mp4Targets, type Target } from '../targets.js';
import { pageParameters, withOneClip } from './page-parameters.js';

const oneOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const dispositions = ['attachment', 'inline'] as const;

const languageError = { error: 'must be a language such as de or pt-BR, or original' };

/** Languages of one response, each read from the site. */
const maxSubtitles = 5;
const subtitlesError = { error: `must be one to ${maxSubtitles} languages, separated by commas` };

const streamParameters = {
  ...pageParameters,
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
  subtitles: z
    .string(subtitlesError)
    .max(200, subtitlesError)
    .transform((text) => text.split(','))
    .pipe(z.array(z.string().refine(isLanguage, languageError)).max(maxSubtitles, subtitlesError))
    .optional()
    .meta({
      type: 'string',
      maxLength: 200,
      description:
        'Languages of subtitles, separated by commas; see `subtitles` of `/api/info`. An MP4 gets a track of text for each, which the viewer switches on. `/api/stream` takes one, with `fmt=vtt` or `srt`.',
      examples: ['de', 'de,en'],
    }),
};

/** Subtitles alone. */
const textFormats = {
  vtt: { mediaType: 'text/vtt; charset=utf-8', write: writeWebVtt },
  srt: { mediaType: 'application/x-subrip; charset=utf-8', write: writeSubRip },
} as const;
type TextFormat = keyof typeof textFormats;
const audioFormats = [...audioTargets, ...(Object.keys(textFormats) as TextFormat[])] as const;

function isText(fmt: string): fmt is TextFormat {
  return fmt in textFormats;
}

export const audioQuery = withOneClip(
  z.strictObject({
    ...streamParameters,
    fmt: z
      .enum(audioFormats, { error: `must be ${oneOf.format(audioFormats)}` })
      .default('mp3')
      .describe(
        '`original`: the best audio without re-encoding; `originalAudio` of `/api/info` describes it. `vtt`, `srt`: the subtitles in the language `subtitles`, without the audio.',
      ),
  }),
).refine(({ fmt, subtitles }) => subtitles?.length === (isText(fmt) ? 1 : undefined), {
  path: ['subtitles'],
  error: 'must be one language for vtt or srt, and absent for audio',
});

export const videoQuery = withOneClip(
  z.strictObject({
    ...streamParameters,
    fmt: z
      .enum(mp4Targets, { error: `must be ${oneOf.format(mp4Targets)}` })
      .default('mp4-720')
      .describe(
        `Maximum size: the shorter side has at most ${oneOf.format(Object.values(mp4ShortSides).map(String))} pixels. If the page offers nothing that small, you get its smallest video, scaled down only if it has to be re-encoded. See \`height\` and \`estimatedBytes\` of \`/api/info\`.`,
      ),
  }),
);

interface StreamContext {
  readonly streaming: StreamingService;
}

/** `GET /api/stream?url=&fmt=` */
export function audioStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    const { fmt, ...query } = parseRequest(audioQuery, req.query);
    if (isText(fmt)) await respondText(streaming, req, res, fmt, query);
    else await respond(streaming, req, res, { ...query, fmt });
  };
}

/** `GET /api/stream/video?url=&fmt=` */
export function videoStreamHandler({ streaming }: StreamContext): RequestHandler {
  return async (req, res) => {
    await respond(streaming, req, res, parseRequest(videoQuery, req.query));
  };
}

type Query<Fmt> = Omit<z.output<typeof videoQuery>, 'fmt'> & { readonly fmt: Fmt };

function requestOf<Fmt extends Target>(req: Request, query: Query<Fmt>, client: string): StreamRequest {
  return {
    url: parsePageUrl(query.url),
    item: query.item,
    language: query.lang,
    ...(query.subtitles !== undefined && { subtitles: query.subtitles }),
    target: query.fmt,
    clip: { start: query.start, end: query.end, chapter: query.chapter },
    saveAs: { name: query.filename, isInline: query.disposition === 'inline' },
    range: req.get('range'),
    ifRange: req.get('if-range'),
    ifMatch: req.get('if-match'),
    ifNoneMatch: req.get('if-none-match'),
    client,
  };
}

async function respondText(
  streaming: StreamingService,
  req: Request,
  res: Response,
  fmt: TextFormat,
  query: Omit<Query<never>, 'fmt'>,
): Promise<void> {
  const context = requestContext(res);
  // The language of the audio doesn't matter.
  const request = requestOf(req, { ...query, lang: undefined, fmt: 'mp3' }, context.client);
  context.note({ host: new URL(request.url).host, target: fmt });
  const { id, title, language, cues } = await streaming.subtitles(request, context);
  const { mediaType, write } = textFormats[fmt];
  res
    .set({
      'Content-Type': mediaType,
      'Content-Disposition': dispositionOf({ id, title: `${title}.${language}` }, fmt, request.saveAs),
      'Cache-Control': 'no-store',
    })
    .send(write(cues));
}

async function respond(
  streaming: StreamingService,
  req: Request,
  res: Response,
  query: Query<Target>,
): Promise<void> {
  const context = requestContext(res);
  const request = requestOf(req, query, context.client);
  context.note({ host: new URL(request.url).host, target: query.fmt });
  if (req.method === 'HEAD') await streaming.head(request, res, context);
  else await streaming.stream(request, res, context);
}
