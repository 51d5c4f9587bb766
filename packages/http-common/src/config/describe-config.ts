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

/** A commented `.env` file with every variable at its default. */
export function renderEnvExample(sections: readonly { service: string; schema: z.ZodObject }[]): string {
  const blocks = sections.map(({ service, schema }) => {
    const lines = describeConfig(schema).map(
      ({ name, default: value, description, expectation }) =>
        `# ${description} (${expectation})\n#${name}=${value ?? ''}\n`,
    );
    return `### ${service}\n\n${lines.join('\n')}`;
  });
  return blocks.join('\n');
}

/** A Markdown table with every variable, its default and what it does. */
export function renderConfigurationTable(schema: z.ZodObject): string {
  const rows = describeConfig(schema).map(
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
