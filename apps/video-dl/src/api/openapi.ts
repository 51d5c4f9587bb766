import type { ApiDescription, Operation } from '@media-services/http-common';
import { errorTable } from '../errors.js';
import { formats } from '../deliver/response.js';
import { infoQuery } from './info.js';
import { audioQuery, videoQuery } from './stream.js';
import { infoSchema } from './info-schema.js';

const text = (description: string) => ({ description, schema: { type: 'string' } });
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

const streamHeaders = {
  'Content-Disposition': text('The title as a file name (RFC 6266).'),
  'Accept-Ranges': {
    description:
      '`bytes` if the download can be resumed: its length is known in advance and every request gets the same bytes.',
    schema: { type: 'string', enum: ['bytes', 'none'] },
  },
  'Content-Length': count('Exact; absent if unknown before the end of the stream.'),
  ETag: text('Strong: the same tag means the same bytes. Absent if the site provides no strong tag.'),
  'Estimated-Content-Length': count(
    'Approximate size of the stream in bytes; absent if unknown or if `Content-Length` is present.',
  ),
  'X-Content-Duration': {
    description: 'Duration in seconds; absent if unknown.',
    schema: { type: 'number', minimum: 0 },
  },
  'Cache-Control': text('Always `no-store`.'),
};

const partHeaders = {
  ...streamHeaders,
  'Content-Range': text('The position of this part and the size of the whole file.'),
};

const audioTypes = [
  ...new Set(Object.values(formats).flatMap(({ mediaType }) => (mediaType === 'video/mp4' ? [] : mediaType))),
];

const streamDescription =
  "If the site's own file is already what you requested, it is sent unchanged, with its length and range support. A clip that can be copied from an MP4 file has them too. Everything else is sent while it is generated. Nothing is stored, and no header is sent before the first byte of media exists. A stream that ends cleanly is complete; a stream that fails midway resets the connection.";

const operations: readonly Operation[] = [
  {
    path: '/api/info',
    method: 'get',
    operationId: 'getInfo',
    summary: 'What is on a page',
    description:
      'Title, duration, formats, and details of each download. A later stream request reuses this extraction.',
    query: infoQuery,
    success: {
      description: 'The video of the page.',
      mediaType: 'application/json',
      schema: infoSchema,
      headers: { 'Cache-Control': text('Private, at most as long as the media URLs are valid.') },
    },
  },
  {
    path: '/api/stream',
    method: 'get',
    operationId: 'streamAudio',
    summary: 'The audio, as MP3 or without re-encoding',
    description: `An MP3 has 192 kbit/s and an ID3 tag (title, author, cover). A file that is already MP3 is sent unchanged. With \`fmt=original\` you get the best audio without re-encoding: an audio file (M4A, MP3, Ogg, WebM, FLAC, WAV) is sent unchanged, and audio from any other file is sent as M4A (AAC, ALAC, AC-3), Ogg (Opus, Vorbis, FLAC) or MP3, with title, author and cover. A clip of it is M4A, and needs AAC in an M4A or MP4 file with an index of its samples. With \`fmt=vtt\` or \`srt\` you get subtitles as plain text, without markup. ${streamDescription}`,
    query: audioQuery,
    success: {
      description: 'The audio, or the subtitles.',
      mediaType: [...audioTypes, 'text/vtt', 'application/x-subrip'],
      headers: streamHeaders,
    },
    partial: { description: 'The requested part.', mediaType: audioTypes, headers: partHeaders },
  },
  {
    path: '/api/stream/video',
    method: 'get',
    operationId: 'streamVideo',
    summary: 'Video and audio as MP4',
    description: `Fragmented MP4 with its duration in the header. Codecs that MP4 players support are copied, others are converted to H.264 and AAC. ${streamDescription}`,
    query: videoQuery,
    success: { description: 'The MP4.', mediaType: 'video/mp4', headers: streamHeaders },
    partial: { description: 'The requested part.', mediaType: 'video/mp4', headers: partHeaders },
  },
];

/** The API of video-dl, from the schemas that validate its requests. */
export const api: ApiDescription = {
  tag: {
    name: 'Videos',
    description:
      'What is on a public video page, and its audio and video as streams (video-dl). By default 30 requests per minute and 4 concurrent streams per client IP.',
  },
  errors: errorTable,
  operations,
};
