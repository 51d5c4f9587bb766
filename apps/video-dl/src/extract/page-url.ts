import { DomainError } from '@media-services/http-common';
import { targetOf } from './link-targets.js';
import { readPastedText } from './pasted-link.js';

export const maxUrlCharacters = 2048;
/** Room for a title and a description around the link. */
const maxPastedCharacters = 2 * maxUrlCharacters;

declare const isPageUrl: unique symbol;

/** The normalised URL of a page, created only by `parsePageUrl`. */
export type PageUrl = string & { readonly [isPageUrl]: true };

/** A redirector's target may be a redirector's link again. */
const maxTargets = 3;

/**
 * Parses the URL of a page as a browser would (WHATWG URL) and normalises it. Takes the only link from
 * a pasted text, and the page behind a redirector's or mirror's link. Drops the fragment, which servers
 * never see, but from which yt-dlp reads options (`#__youtubedl_smuggle=`).
 * @throws DomainError `invalid_url`
 */
export function parsePageUrl(pasted: string): PageUrl {
  if (pasted.length > maxPastedCharacters) {
    throw invalid(`has ${pasted.length} characters; the limit is ${maxUrlCharacters}`);
  }
  let url = parseLink(onlyLink(pasted));
  for (let count = 0; count < maxTargets; count += 1) {
    const target = targetOf(url);
    if (target === null) break;
    url = parseLink(target);
  }
  return url.href as PageUrl;
}

function onlyLink(pasted: string): string {
  const { text, links } = readPastedText(pasted);
  const [link, another] = links;
  if (link === undefined) {
    // We don't guess, because downloading the wrong page would be worse.
    const remedy = hostAndPath.test(text) ? 'Put https:// in front of it.' : whatToSend;
    throw invalid('does not begin with http:// or https://', remedy);
  }
  if (another !== undefined) throw invalid(`holds ${links.length} links`, 'Send one link at a time.');
  return link;
}

function parseLink(link: string): URL {
  if (!URL.canParse(link)) throw invalid('is not a well-formed URL');
  const url = new URL(link);
  if (url.username !== '' || url.password !== '') throw invalid('contains a user name or password');
  url.hash = '';
  if (url.href.length > maxUrlCharacters) {
    throw invalid(`has more than ${maxUrlCharacters} characters once encoded`);
  }
  return url;
}

const hostAndPath = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d{1,5})?(?:[/?#]\S*)?$/u;

const whatToSend = 'Send the full http(s) URL of the page that plays the video, URL-encoded.';

function invalid(why: string, remedy = whatToSend): DomainError {
  return new DomainError('invalid_url', `The URL in \`url\` ${why}. ${remedy}`, {
    fields: [{ field: 'url', message: `must be an http or https URL; it ${why}` }],
  });
}
