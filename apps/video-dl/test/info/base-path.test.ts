import { createHttpApp, createLogger, createMetrics } from '@media-services/http-common';
import request from 'supertest';
import { infoHandler } from '../../dist/api/info.js';
import { errorTable } from '../../dist/errors.js';
import type { Extraction } from '../../dist/extract/types.js';
import { format } from '../support/extractions.js';

const extraction: Extraction = {
  id: 'film',
  title: 'Film',
  thumbnail: null,
  durationSeconds: 10,
  uploader: null,
  webpageUrl: 'https://example.com/film',
  extractor: 'generic',
  uploadDate: null,
  description: null,
  playlistIndex: null,
  playlistCount: null,
  items: [],
  section: null,
  suggestedStartSeconds: null,
  formats: [format()],
  selections: { mp3: [format()], 'mp4-720': [format()], 'mp4-1080': [format()], original: [format()] },
  extractedAt: 0,
  expiresAt: 0,
};

it.each(['', '/tools/media'])('the addresses of downloads begin with the base path %p', async (basePath) => {
  const info = infoHandler({
    extraction: { extract: () => Promise.resolve(extraction) },
    planSettings: { maxDurationSeconds: 3600, maxOutputBytes: 1e9, mp4Video: 'copy' },
    basePath,
    streaming: { siteFile: () => Promise.resolve(null) },
  });
  const app = createHttpApp({
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createMetrics({ service: 'test' }),
    trustProxyHops: 0,
    errors: errorTable,
    docsBaseUrl: '',
    routes: (router) => router.get('/api/info', info),
  });

  const response = await request(app).get('/api/info').query({ url: 'https://example.com/film?a=1' });

  const { downloads } = response.body as { downloads: { href: string }[] };
  expect(downloads.map(({ href }) => href)).toEqual([
    `${basePath}/api/stream?url=https%3A%2F%2Fexample.com%2Ffilm%3Fa%3D1`,
    `${basePath}/api/stream/video?url=https%3A%2F%2Fexample.com%2Ffilm%3Fa%3D1&fmt=mp4-720`,
    `${basePath}/api/stream/video?url=https%3A%2F%2Fexample.com%2Ffilm%3Fa%3D1&fmt=mp4-1080`,
  ]);
});
