import {
  describeConfig,
  renderConfigurationTable,
  type SettingDescription,
} from '@media-services/http-common';
import { configSchema as bgRemovalConfig } from '@media-services/bg-removal/dist/config.js';
import { configSchema as videoDlConfig } from '@media-services/video-dl/dist/config.js';
import { gatewaySettings } from './gateway-settings.js';

interface Section {
  readonly title: string;
  readonly intro: string;
  readonly settings: readonly SettingDescription[];
}

function sections(root: string): Section[] {
  return [
    {
      title: 'Gateway',
      intro: 'Where everything is reached, who may use it and how much of it.',
      settings: gatewaySettings(root),
    },
    {
      title: 'video-dl',
      intro: 'Streams of videos: how many, how long, through which ways.',
      settings: describeConfig(videoDlConfig),
    },
    {
      title: 'bg-removal',
      intro: 'Cut-outs of images: how many, how large, with which model.',
      settings: describeConfig(bgRemovalConfig),
    },
  ];
}

/** docs/configuration.md */
export function renderConfigurationMarkdown(root: string): string {
  const tables = sections(root).map(
    ({ title, intro, settings }) => `## ${title}\n\n${intro}\n\n${renderConfigurationTable(settings)}`,
  );
  return `# Configuration

Generated from the tables that read the environment (\`pnpm docs:generate\`). Every problem with a setting is reported at start, all at once; an empty variable counts as unset. Times are seconds (\`90\`, \`90s\`, \`2m\`, \`1h\`), sizes bytes (\`15MiB\`, \`2GB\`).

A file \`.env\` in the root of the repository reaches everything, under \`npm start\` and under \`docker compose\`; [.env.example](../.env.example) is a template. Both give each service its own ports and set \`TRUST_PROXY_HOPS=1\`; there, \`PORT\` and \`HOST\` are those of the gateway. What only compose knows is in [deployment.md](deployment.md).

${tables.join('\n')}`;
}

/** Set for each service by whatever starts it: in a file for all of them they would only do harm. */
const setByTheStarter = new Set(['PORT', 'HOST', 'METRICS_PORT', 'TRUST_PROXY_HOPS']);

/** .env.example: every setting once, at its default, commented out. */
export function renderEnvironmentExample(root: string): string {
  const [gateway, ...services] = sections(root);
  if (gateway === undefined) throw new Error('there is no gateway');
  const seen = new Set<string>();
  const count = (name: string) =>
    [gateway, ...services].filter(({ settings }) => settings.some((each) => each.name === name)).length;
  const forSeveral = (name: string) => count(name) > 1 && !setByTheStarter.has(name);
  const take = ({ settings }: Section, wanted: (name: string) => boolean) =>
    settings.filter(({ name }) => wanted(name) && !seen.has(name) && seen.add(name));
  const shared = [gateway, ...services].flatMap((section) => take(section, forSeveral));
  const blocks = [
    { title: 'Gateway', intro: gateway.intro, settings: take(gateway, () => true) },
    { title: 'Gateway and services', intro: 'What more than one of them reads.', settings: shared },
    ...services.map((section) => ({
      ...section,
      settings: take(section, (name) => !setByTheStarter.has(name)),
    })),
  ];
  return `# Settings for \`npm start\` and \`docker compose\`: copy this file to .env and
# take away the # in front of what you change. Every value here is the default.
# docs/configuration.md says the same as tables.

${blocks.map(renderBlock).join('\n')}`;
}

function renderBlock({ title, intro, settings }: Section): string {
  const lines = settings.map(
    ({ name, default: value, description, expectation }) =>
      `# ${description} (${expectation})\n#${name}=${value ?? ''}\n`,
  );
  return `### ${title}: ${lowerFirst(intro)}\n\n${lines.join('\n')}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
