import { anchorOf } from '../../errors/documented-errors.js';
import { breakable, escapeHtml, inlineHtml } from '../html.js';
import { type Header, type OpenApi, type Operation, type Response } from './open-api.js';
import { membersHtml } from './schema.js';

/** Every status that an operation can end in, folded: headers, body, and an example for each code. */
export function answersHtml({ responses }: Operation, { components }: OpenApi): string {
  return Object.entries(responses)
    .map(([status, response]) => {
      const codes = Object.values(response.content).flatMap(({ examples }) => Object.keys(examples));
      const about = codes.length === 0 ? inlineHtml(response.description) : breakable(codes.join(', '));
      return `<details class="answer" data-status="${status}">
<summary><code>${status}</code> <span>${about}</span></summary>
${contentHtml(response, components)}${headersHtml(response.headers)}</details>`;
    })
    .join('\n');
}

function contentHtml({ content }: Response, { schemas, examples: known }: OpenApi['components']): string {
  return Object.entries(content)
    .map(([mediaType, { schema, examples }]) => {
      const errors = Object.keys(examples).map((code) => {
        const { summary, value } = known[code] ?? { summary: '', value: undefined };
        return `<p><a href="errors#${anchorOf(code)}"><code>${breakable(code)}</code></a> ${escapeHtml(summary)}</p>
<pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`;
      });
      if (errors.length > 0) return errors.join('\n');
      return `<p>Body: <code>${mediaType}</code></p>${membersHtml(schema, schemas)}`;
    })
    .join('\n');
}

function headersHtml(headers: Readonly<Record<string, Header>>): string {
  const rows = Object.entries(headers).map(
    ([name, { description = '' }]) => `<li><code>${name}</code> ${inlineHtml(description)}</li>`,
  );
  return rows.length === 0 ? '' : `<p>Headers:</p><ul class="members">${rows.join('')}</ul>\n`;
}
