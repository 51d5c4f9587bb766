import {
  createOpenApiDocument,
  packageVersion,
  type JsonObject,
  type Operation,
} from '@media-services/http-common';
import { errorTable } from '../errors.js';
import { formats } from '../stream/response.js';
import { infoQuery } from './info.js';
import { audioQuery, videoQuery } from './stream.js';
import { infoSchema } from './info-schema.js';

const streamHeaders = {
  'Content-Disposition': {
    description: 'The title as a file name (RFC 6266).',
    schema: { type: 'string' },
  },
  'Accept-Ranges': {
    description:
      '`bytes` where the length is known before the first byte and the same bytes come every time, so that a download can be resumed.',
    schema: { enum: ['bytes', 'none'] },
  },
  'Content-Length': {
    description: 'Exact; absent where only the end of the stream tells.',
    schema: { type: 'integer', minimum: 0 },
  },
  ETag: {
    description: 'Strong: the same tag means the same bytes. Absent where the site gives no strong one.',
    schema: { type: 'string' },
  },
  'Estimated-Content-Length': {
    description:
      'Bytes that the stream will have, about; absent where unknown, or where `Content-Length` tells.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Content-Duration': {
    description: 'Seconds of media; absent where unknown.',
    schema: { type: 'number', minimum: 0 },
  },
};

const partHeaders = {
  ...streamHeaders,
  'Content-Range': {
    description: 'Which part this is, and the size of the whole.',
    schema: { type: 'string' },
  },
};

const audioTypes = [
  ...new Set(Object.values(formats).flatMap(({ mediaType }) => (mediaType === 'video/mp4' ? [] : mediaType))),
];

const streamDescription =
  'Where the site has exactly this file, its own bytes are sent, with their length and with ranges; the rest is sent while it is made: nothing is stored, and no header goes out before the first byte of media exists. A stream that ends cleanly is complete; one that fails midway resets the connection.';

const operations: readonly Operation[] = [
  {
    path: '/api/info',
    method: 'get',
    operationId: 'getInfo',
    summary: 'What is on a page',
    description:
      'Title, length, formats, and what each download will be. A stream that follows uses the same extraction.',
    query: infoQuery,
    success: {
      description: 'The video of the page.',
      mediaType: 'application/json',
      schema: infoSchema,
      headers: {
        'Cache-Control': {
          description: 'Private, for no longer than the media URLs live.',
          schema: { type: 'string' },
        },
      },
    },
  },
  {
    path: '/api/stream',
    method: 'get',
    operationId: 'streamAudio',
    summary: 'The audio, as MP3 or as the site has it',
    description: `An MP3 has 192 kbit/s and an ID3 tag (title, author, cover); a file that is MP3 already is sent as it is. With \`fmt=original\` the best audio comes without re-encoding: a file of audio (M4A, MP3, Ogg, WebM, FLAC, WAV) as it is, audio inside something else as M4A (AAC, ALAC, AC-3), Ogg (Opus, Vorbis, FLAC) or MP3. ${streamDescription}`,
    query: audioQuery,
    success: { description: 'The audio.', mediaType: audioTypes, headers: streamHeaders },
    partial: { description: 'The requested part.', mediaType: audioTypes, headers: partHeaders },
  },
  {
    path: '/api/stream/video',
    method: 'get',
    operationId: 'streamVideo',
    summary: 'Picture and sound as MP4',
    description: `Fragmented MP4 with its length in the header. What MP4 players play is copied, the rest is converted to H.264 and AAC. ${streamDescription}`,
    query: videoQuery,
    success: { description: 'The MP4.', mediaType: 'video/mp4', headers: streamHeaders },
    partial: { description: 'The part that was asked for.', mediaType: 'video/mp4', headers: partHeaders },
  },
];

/** The OpenAPI 3.1 document of video-dl, from the schemas that validate its requests. */
export function openApiDocument(): JsonObject {
  return createOpenApiDocument({
    service: 'video-dl',
    errors: errorTable,
    title: 'video-dl',
    version: packageVersion(new URL('../../package.json', import.meta.url)),
    description:
      'The URL of a public video page in; JSON details, an MP3 stream or an MP4 stream out. Through the gateway the endpoints are also at `/api/…` without the name of the service; there, 30 requests a minute and 4 streams at once are allowed per client IP.',
    operations,
  });
}
