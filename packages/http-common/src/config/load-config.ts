import type { z } from 'zod';
import { unknownSettings, withPresentNames } from './unknown-settings.js';

/** The environment is not usable; the message lists every problem with the variable's name. */
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
 * Reads a service's configuration; an empty variable counts as unset. Renamed, removed and mistyped
 * names are reported on stderr.
 * @throws ConfigError with every problem at once.
 */
export function loadConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.output<Schema> {
  const present = withPresentNames(env);
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
