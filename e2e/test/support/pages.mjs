import { once } from 'node:events';
import { createServer } from 'node:http';
import { startSampleSite } from '../../../scripts/lib/demo/sample-site.mjs';

const document = (title, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><rect width="640" height="360" fill="#24405c"/><circle cx="320" cy="180" r="90" fill="#f3c14b"/></svg>';

/**
 * The sample site, and a second one with pages that are harder.
 * @param {string} folder of the sample film
 */
export async function startPages(folder) {
  const films = await startSampleSite(folder);
  const film = films.url('/film-720.mp4');
  const pages = {
    '/with-picture': document('A film with a picture', `<video src="${film}" poster="/poster.svg"></video>`),
    '/only-words': document('Only words', '<p>Nothing to see.</p>'),
  };
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url, 'http://site');
    if (pathname === '/hangs') return;
    if (pathname === '/poster.svg') {
      res.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(picture);
      return;
    }
    const page = pages[pathname];
    res.writeHead(page === undefined ? 404 : 200, { 'Content-Type': 'text/html; charset=utf-8' });
    res.end(page ?? document('Not here', '<p>Not here.</p>'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  return {
    films: films.url(''),
    pages: `http://${host}`,
    hosts: [films.host, host],
    close: async () => {
      server.close();
      server.closeAllConnections();
      await films.close();
    },
  };
}
