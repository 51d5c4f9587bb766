import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { settingSections } from '../../dist/settings/configuration.js';
import { combinedDocument } from '../../dist/openapi/combined-document.js';
import { documentedErrors } from '../../dist/errors/documented-errors.js';
import { renderDocuments } from '../../dist/documents.js';
import { generatedFiles } from '../../dist/generated-files.js';
import { withGatewayAnswers } from '../../dist/openapi/gateway-answers.js';
import { openApiDocuments } from '../../dist/openapi/open-api-documents.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => (existsSync(root + path) ? readFileSync(root + path, 'utf8') : '(missing)');
const documents = await renderDocuments(root);
const built = await generatedFiles(root);

describe('the generated documents', () => {
  it.each([...documents.keys()])('%s is what the code says (npm run docs:generate)', (path) => {
    expect(read(path)).toBe(documents.get(path));
  });

  it('.env.example has the twelve most common settings', () => {
    const names = [...read('.env.example').matchAll(/^#([A-Z0-9_]+)=/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(12);
    expect(names).toHaveLength(12);
    // Either would move a service away from the gateway.
    expect(names).not.toContain('METRICS_PORT');
    expect(names).not.toContain('TRUST_PROXY_HOPS');
  });

  it('have at most 63 settings, including those of compose and Swarm, each in one table', () => {
    const names = settingSections(root).flatMap(({ settings }) => settings.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    const files = ['docker-compose.yml', 'deploy/compose/tls.yml', 'deploy/swarm/stack.yml'];
    const ofCompose = files.flatMap((file) =>
      [...read(file).matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name),
    );
    expect(ofCompose.length).toBeGreaterThan(5);
    expect([...new Set([...names, ...ofCompose])].length).toBeLessThanOrEqual(63);
  });

  it('name every setting by one scheme: the subject, then max or min, then the unit', () => {
    const names = settingSections(root).flatMap(({ settings }) => settings.map(({ name }) => name));
    expect(names.filter((name) => /^(MAX|MIN)_/.test(name))).toEqual([]);
    const timed = names.filter((name) => /TIMEOUT|GRACE|CACHE/.test(name));
    expect(timed.length).toBeGreaterThan(4);
    for (const name of timed) expect(name).toMatch(/_SECONDS$/);
  });

  it('give every code an anchor, which the `type` of its problems links to', () => {
    const page = built.get('html/docs/errors.html') ?? '';
    expect(documentedErrors()).not.toEqual([]);
    for (const { code } of documentedErrors()) expect(page).toContain(`id="${code.replaceAll('_', '-')}"`);
  });

  it("list the gateway's own errors at every endpoint", () => {
    for (const { paths } of Object.values(openApiDocuments)) {
      for (const [path, item] of Object.entries(paths)) {
        for (const [method, { responses }] of Object.entries(item)) {
          const listed = (status: number, code: string) =>
            responses[status]?.description.includes(`\`${code}\``) ?? false;
          const body = responses[502]?.content?.['application/problem+json'];
          expect({
            endpoint: `${method} ${path}`,
            unauthorized: listed(401, 'unauthorized'),
            limited: listed(429, 'rate_limited'),
            away: listed(502, 'service_unavailable'),
            late: listed(504, 'timeout'),
            example: 'service_unavailable' in (body?.examples ?? {}),
          }).toEqual({
            endpoint: `${method} ${path}`,
            unauthorized: path !== '/api/health', // which is asked without a key
            limited: true,
            away: true,
            late: true,
            example: method !== 'head',
          });
        }
      }
    }
  });

  it('list an unsatisfiable range only for endpoints with ranges', () => {
    const operations = Object.values(openApiDocuments).flatMap(({ paths }) =>
      Object.values(paths).flatMap((item) => Object.values(item)),
    );
    const withRange = operations.filter(({ responses }) => 416 in responses);
    expect(withRange.map(({ operationId }) => operationId)).toEqual([
      ...['streamAudio', 'streamAudioHeaders', 'streamVideo', 'streamVideoHeaders'],
    ]);
  });

  it("keep a service's description of codes that it shares with the gateway", () => {
    const before = openApiDocuments['video-dl'].paths['/api/info']?.['get']?.responses[502];
    const again = withGatewayAnswers(openApiDocuments['video-dl']).paths['/api/info']?.['get']
      ?.responses[502];
    expect(again).toEqual(before);
    expect(Object.keys(before?.content?.['application/problem+json']?.examples ?? {})).toEqual([
      'upstream_unreachable',
      'upstream_error',
      'service_unavailable',
    ]);
    expect(() => withGatewayAnswers({ paths: {} })).toThrow(TypeError);
  });

  it('describe everything behind the gateway in one additional document, with the optional key', () => {
    const combined = combinedDocument(openApiDocuments);
    expect(Object.keys(combined.paths)).toEqual([
      ...['/api/info', '/api/stream', '/api/stream/video', '/video-dl/api/health'],
      ...['/api/remove-background', '/bg-removal/api/health', '/api/health'],
    ]);
    expect(combined).toMatchObject({
      security: [{}, { key: [] }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    });
    const operations = Object.values(combined.paths).flatMap((item) => Object.values(item));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(combined.components.schemas.Problem.properties.code.enum).toEqual(
      expect.arrayContaining(documentedErrors().map(({ code }) => code)),
    );
    const text = JSON.stringify(combined);
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
      expect(Object.keys((combined.components as Record<string, object>)[kind] ?? {})).toContain(name);
    }
  });

  it('have no findings in `redocly lint` with its recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const findings = async (document: unknown) =>
      (await lintFromString({ source: JSON.stringify(document), config })).map(
        ({ ruleId, message, location }) => `${location[0]?.pointer ?? ''}: ${message} (${ruleId})`,
      );
    const combined = combinedDocument(openApiDocuments);
    expect(await findings(combined)).toEqual([]);
    // Otherwise a linter without rules would pass.
    expect(await findings({ ...combined, security: undefined })).toContainEqual(
      expect.stringContaining('(security-defined)'),
    );
  });

  it('have no constant booleans, which openapi-generator compares as strings', () => {
    const text = JSON.stringify(combinedDocument(openApiDocuments));
    expect(text).toContain('"const":');
    expect(text).not.toMatch(/"const":(true|false)/);
  });
});
