import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { documentedErrors } from './errors/documented-errors.js';
import { renderGatewayProblems } from './errors/gateway-errors.js';
import { openApiDocument } from './openapi/document.js';
import { renderErrorsPage } from './pages/errors-page.js';
import { renderExamplesPage } from './pages/examples-page.js';
import { renderReferencePage } from './pages/reference/reference-page.js';

/** What the gateway serves or loads that its build makes, by its path in this folder. */
export async function generatedFiles(root: string): Promise<Map<string, string>> {
  const document = openApiDocument();
  return new Map([
    ['html/js/image/worker/matte/tuning.js', await pageTuning(root, 'js')],
    ['html/js/image/worker/matte/tuning.d.ts', await pageTuning(root, 'd.ts')],
    ['njs/problems.js', renderGatewayProblems(documentedErrors())],
    ['html/docs/openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['html/docs/openapi.yaml', stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })],
    ['html/docs/index.html', renderReferencePage()],
    ['html/docs/errors.html', renderErrorsPage()],
    ['html/docs/examples.html', renderExamplesPage(root)],
  ]);
}

/** The service's strength and threshold as the page's worker loads them, and their types. */
async function pageTuning(root: string, extension: 'js' | 'd.ts'): Promise<string> {
  const compiled = await readFile(join(root, `apps/bg-removal/dist/matte/tuning.${extension}`), 'utf8');
  const code = compiled.replace(/^\/\/# sourceMappingURL.*$/m, '');
  return `// Built from apps/bg-removal/src/matte/tuning.ts. Edit that file instead.\n${code}`;
}
