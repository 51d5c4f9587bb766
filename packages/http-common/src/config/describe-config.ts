import { z } from 'zod';

/** One environment variable as documentation shows it. */
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

/** Every variable of a configuration schema, in its order. */
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

/** A Markdown table with every variable, its default and what it does. */
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
