import type { Exchange, Site } from '../exchange.js';

/** Loom and Google Drive, where nobody may see the recordings: private, deleted, downloaded too often. */
export class Shares implements Site {
  readonly hosts = [
    'www.loom.com',
    'content-workspacevideo-pa.googleapis.com',
    'drive.usercontent.google.com',
  ];

  async answer(exchange: Exchange): Promise<void> {
    const { hostname, pathname } = exchange.url;
    if (hostname === 'drive.usercontent.google.com') return exchange.html(overQuota);
    if (hostname !== 'www.loom.com') return exchange.json({ mediaMetadata: { title: 'A recording' } });
    // Loom's own pages ask for this, and only then for the file.
    if (pathname === '/graphql') {
      const isPrivate = (await exchange.text()).includes(privateId);
      return exchange.json({ data: { getVideo: isPrivate ? { __typename: 'PrivateVideo' } : null } });
    }
    return exchange.refuse(pathname.includes(privateId) ? 403 : 404);
  }
}

const privateId = '1'.repeat(32);

const overQuota = `<p class="uc-error-caption">Sorry, you can&#39;t view or download this file at this time.</p>
  <p class="uc-error-subcaption">Too many users have viewed or downloaded this file recently. Please try accessing the file again later.</p>`;
