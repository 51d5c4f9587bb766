import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderErrorsMarkdown } from './errors/errors-markdown.js';
import { renderConfigurationMarkdown, renderEnvironmentExample } from './settings/configuration.js';

/** The generated files that are in git, because people read them there, by their path in the repository. */
export async function renderDocuments(root: string): Promise<Map<string, string>> {
  return new Map([
    ['docs/errors.md', renderErrorsMarkdown()],
    ['docs/configuration.md', renderConfigurationMarkdown()],
    ['.env.example', renderEnvironmentExample()],
    ['deploy/kubernetes/components/monitoring/prometheus-rule.yaml', await prometheusRule(root)],
  ]);
}

/** The alerts for the Prometheus operator. */
async function prometheusRule(root: string): Promise<string> {
  const alerts = await readFile(join(root, 'deploy/prometheus/alerts.yml'), 'utf8');
  const head = `# Generated from deploy/prometheus/alerts.yml by \`npm run proof -- docs\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: media-services }
spec:
`;
  return head + alerts.replace(/^(?=.)/gm, '  ');
}
