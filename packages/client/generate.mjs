// Part of the build: types of the API and its error codes, from the OpenAPI document.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import openapiTypescript, { astToString } from 'openapi-typescript';

const file = new URL('../../nginx/html/docs/openapi.json', import.meta.url);
const document = JSON.parse(await readFile(file, 'utf8'));
/** @type {string[]} */
const codes = document.components.schemas.Problem.properties.code['x-extensible-enum'];
const generated = new URL('src/generated/', import.meta.url);

await mkdir(generated, { recursive: true });
await writeFile(new URL('api.ts', generated), astToString(await openapiTypescript(file)));
await writeFile(
  new URL('codes.ts', generated),
  `/** Error codes of the services and the gateway (docs/errors.md). */\nexport type ServiceCode =\n${codes
    .map((code) => `  | '${code}'`)
    .join('\n')};\n`,
);
