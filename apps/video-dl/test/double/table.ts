import type { Shape } from './shapes.js';

/** What came out of one shape, as the documentation tells it. */
export interface Cells {
  readonly info: string;
  readonly mp3: string;
  readonly 'mp4-720': string;
  readonly 'mp4-1080': string;
}

/** docs/internals/sites.md. */
export function renderTable(shapes: readonly Shape[], results: ReadonlyMap<Shape, Partial<Cells>>): string {
  const rows = shapes.map((shape) => {
    const cells = results.get(shape) ?? {};
    const columns = [shape.site, shape.shape, cells.info, cells.mp3, cells['mp4-720'], cells['mp4-1080']];
    return `| ${columns.map((cell) => cell ?? '').join(' | ')} |`;
  });
  return [
    '# Sites',
    '',
    "The sites that people use most, in the shapes in which they give their media. No test asks the sites themselves: `apps/video-dl/test/double` stands in for them behind an outbound proxy, with pages, a player script and media of its own, and yt-dlp's own extractors read it. So this shows what the service makes of these shapes with the pinned yt-dlp, not whether a site has changed since; `npm run test:sites -- --newest` asks the same of the newest yt-dlp. Debian's of March 2023, which set-up falls back to where PyPI cannot be reached, reads Vimeo and SoundCloud here and nothing else.",
    '',
    'Every video lasts 4 s. Its original sound is a tone of 440 Hz; a dub has 660, a compressed mix 550, a description for the blind 880. Each result was decoded from end to end: it has the whole length, the pitch tells which sound was taken, the height which picture. YouTube wants `n` and the signature solved, gives out at most 10 MiB at once, and nothing before its advertisements are over.',
    '',
    'Each row is one extraction, whose requests are those of `/api/info`; the others are for the media. `apps/video-dl/test/double/sites.test.ts` makes the table and checks that it is current (`UPDATE_DOCS=1` writes it).',
    '',
    '| site | what it gives | `/api/info` | MP3 | MP4 720 | MP4 1080 |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The formatter aligns columns. */
export function withoutPadding(markdown: string): string {
  return markdown
    .replace(/ +/gu, ' ')
    .replace(/-{3,}/gu, '---')
    .replace(/ ?\| ?/gu, '|');
}
