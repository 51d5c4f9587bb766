const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** Escaped text that may break after `_`, `/` and `-`: codes and paths on narrow screens. */
export function breakable(text: string): string {
  return escapeHtml(text).replace(/[_/-](?=.)/g, '$&<wbr>');
}

/** Escaped text in which `…` is code. */
export function inlineHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/**
 * A page of the documentation in the frame of the web page. Its URLs are
 * relative: the gateway may be below a path of another server.
 * @param options `path` as seen from the folder of the documentation
 */
export function documentationPage(options: {
  readonly title: string;
  /** One sentence for search results. */
  readonly description: string;
  readonly path: string;
  readonly main: string;
  /** The URL of a module that the page runs. */
  readonly script?: string;
}): string {
  const link = (href: string, text: string) =>
    `<a href="${href}"${href === options.path ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(options.title)} — Media Services</title>
    <meta name="description" content="${escapeHtml(options.description)}" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="../favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="../css/base.css" />
    <link rel="stylesheet" href="../css/docs.css" />${options.script === undefined ? '' : `\n    <script type="module" src="${options.script}"></script>`}
  </head>
  <body>
    <a class="skip-link" href="#content">Skip to the content</a>
    <header class="site-header">
      <a class="brand" href="../" aria-label="Media Services, start page">
        <img src="../favicon.svg" width="30" height="30" alt="" />
        <span>Media Services</span>
      </a>
      <nav aria-label="Documentation">
        ${link('./', 'API')}
        ${link('examples', 'Examples')}
        ${link('errors', 'Errors')}
      </nav>
    </header>
    <main id="content" class="document" tabindex="-1">
${options.main}
    </main>
  </body>
</html>
`;
}
