import { format } from 'prettier';
import { renderConfigurationMarkdown, renderEnvironmentExample } from './configuration.js';
import { renderErrorsMarkdown } from './errors-markdown.js';
import { renderErrorsPage } from './errors-page.js';
import { renderExamplesPage } from './examples.js';
import { openApiDocuments } from './open-api-documents.js';
import { renderReferencePage } from './reference/reference-page.js';

/** Every generated file, by its path in the repository. */
export async function renderDocuments(root: string): Promise<Map<string, string>> {
  const json = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;
  const markdown = (text: string) => format(text, { parser: 'markdown', printWidth: 110 });
  return new Map([
    ['nginx/html/docs/video-dl.openapi.json', json(openApiDocuments['video-dl'])],
    ['nginx/html/docs/bg-removal.openapi.json', json(openApiDocuments['bg-removal'])],
    ['nginx/html/docs/index.html', renderReferencePage()],
    ['nginx/html/docs/errors.html', renderErrorsPage()],
    ['nginx/html/docs/examples.html', renderExamplesPage(root)],
    ['docs/errors.md', await markdown(renderErrorsMarkdown())],
    ['docs/configuration.md', await markdown(renderConfigurationMarkdown(root))],
    ['.env.example', renderEnvironmentExample(root)],
  ]);
}
