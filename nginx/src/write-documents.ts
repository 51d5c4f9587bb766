// `npm run proof -- docs`: writes the generated files that are in git. A test fails if they are stale.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderDocuments } from './documents.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

for (const [path, text] of await renderDocuments(root)) {
  writeFileSync(join(root, path), text);
  process.stdout.write(`${path}\n`);
}
