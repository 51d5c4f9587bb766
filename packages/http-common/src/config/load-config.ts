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
 * Reads a service's configuration. An empty variable counts as unset. Warns about mistyped
 * names, by default on stderr.
 * @throws ConfigError listing every problem
 */
export function loadConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>> = process.env,
  warn: (line: string) => void = (line) => void process.stderr.write(`${line}\n`),
): z.output<Schema> {
  const given = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => {
      const text = env[name];
      return text === undefined || text.trim() === '' ? [] : [[name, text]];
    }),
  );
  for (const problem of unknownSettings(Object.keys(schema.shape), env)) warn(problem);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'environment'} ${issue.message}`),
  );
}

const minLookalikeLength = 8;
/** Only one if it is the first letter: PAGE_MAX_BYTES is no mistyped IMAGE_MAX_BYTES. */
const maxTypos = 2;
/** Matches `IMAGES_PER_MIN`. A larger value would match settings of other services. */
const maxCutOff = 4;

/** Warnings about variable names that are probably misspelt settings. */
export function unknownSettings(
  known: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const given = Object.keys(env).filter((name) => env[name]?.trim() && !known.includes(name));
  return given.flatMap((name) => {
    const meant = known.find((each) => looksLike(name, each));
    return meant === undefined ? [] : [`${name} is not a setting and does nothing. Did you mean ${meant}?`];
  });
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
