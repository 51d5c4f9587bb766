import { renderConfigurationTable, renderEnvExample } from '@media-services/http-common';
import { configSchema as bgRemovalConfig } from '@media-services/bg-removal/dist/config.js';
import { configSchema as videoDlConfig } from '@media-services/video-dl/dist/config.js';

const sections = [
  { service: 'video-dl', schema: videoDlConfig },
  { service: 'bg-removal', schema: bgRemovalConfig },
];

/** docs/configuration.md */
export function renderConfigurationMarkdown(): string {
  const tables = sections.map(
    ({ service, schema }) => `## ${service}\n\n${renderConfigurationTable(schema)}`,
  );
  return `# Configuration

Generated from the schemas that read the environment (\`pnpm --filter docs-generator generate\`). Every problem with a setting is reported at start, all at once; an empty variable counts as unset. Times are seconds (\`90\`, \`90s\`, \`2m\`, \`1h\`), sizes bytes (\`15MiB\`, \`2GB\`).

\`npm start\` and \`docker compose\` give each service its own ports and set \`TRUST_PROXY_HOPS=1\`; there, \`PORT\` is the port of the gateway.

${tables.join('\n')}`;
}

/** .env.example */
export function renderEnvironmentExample(): string {
  return renderEnvExample(sections);
}
