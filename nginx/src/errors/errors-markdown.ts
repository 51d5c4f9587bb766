import { anchorOf, documentedErrors, errorsIntroduction, problemExample } from './documented-errors.js';

/** docs/errors.md */
export function renderErrorsMarkdown(): string {
  const rows = documentedErrors().map(
    ({ code, status, title }) => `| [\`${code}\`](#${anchorOf(code)}) | ${status} | ${title} |`,
  );
  const sections = documentedErrors().map(
    ({ code, status, title, cause, remedy, retryable, origins }) => `<a id="${anchorOf(code)}"></a>

### \`${code}\`

${status} · ${title} · ${origins.join(', ')}${retryable ? ' · retryable' : ''}

- **Cause:** ${cause}
- **Remedy:** ${remedy}
`,
  );
  return `# Errors

Generated (\`npm run proof -- docs\`) from \`src/errors.ts\` of each service and \`packages/http-common/src/errors/error-table.ts\`.

${errorsIntroduction}

\`\`\`json
${problemExample}
\`\`\`

| Code | Status | Meaning |
| --- | --- | --- |
${rows.join('\n')}

## Causes and remedies

${sections.join('\n')}`;
}
