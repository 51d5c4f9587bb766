import { createConfig, lintFromString } from '@redocly/openapi-core';
import { parse } from 'yaml';
import { z } from 'zod';
import { documentedErrors } from '../../src/errors/documented-errors.js';
import { generatedFiles } from '../../src/generated-files.js';
import { openApiDocument } from '../../src/openapi/document.js';
import { fileURLToPath } from 'node:url';

const built = await generatedFiles(fileURLToPath(new URL('../../..', import.meta.url)));
const text = built.get('html/docs/openapi.json') ?? '';

const response = z.looseObject({
  description: z.string(),
  headers: z.record(z.string(), z.unknown()).default({}),
  content: z
    // A text has no schema.
    .record(
      z.string(),
      z.looseObject({ schema: z.looseObject({}).optional(), examples: z.looseObject({}).default({}) }),
    )
    .default({}),
});
const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).length(1),
  responses: z.record(z.string(), response),
});
const document = z
  .looseObject({
    paths: z.record(z.string(), z.record(z.string(), operation)),
    components: z.looseObject({
      schemas: z.record(z.string(), z.looseObject({})),
      examples: z.record(z.string(), z.unknown()),
    }),
  })
  .parse(JSON.parse(text));
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

describe('the OpenAPI document', () => {
  it('describes every endpoint of the gateway once', () => {
    expect(Object.keys(document.paths)).toEqual([
      ...['/api/info', '/api/stream', '/api/stream/video', '/api/remove-background', '/api/health'],
    ]);
    expect(operations.map(({ operationId }) => operationId)).toEqual([
      ...['getInfo', 'streamAudio', 'streamVideo', 'removeBackground', 'getHealth'],
    ]);
  });

  it('calls its schemas what people call them, and has one schema for all errors', () => {
    expect(Object.keys(document.components.schemas)).toEqual([
      ...[
        'AudioLanguage',
        'Chapter',
        'Clip',
        'Download',
        'Format',
        'Health',
        'HealthCheck',
        'InvalidField',
        'OriginalAudio',
        'PageItem',
      ],
      ...['Problem', 'ServiceHealth', 'Subtitles', 'VideoInfo'],
    ]);
    const problems = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) => content['application/problem+json']?.schema ?? []),
    );
    expect(problems.length).toBeGreaterThan(30);
    for (const schema of problems) expect(schema).toEqual({ $ref: '#/components/schemas/Problem' });
  });

  it('has nothing that makes generators drop a form, an import fail, or a later version break a client', () => {
    expect(text).not.toMatch(/"(oneOf|allOf|const)"/);
    expect(text).not.toContain('"additionalProperties": false,\n      "required"');
    const form = JSON.stringify(document.paths['/api/remove-background']);
    expect(form.includes('anyOf')).toBe(false);
    for (const [field, type] of [
      ['threshold', 'number'],
      ['crop', 'boolean'],
      ['max_width', 'integer'],
    ]) {
      expect(new RegExp(`"${field}":\\{[^}]*"type":"(\\w+)"`).exec(form)?.[1]).toBe(type);
    }
    expect(document).toMatchObject({ servers: [{ url: expect.stringMatching(/^http:\/\//) as string }] });
  });

  it('says first how to send a key, and that a gateway without keys requires none', () => {
    expect(document.security).toEqual([
      ...[{ bearer: [] }, { apiKey: [] }, { basic: [] }, { signature: [], expires: [] }, {}],
    ]);
  });

  it('resolves each of its references', () => {
    const references = [...text.matchAll(/"#\/([^"]+)"/g)].map(([, path = '']) => path.split('/'));
    expect(references.length).toBeGreaterThan(100);
    for (const path of references) {
      const found = path.reduce<unknown>(
        (part, name) => (part as Record<string, unknown> | undefined)?.[name],
        document,
      );
      expect({ path, found: found !== undefined }).toEqual({ path, found: true });
    }
  });

  it("lists the gateway's own errors at every endpoint, with their headers", () => {
    for (const { operationId, responses } of operations) {
      if (operationId === 'getHealth') continue;
      const codes = Object.values(responses).flatMap(({ content }) =>
        Object.keys(content['application/problem+json']?.examples ?? {}),
      );
      expect({ operationId, codes }).toEqual({
        operationId,
        codes: expect.arrayContaining([
          'unauthorized',
          'rate_limited',
          'service_unavailable',
          'timeout',
        ]) as string[],
      });
      expect(responses[401]?.headers).toHaveProperty('WWW-Authenticate');
      for (const status of [429, 502, 503]) expect(responses[status]?.headers).toHaveProperty('Retry-After');
    }
    expect(document.paths['/api/remove-background']?.post?.responses[429]?.headers).toHaveProperty(
      'RateLimit',
    );
  });

  it('lists conditions and ranges only for endpoints that have them', () => {
    const withRange = operations.filter(
      ({ responses }) => 206 in responses || 304 in responses || 412 in responses || 416 in responses,
    );
    expect(withRange.map(({ operationId }) => operationId)).toEqual(['streamAudio', 'streamVideo']);
  });

  it('names every code, each with an example', () => {
    const codes = documentedErrors().map(({ code }) => code);
    const { Problem } = document.components.schemas;
    expect(Problem).toMatchObject({ properties: { code: { type: 'string', 'x-extensible-enum': codes } } });
    const examples = Object.keys(document.components.examples);
    const outside = ['not_found', 'method_not_allowed'];
    expect(examples).toEqual(codes.filter((code) => !outside.includes(code)));
  });

  it('is the same as YAML', () => {
    expect(parse(built.get('html/docs/openapi.yaml') ?? '')).toEqual(openApiDocument());
  });

  it('has no findings in `redocly lint` with its recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const findings = async (source: unknown) =>
      (await lintFromString({ source: JSON.stringify(source), config })).map(
        ({ ruleId, message, location }) => `${location[0]?.pointer ?? ''}: ${message} (${ruleId})`,
      );
    expect(await findings(document)).toEqual([]);
    // Otherwise a linter without rules would pass.
    expect(await findings({ ...document, security: undefined })).toContainEqual(
      expect.stringContaining('(security-defined)'),
    );
  });
});
