import { escapeHtml } from '../html.js';
import type { Endpoint, Input } from './endpoints.js';

/** Stands for where the page is served from, until nginx/html/js/docs/reference.js puts that in. */
const origin = '<span data-origin>http://127.0.0.1:8080</span>';

/** A form that sends the request: by itself without scripts, with its answer below it with them. */
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
  // Without a name, a form that is sent without scripts leaves the field out: it can send no headers.
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
 * The same request for a shell. What depends on the form is in elements of its own:
 * `data-field` holds a value, and `data-when` an argument that is left out while its field is empty.
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

/** What stands for an input before the form has anything; nothing for one that may be left out. */
function exampleOf({ required, schema }: Input): string {
  if (schema.format === 'binary') return 'photo.jpg';
  if (schema.default !== undefined) return textOf(schema.default);
  return required ? 'https://…' : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
