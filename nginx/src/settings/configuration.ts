import {
  describeConfig,
  renderConfigurationTable,
  type SettingDescription,
} from '@media-services/http-common';
import { configSchema as bgRemovalConfig } from '@media-services/bg-removal/dist/config.js';
import { configSchema as videoDlConfig } from '@media-services/video-dl/dist/config.js';
import { gatewaySchema } from './gateway-settings.js';

interface Section {
  readonly title: string;
  readonly intro: string;
  readonly settings: readonly SettingDescription[];
}

/** Lists each setting once; settings read by several parts have their own section. */
export function settingSections(): Section[] {
  const gateway = describeConfig(gatewaySchema);
  const videoDl = describeConfig(videoDlConfig);
  const bgRemoval = describeConfig(bgRemovalConfig);
  const parts = [gateway, videoDl, bgRemoval];
  const ofTheGateway = new Set(['PORT', 'HOST']);
  const isShared = ({ name }: SettingDescription) =>
    !ofTheGateway.has(name) && parts.filter((part) => part.some((each) => each.name === name)).length > 1;
  const only = (part: readonly SettingDescription[]) =>
    part.filter((each) => !isShared(each) && (part === gateway || !ofTheGateway.has(each.name)));
  const shared = new Map(
    [...bgRemoval, ...videoDl, ...gateway].filter(isShared).map((each) => [each.name, each]),
  );
  return [
    {
      title: 'Gateway',
      intro: 'The address to listen on, who may use the services, and how much.',
      settings: only(gateway),
    },
    {
      title: 'Gateway and services',
      intro: `Settings that more than one of them reads. Leave ${[...setByTheStarter].map((name) => `\`${name}\``).join(' and ')} to what starts the services.`,
      settings: [...shared.values()],
    },
    {
      title: 'video-dl',
      intro: 'Extractions and streams: their number, length, timeouts and connections.',
      settings: only(videoDl),
    },
    {
      title: 'bg-removal',
      intro: 'Images: their number and size, the model, and the processes.',
      settings: only(bgRemoval),
    },
  ];
}

/** docs/configuration.md */
export function renderConfigurationMarkdown(): string {
  const tables = settingSections().map(
    ({ title, intro, settings }) => `## ${title}\n\n${intro}\n\n${renderConfigurationTable(settings)}`,
  );
  return `# Configuration

Generated from the code that reads the environment (\`npm run proof -- docs\`). All problems with settings are reported together at startup; an empty variable counts as unset. Times are in seconds (\`90\`, \`90s\`, \`2m\`, \`1h\`), sizes in bytes (\`15MiB\`, \`2GB\`).

A name consists of subject, quantity and unit: \`IMAGE_MAX_BYTES\`, \`SOURCE_IDLE_TIMEOUT_SECONDS\`.

A file \`.env\` in the root of the repository applies to everything, under \`npm start\` and \`docker compose\`; [.env.example](../.env.example) has the settings most people change. Settings of Compose alone are in [deployment.md](deployment.md#one-machine-docker-compose).

${tables.join('\n')}`;
}

/** Set for each service by the program that starts it; setting them for all services would be harmful. */
const setByTheStarter = new Set(['METRICS_PORT', 'TRUST_PROXY_HOPS']);

/** The most commonly changed settings, in this order. */
const common = [
  ...['PORT', 'HOST', 'SERVICES', 'BASE_PATH', 'TRUSTED_PROXIES', 'API_KEYS_FILE'],
  ...['VIDEO_REQUESTS_PER_MINUTE', 'IMAGES_PER_MINUTE', 'IMAGE_MAX_BYTES'],
  ...['OUTBOUND_PROXY', 'COOKIES_FILE', 'YTDLP_UPDATES'],
];

/** .env.example: the settings most people change, at their defaults, commented out. */
export function renderEnvironmentExample(): string {
  const all = settingSections().flatMap(({ settings }) => settings);
  const lines = common.map((wanted) => {
    const found = all.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`there is no setting ${wanted}`);
    return `# ${found.description} (${found.expectation})\n#${wanted}=${found.default ?? ''}\n`;
  });
  return `# Settings for \`npm start\` and \`docker compose\`: copy this file to .env and
# remove the # in front of what you change. Every value here is the default.
# docs/configuration.md lists all settings.

${lines.join('\n')}`;
}
