import { liveTable, stoppedPages, type LiveResult } from '../src/live.js';

const page = (name: string, works: boolean): LiveResult => ({
  name,
  url: `https://${name}.example/`,
  info: 'ok, 1.0 s',
  mp3: works ? 'ok, 2.0 s' : '502 upstream_error, 0.3 s',
  mp4: '',
  works,
});

test('only a page that worked in the last run counts as stopped', () => {
  const last = [page('a', true), page('b', false), page('c', true)];
  const now = [page('a', false), page('b', false), page('c', true), page('new', false)];

  expect(stoppedPages(last, now).map(({ name }) => name)).toEqual(['a']);
  expect(stoppedPages([], now)).toEqual([]);
});

test('the table has a row per page, as Markdown', () => {
  expect(liveTable([page('a', true), page('b', false)]).split('\n')).toEqual([
    '| Page | info      | MP3, first 3 s            | MP4, first 3 s |',
    '|------|-----------|---------------------------|----------------|',
    '| a    | ok, 1.0 s | ok, 2.0 s                 |                |',
    '| b    | ok, 1.0 s | 502 upstream_error, 0.3 s |                |',
  ]);
});
