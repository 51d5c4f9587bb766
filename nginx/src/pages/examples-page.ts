import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentationPage, escapeHtml } from './html.js';

const languages = [
  { extension: 'sh', name: 'Shell' },
  { extension: 'mjs', name: 'JavaScript' },
  { extension: 'py', name: 'Python' },
] as const;

const tasks = [
  { file: 'video-info', title: 'What is on a page, and what each download will be' },
  { file: 'save-audio', title: 'Save the audio as MP3' },
  { file: 'save-video', title: 'Save the video as MP4' },
  { file: 'resume-download', title: 'Resume an interrupted download' },
  { file: 'remove-background', title: 'Cut the subject out of an image' },
] as const;

/** The page at /docs/examples, from the files in docs/examples that the tests run. */
export function renderExamplesPage(root: string): string {
  const sections = tasks.map(({ file, title }) => {
    const blocks = languages.flatMap(({ extension, name }) => {
      const path = join(root, 'docs/examples', `${file}.${extension}`);
      if (!existsSync(path)) return [];
      const source = readFileSync(path, 'utf8');
      return `        <h3>${name}</h3>
        <pre class="program" role="group" aria-label="${escapeHtml(title)}: ${name}" tabindex="0"><code>${escapeHtml(source.trimEnd())}</code></pre>`;
    });
    return `      <section id="${file}">
        <h2><a href="#${file}">${escapeHtml(title)}</a></h2>
${blocks.join('\n')}
      </section>`;
  });
  return documentationPage({
    title: 'Examples',
    description: 'Requests to both services in shell, JavaScript and Python.',
    path: 'examples',
    main: `      <h1>Examples</h1>
      <p class="lead">Each example needs only the language's standard library. Set <code>BASE_URL</code> to your server's URL and <code>VIDEO_URL</code> to the page of a video.</p>
${sections.join('\n')}`,
  });
}
