import type { Shape } from './shapes.js';

/** The result for one shape, as shown in the documentation. */
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
    "The most popular sites, in the formats in which they serve media. No test contacts the sites: `proof/fault-site/src/double` imitates them behind an outbound proxy, with its own pages, player script and media, and yt-dlp's extractors read it. So the table shows what the pinned yt-dlp and the service make of these formats, not whether a site has changed. `npm run test:sites -- --newest` runs the same with the newest yt-dlp. Debian's version of March 2023, setup's fallback without PyPI, reads only Vimeo and SoundCloud here.",
    '',
    'Every video lasts 4 s. The original audio is a tone of 440 Hz, a dub 660, a compressed mix 550, an audio description 880. The test decodes each result completely: it has the full length, the pitch identifies the audio track and the height the video. The YouTube double requires `n` and the signature, serves at most 10 MiB at once, and nothing before its ads are over.',
    '',
    'Each row is one extraction. The `/api/info` column counts its requests; those for the media vary with timing. `apps/video-dl/test/double/sites.test.ts` generates the table and checks that it is current (`UPDATE_DOCS=1` writes it).',
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
