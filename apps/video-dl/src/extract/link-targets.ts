/** Pages of well-known sites that only lead to another URL: their host and path, and the parameter that holds it. */
const redirectors: readonly { readonly page: RegExp; readonly parameters: readonly string[] }[] = [
  { page: /^(?:www\.)?google\.[a-z.]+\/url$/, parameters: ['q', 'url'] },
  { page: /^(?:www\.|m\.)?youtube\.com\/redirect$/, parameters: ['q'] },
  { page: /^(?:l|lm)\.facebook\.com\/l\.php$/, parameters: ['u'] },
  { page: /^l\.instagram\.com\/$/, parameters: ['u'] },
  { page: /^out\.reddit\.com\//, parameters: ['url'] },
];

/** Hosts that show another site's posts with a preview for chats. Their paths are that site's. */
const mirrors: Readonly<Record<string, string>> = {
  'fixupx.com': 'x.com',
  'fixvx.com': 'x.com',
  'fxtwitter.com': 'x.com',
  'vxtwitter.com': 'x.com',
  'ddinstagram.com': 'www.instagram.com',
  'kkinstagram.com': 'www.instagram.com',
  'tnktok.com': 'www.tiktok.com',
  'vxtiktok.com': 'www.tiktok.com',
  'rxddit.com': 'www.reddit.com',
  'vxreddit.com': 'www.reddit.com',
};

/**
 * Where a link of a redirector or a mirror leads, without a request.
 * @returns null for every other link
 */
export function targetOf(url: URL): string | null {
  const page = url.hostname + url.pathname;
  const redirector = redirectors.find((each) => each.page.test(page));
  if (redirector !== undefined) {
    const targets = redirector.parameters.map((name) => url.searchParams.get(name));
    return targets.find((target) => target !== null && /^https?:\/\//i.test(target)) ?? null;
  }
  const host = mirrors[url.hostname.replace(/^(?:www|d|g|m)\./, '')];
  if (host === undefined) return null;
  const target = new URL(url);
  target.protocol = 'https:';
  target.host = host;
  target.port = '';
  return target.href;
}
