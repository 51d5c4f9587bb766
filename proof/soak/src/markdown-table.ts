/** Rows as a table of Markdown. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `\n${[line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}
