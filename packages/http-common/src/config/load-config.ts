import { distance } from 'fastest-levenshtein';
import { z } from 'zod';

/** The environment is invalid. The message lists every problem with its variable's name. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n` +
        problems.map((problem) => `  - ${problem}`).join('\n') +
        '\nCorrect the environment variables named above; docs/configuration.md describes each of them.',
    );
    this.problems = problems;
  }
}

/**
 * Reads a service's configuration. An empty variable counts as unset. Warns on stderr about
 * renamed, removed and mistyped names.
 * @throws ConfigError listing every problem
 */
export function loadConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.output<Schema> {
  const present = withCurrentNames(env);
  const given = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => {
      const text = present[name];
      return text === undefined || text.trim() === '' ? [] : [[name, text]];
    }),
  );
  for (const problem of unknownSettings(Object.keys(schema.shape), env)) process.stderr.write(`${problem}\n`);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'environment'} ${issue.message}`),
  );
}

/** Earlier names of settings, which still work. */
const renamed: Readonly<Record<string, string>> = {
  ENGINE_MAX_MEMORY_BYTES: 'ENGINE_MEMORY_MAX_BYTES',
  ENGINE_POOL_SIZE: 'ENGINE_PROCESSES',
  MAX_CONCURRENT_STREAMS: 'STREAMS_MAX',
  MAX_DURATION_SECONDS: 'VIDEO_MAX_SECONDS',
  MAX_FILE_BYTES: 'IMAGE_MAX_BYTES',
  MAX_OUTPUT_BYTES: 'STREAM_MAX_BYTES',
  MAX_PAGE_BYTES: 'PAGE_MAX_BYTES',
  MAX_PIXELS: 'IMAGE_MAX_PIXELS',
  MAX_QUEUE: 'IMAGE_QUEUE_MAX',
  MAX_QUEUED_STREAMS: 'STREAM_QUEUE_MAX',
  MIN_CLIENT_BYTES_PER_MINUTE: 'CLIENT_MIN_BYTES_PER_MINUTE',
  MIN_SOURCE_BYTES_PER_MINUTE: 'SOURCE_MIN_BYTES_PER_MINUTE',
  REQUEST_TIMEOUT_SECONDS: 'IMAGE_TIMEOUT_SECONDS',
  UPSTREAM_IDLE_TIMEOUT_SECONDS: 'SOURCE_IDLE_TIMEOUT_SECONDS',
};

/** Settings of earlier versions, and what to do instead. */
const removed: Readonly<Record<string, string>> = {
  ANSWER_TIMEOUT_SECONDS: 'Delete it: a response may take 300 s.',
  DOCS_BASE_URL: 'Delete it: links start with BASE_PATH.',
  ENGINE_RECYCLE_AFTER_JOBS: 'Delete it: engines restart after 500 pages.',
  EXTRACTION_CACHE_ENTRIES: 'Delete it: the cache holds 200 pages, at most 64 MiB.',
  FFMPEG_THREADS: 'Delete it: ffmpeg uses four threads per codec.',
  INFERENCE_THREADS: 'Set INFERENCE_PROCESSES instead: the processes share the cores.',
  MAX_QUEUED_EXTRACTIONS: 'Set STREAM_QUEUE_MAX instead: four times as many look-ups may wait.',
  MAX_STREAM_SECONDS: 'Set VIDEO_MAX_SECONDS instead: a stream may take a third longer.',
  MIN_BYTES_PER_SECOND: 'Set CLIENT_MIN_BYTES_PER_MINUTE to 60 times as much instead.',
  PROBE_TIMEOUT_SECONDS: 'Delete it: half of EXTRACTION_TIMEOUT_SECONDS is used.',
  RECYCLE_ABOVE_BYTES: 'Delete it: an inference process above 2 GiB is replaced when it is idle.',
  RECYCLE_AFTER_IMAGES: 'Delete it: inference processes are replaced by their memory.',
  YTDLP_CHANNEL: 'Set YTDLP_UPDATES to stable or nightly instead.',
  YTDLP_UPDATE_DIR: 'Delete it: YTDLP_UPDATES uses a temporary folder.',
  YTDLP_UPDATE_EVERY: 'Set YTDLP_UPDATES=stable instead: it updates at start and every 24 hours.',
  YTDLP_UPDATE_ON_START: 'Set YTDLP_UPDATES=stable instead: it updates at start and every 24 hours.',
};

const minLookalikeLength = 8;
/** Only one if it is the first letter: PAGE_MAX_BYTES is no mistyped IMAGE_MAX_BYTES. */
const maxTypos = 2;
/** Matches `IMAGES_PER_MIN`. A larger value would match settings of other services. */
const maxCutOff = 4;

/**
 * The environment with earlier names replaced by the current ones, which take precedence when
 * both are set.
 */
export function withCurrentNames(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const present = { ...env };
  for (const [earlier, name] of Object.entries(renamed)) {
    if (!env[name]?.trim()) present[name] = env[earlier];
  }
  return present;
}

/** Warnings about variable names: renamed or removed settings, and probable misspellings of a setting. */
export function unknownSettings(
  known: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const given = Object.keys(env).filter((name) => env[name]?.trim() && !known.includes(name));
  return given.flatMap((name) => {
    const present = renamed[name];
    if (present !== undefined) return known.includes(present) ? [renamedNote(name, present, env)] : [];
    const advice = removed[name];
    if (advice !== undefined) return [`${name} is no longer a setting. ${advice}`];
    const meant = known.find((each) => looksLike(name, each));
    return meant === undefined ? [] : [`${name} is not a setting and does nothing. Did you mean ${meant}?`];
  });
}

function renamedNote(
  earlier: string,
  present: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const outcome = env[present]?.trim() ? 'Delete it: the new name is set too.' : 'It still works; rename it.';
  return `${earlier} is now called ${present}. ${outcome}`;
}

function looksLike(name: string, setting: string): boolean {
  if (Math.min(name.length, setting.length) < minLookalikeLength) return false;
  const isCut = setting.startsWith(name) && setting.length - name.length <= maxCutOff;
  const typos = name[0] === setting[0] ? maxTypos : 1;
  return isCut || name.startsWith(`${setting}_`) || distance(name, setting) <= typos;
}

/** One environment variable, for the documentation. */
export interface SettingDescription {
  readonly name: string;
  readonly default: string | null;
  readonly expectation: string;
  readonly description: string;
}

const metaSchema = z.object({
  default: z.string().nullish(),
  expectation: z.string().default('text'),
  description: z.string().default(''),
});

/** Describes every variable of a configuration schema, in order. */
export function describeConfig(schema: z.ZodObject): SettingDescription[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const meta = metaSchema.parse(z.globalRegistry.get(field as z.ZodType) ?? {});
    return {
      name,
      default: meta.default ?? null,
      expectation: meta.expectation,
      description: meta.description,
    };
  });
}

export function renderConfigurationTable(settings: readonly SettingDescription[]): string {
  const rows = settings.map(
    ({ name, default: value, description, expectation }) =>
      `| \`${name}\` | ${value === null ? 'required' : value === '' ? 'empty' : `\`${value}\``} | ${escapeCell(description)} | ${escapeCell(expectation)} |`,
  );
  return (
    ['| Variable | Default | What it does | Value |', '| --- | --- | --- | --- |', ...rows].join('\n') + '\n'
  );
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
