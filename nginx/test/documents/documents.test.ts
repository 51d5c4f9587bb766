import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settingSections } from '../../src/settings/configuration.js';
import { documentedErrors } from '../../src/errors/documented-errors.js';
import { renderDocuments } from '../../src/documents.js';
import { generatedFiles } from '../../src/generated-files.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => (existsSync(root + path) ? readFileSync(root + path, 'utf8') : '(missing)');
const documents = await renderDocuments(root);
const built = await generatedFiles(root);

describe('the generated documents', () => {
  it.each([...documents.keys()])('%s is what the code says (npm run proof -- docs)', (path) => {
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

  it('have at most 64 settings, including those of compose and Swarm, each in one table', () => {
    const names = settingSections().flatMap(({ settings }) => settings.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    const files = ['docker-compose.yml', 'deploy/compose/tls.yml', 'deploy/swarm/stack.yml'];
    const ofCompose = files.flatMap((file) =>
      [...read(file).matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name),
    );
    expect(ofCompose.length).toBeGreaterThan(5);
    expect([...new Set([...names, ...ofCompose])].length).toBeLessThanOrEqual(64);
  });

  it('name every setting by one scheme: the subject, then max or min, then the unit', () => {
    const names = settingSections().flatMap(({ settings }) => settings.map(({ name }) => name));
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
});
