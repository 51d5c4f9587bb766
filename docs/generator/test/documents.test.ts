import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { documentedErrors } from '../dist/errors.js';
import { renderDocuments } from '../dist/documents.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => (existsSync(root + path) ? readFileSync(root + path, 'utf8') : '(missing)');
const documents = await renderDocuments(root);

describe('the generated documents', () => {
  it.each([...documents.keys()])(
    '%s is what the code says (pnpm --filter docs-generator generate)',
    (path) => {
      expect(read(path)).toBe(documents.get(path));
    },
  );

  it('document every code that the gateway answers with by itself, under the same title', () => {
    const known = documentedErrors().map(({ code, title }) => ({ code, title }));
    const used = [...read('nginx/njs/problem.js').matchAll(/code: '(\w+)',\s+title: '([^']+)'/g)].map(
      ([, code, title]) => ({ code, title }),
    );
    expect(used.length).toBeGreaterThan(5);
    expect(known).toEqual(expect.arrayContaining(used));
  });

  it('give every code an anchor, where the `type` of its problems leads', () => {
    const page = documents.get('nginx/html/docs/errors.html') ?? '';
    for (const { code } of documentedErrors()) expect(page).toContain(`id="${code.replaceAll('_', '-')}"`);
  });
});
