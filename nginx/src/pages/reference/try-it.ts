import { escapeHtml } from '../html.js';
import type { Endpoint, Input } from './endpoints.js';

/** Placeholder for the page's origin, replaced by nginx/html/js/docs/reference.js. */
const origin = '<span data-origin>http://127.0.0.1:8080</span>';

/** A form that sends the request. Works without scripts; with scripts, it shows the response below. */
export function tryItHtml({ id, method, path, inputs }: Endpoint): string {
  const encoding = method === 'post' ? ' enctype="multipart/form-data"' : '';
  return `<form class="try" action="..${path}" method="${method}"${encoding} data-endpoint="${id}">
${inputs.map((input) => fieldHtml(id, input)).join('\n')}
<pre class="curl" aria-label="The request for a shell"><code>${curlHtml({ method, path, inputs })}</code></pre>
<p class="try-actions"><button class="button primary" type="submit">Send</button></p>
<div class="outcome" role="status"></div>
</form>`;
}

function fieldHtml(endpoint: string, input: Input): string {
  const id = `${endpoint}-${input.name}`;
  return `<p class="field"><label for="${id}">${escapeHtml(input.name)}</label>${controlHtml(id, input)}</p>`;
}

function controlHtml(id: string, { name, in: place, required, schema }: Input): string {
  // The field has no name, because a form without scripts can't send headers and should omit it.
  const called = place === 'header' ? 'data-header' : 'name';
  const common = `id="${id}" ${called}="${name}"${required ? ' required' : ''}`;
  const value = schema.default === undefined ? '' : ` value="${escapeHtml(textOf(schema.default))}"`;
  if (schema.enum !== undefined) {
    const options = schema.enum.map(textOf).map((option) => {
      const chosen = option === schema.default ? ' selected' : '';
      return `<option${chosen}>${escapeHtml(option)}</option>`;
    });
    return `<select ${common}>${options.join('')}</select>`;
  }
  if (schema.format === 'binary') return `<input type="file" ${common} />`;
  if (schema.type === 'number') {
    return `<input type="number" step="any" min="${schema.minimum}" max="${schema.maximum}" ${common}${value} />`;
  }
  const [example] = schema.examples ?? [schema.format === 'uri' ? 'https://…' : ''];
  return `<input type="text" autocomplete="off" spellcheck="false" placeholder="${escapeHtml(textOf(example))}" ${common}${value} />`;
}

/**
 * The same request as a curl command. Parts that depend on the form are in separate elements:
 * `data-field` holds a value, and `data-when` an argument that is left out while its field is
 * empty.
 */
function curlHtml({ method, path, inputs }: Pick<Endpoint, 'method' | 'path' | 'inputs'>): string {
  const query = inputs.some((input) => input.in === 'query') ? ' -G' : '';
  const output =
    method === 'post' ? ' -o cut-out.png' : inputs.some(({ name }) => name === 'Range') ? ' -OJ' : '';
  const key = `<span data-when="key" hidden> -H "Authorization: Bearer $KEY"</span>`;
  const given = inputs.map((input) => argumentHtml(input)).join('');
  return `curl -fsS${query}${output} '${origin}${path}'${given}${key}`;
}

function argumentHtml(input: Input): string {
  const { name, in: place } = input;
  const text = exampleOf(input);
  const value = `<span data-field="${name}">${escapeHtml(text)}</span>`;
  const options = {
    query: `--data-urlencode '${name}=${value}'`,
    header: `-H '${name}: ${value}'`,
    form: `-F '${name}=${input.schema.format === 'binary' ? '@' : ''}${value}'`,
  };
  return `<span data-when="${name}"${text === '' ? ' hidden' : ''}> ${options[place]}</span>`;
}

/** The placeholder for an empty required input; nothing for an optional one. */
function exampleOf({ required, schema }: Input): string {
  if (schema.format === 'binary') return 'photo.jpg';
  if (schema.default !== undefined) return textOf(schema.default);
  return required ? 'https://…' : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
