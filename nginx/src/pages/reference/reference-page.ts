import { breakable, documentationPage, escapeHtml, inlineHtml } from '../html.js';
import { answersHtml } from './answers.js';
import { readReference, type Endpoint, type EndpointGroup, type Input } from './endpoints.js';
import type { OpenApi } from './open-api.js';
import { typeWords } from './schema.js';
import { tryItHtml } from './try-it.js';

/** The page at /docs/: every endpoint, folded, from the OpenAPI document. */
export function renderReferencePage(): string {
  const { document, groups } = readReference();
  return documentationPage({
    title: 'API',
    description: 'Every endpoint of both services, with a form that sends its request.',
    path: './',
    script: '../js/docs/reference.js',
    main: `      <h1>API</h1>
      <p class="lead">Two services behind <code data-origin>http://127.0.0.1:8080</code>. Every error is a problem document (RFC 9457) with a <code>code</code> that the <a href="errors">errors page</a> explains; <a href="examples">the examples</a> run unchanged. For generators and API clients: the <a href="openapi.json">OpenAPI 3.1 document</a>, also <a href="openapi.yaml">as YAML</a>. Version ${escapeHtml(document.info.version)}.</p>
      <noscript><p class="no-script">Without JavaScript the forms show the bare answers.</p></noscript>
      <p class="kept-key" id="kept-key" hidden>Requests are sent with the access key that is kept in this browser. <button class="text-button" type="button">Erase it</button></p>
${groups.map((group) => groupHtml(group, document)).join('\n')}`,
  });
}

function groupHtml({ name, description, endpoints }: EndpointGroup, document: OpenApi): string {
  const id = name.toLowerCase();
  return `      <section class="service" id="${id}">
        <h2><a href="#${id}">${name}</a></h2>
        <p>${inlineHtml(description)}</p>
${endpoints.map((endpoint) => endpointHtml(endpoint, document)).join('\n')}
      </section>`;
}

function endpointHtml(endpoint: Endpoint, document: OpenApi): string {
  const { id, method, path, operation, inputs } = endpoint;
  return `<details class="endpoint" id="${id}">
<summary><h3><span class="method">${method.toUpperCase()}</span> <code>${breakable(path)}</code></h3> <span>${escapeHtml(operation.summary)}</span></summary>
<div class="endpoint-body">
<p>${inlineHtml(operation.description)}</p>
${inputsHtml(inputs)}
<h4>Try it</h4>
${tryItHtml(endpoint)}
<h4>Responses</h4>
${answersHtml(operation, document)}
</div>
</details>`;
}

const places = { query: 'in the query', header: 'header', form: 'in the form' };

function inputsHtml(inputs: readonly Input[]): string {
  if (inputs.length === 0) return '';
  const items = inputs.map(({ name, in: place, required, description, schema }) => {
    const fallback = schema.default === undefined ? '' : `, ${JSON.stringify(schema.default)} unless given`;
    const kind = `${typeWords(schema)}, ${places[place]}${required ? ', required' : fallback || ', optional'}`;
    return `<li><code>${escapeHtml(name)}</code> <span class="kind">${escapeHtml(kind)}</span> ${inlineHtml(description)}</li>`;
  });
  return `<h4>Parameters</h4>\n<ul class="members">${items.join('')}</ul>`;
}
