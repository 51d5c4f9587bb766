import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { documentedErrors } from './errors/documented-errors.js';
import { renderGatewayProblems } from './errors/gateway-errors.js';
import { combinedDocument } from './openapi/combined-document.js';
import { openApiDocuments } from './openapi/open-api-documents.js';
import { renderErrorsPage } from './pages/errors-page.js';
import { renderExamplesPage } from './pages/examples-page.js';
import { renderReferencePage } from './pages/reference/reference-page.js';

/** What the gateway serves or loads that its build makes, by its path in this folder. */
export async function generatedFiles(root: string): Promise<Map<string, string>> {
  const json = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;
  return new Map([
    ['html/js/image/worker/matte/tuning.js', await pageTuning(root)],
    ['njs/problems.js', renderGatewayProblems(documentedErrors())],
    ['html/docs/video-dl.openapi.json', json(openApiDocuments['video-dl'])],
    ['html/docs/bg-removal.openapi.json', json(openApiDocuments['bg-removal'])],
    ['html/docs/openapi.json', json(combinedDocument(openApiDocuments))],
    ['html/docs/index.html', renderReferencePage()],
    ['html/docs/errors.html', renderErrorsPage()],
    ['html/docs/examples.html', renderExamplesPage(root)],
  ]);
}

/** The service's strength and threshold as the page's worker loads them: as compiled, without types. */
async function pageTuning(root: string): Promise<string> {
  const compiled = await readFile(join(root, 'apps/bg-removal/dist/matte/tuning.js'), 'utf8');
  const code = compiled.replace(/^\/\/# sourceMappingURL.*$/m, '');
  return `// Built from apps/bg-removal/src/matte/tuning.ts. Edit that file instead.\n${code}`;
}
