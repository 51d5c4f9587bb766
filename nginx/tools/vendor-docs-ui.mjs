// Copies the documentation UI out of its package into what nginx serves: no page
// of the gateway loads anything from an outside address.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const files = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
];
const source = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const target = fileURLToPath(new URL('../html/docs/vendor', import.meta.url));

rmSync(target, { recursive: true, force: true });
mkdirSync(target);
for (const file of files) cpSync(join(source, file), join(target, file));
