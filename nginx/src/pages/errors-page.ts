import {
  anchorOf,
  documentedErrors,
  errorsIntroduction,
  problemExample,
} from '../errors/documented-errors.js';
import { documentationPage, escapeHtml, inlineHtml } from './html.js';

/** A service links to its endpoints; the gateway has none. */
const sections: Readonly<Record<string, string>> = { 'video-dl': 'videos', 'bg-removal': 'images' };

function originHtml(origin: string): string {
  const section = sections[origin];
  return section === undefined ? origin : `<a href="./#${section}">${origin}</a>`;
}

/** The page at /docs/errors, which the `type` of every problem links to. */
export function renderErrorsPage(): string {
  const sections = documentedErrors().map(
    ({
      code,
      status,
      title,
      cause,
      remedy,
      retryable,
      origins,
    }) => `      <section class="error" id="${anchorOf(code)}">
        <h2><a href="#${anchorOf(code)}">${inlineHtml(title)}</a></h2>
        <p class="facts"><code>${code}</code> <span>${status}</span> <span>${origins.map(originHtml).join(', ')}</span>${retryable ? ' <span>may succeed later</span>' : ''}</p>
        <p><strong>Cause.</strong> ${inlineHtml(cause)}</p>
        <p><strong>What to do.</strong> ${inlineHtml(remedy)}</p>
      </section>`,
  );
  return documentationPage({
    title: 'Errors',
    description: 'Every error code of both services and the gateway, with its cause and what to do.',
    path: 'errors',
    main: `      <h1>Errors</h1>
      <p class="lead">${inlineHtml(errorsIntroduction)}</p>
      <pre><code>${escapeHtml(problemExample)}</code></pre>
${sections.join('\n')}`,
  });
}
