import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, type FormatConfig } from 'oxfmt';
import { combinedDocument } from './combined-document.js';
import { renderConfigurationMarkdown, renderEnvironmentExample } from './configuration.js';
import { renderErrorsMarkdown } from './errors-markdown.js';
import { renderErrorsPage } from './errors-page.js';
import { documentedErrors } from './errors.js';
import { renderExamplesPage } from './examples.js';
import { renderGatewayProblems } from './gateway-errors.js';
import { openApiDocuments } from './open-api-documents.js';
import { renderReferencePage } from './reference/reference-page.js';

/** Every generated file, by its path in the repository. */
export async function renderDocuments(root: string): Promise<Map<string, string>> {
  const json = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;
  const javascript = (text: string) =>
    formatted('a.js', text, { printWidth: 110, singleQuote: true, objectWrap: 'collapse' });
  const markdown = (text: string) => formatted('a.md', text, { printWidth: 110 });
  return new Map([
    ['nginx/html/js/image/worker/matte/tuning.js', await pageTuning(root)],
    ['nginx/njs/problems.js', await javascript(renderGatewayProblems(documentedErrors()))],
    ['nginx/html/docs/video-dl.openapi.json', json(openApiDocuments['video-dl'])],
    ['nginx/html/docs/bg-removal.openapi.json', json(openApiDocuments['bg-removal'])],
    ['nginx/html/docs/openapi.json', json(combinedDocument(openApiDocuments))],
    ['nginx/html/docs/index.html', renderReferencePage()],
    ['nginx/html/docs/errors.html', renderErrorsPage()],
    ['nginx/html/docs/examples.html', renderExamplesPage(root)],
    ['docs/errors.md', await markdown(renderErrorsMarkdown())],
    ['docs/configuration.md', await markdown(renderConfigurationMarkdown(root))],
    ['.env.example', renderEnvironmentExample(root)],
    ['deploy/kubernetes/components/monitoring/prometheus-rule.yaml', await prometheusRule(root)],
  ]);
}

/** The alerts for the Prometheus operator. */
async function prometheusRule(root: string): Promise<string> {
  const alerts = await readFile(join(root, 'deploy/prometheus/alerts.yml'), 'utf8');
  const head = `# Generated from deploy/prometheus/alerts.yml by \`npm run docs:generate\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: media-services }
spec:
`;
  return head + alerts.replace(/^(?=.)/gm, '  ');
}

/** The service's strength and threshold as the page's worker loads them: as compiled, without types. */
async function pageTuning(root: string): Promise<string> {
  const compiled = await readFile(join(root, 'apps/bg-removal/dist/matte/tuning.js'), 'utf8');
  const code = compiled.replace(/^\/\/# sourceMappingURL.*$/m, '');
  const notice =
    '// Generated from apps/bg-removal/src/matte/tuning.ts by `npm run docs:generate`. Edit that file instead.\n';
  return notice + (await formatted('a.js', code, { printWidth: 110, singleQuote: true }));
}

/** @param name its ending says which language the text is in */
async function formatted(name: string, text: string, options: FormatConfig): Promise<string> {
  const { code, errors } = await format(name, text, options);
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
}
