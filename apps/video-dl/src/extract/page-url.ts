import { DomainError } from '@media-services/http-common';

export const maxUrlCharacters = 2048;

declare const isPageUrl: unique symbol;

/** The normalised URL of a page, created only by `parsePageUrl`. */
export type PageUrl = string & { readonly [isPageUrl]: true };

/**
 * Parses the URL of a page as a browser would (WHATWG URL) and normalises it. Drops the
 * fragment, which servers never see, but from which yt-dlp reads options
 * (`#__youtubedl_smuggle=`).
 * @throws DomainError `invalid_url`
 */
export function parsePageUrl(text: string): PageUrl {
  if (text.length > maxUrlCharacters) {
    throw invalid(`has ${text.length} characters; the limit is ${maxUrlCharacters}`);
  }
  if (!/^https?:\/\//i.test(text.trim())) throw withoutScheme(text.trim());
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw invalid('is not a well-formed URL', error);
  }
  if (url.username !== '' || url.password !== '') throw invalid('contains a user name or password');
  url.hash = '';
  if (url.href.length > maxUrlCharacters) {
    throw invalid(`has more than ${maxUrlCharacters} characters once encoded`);
  }
  return url.href as PageUrl;
}

const hostAndPath = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d{1,5})?(?:[/?#]\S*)?$/u;
/** Whether a text contains exactly one URL, after other words. */
function hasOneUrlInside(text: string): boolean {
  const [first, ...others] = [...text.matchAll(/https?:\/\//gi)];
  return first !== undefined && others.length === 0 && /\s["'(<[]?$/.test(text.slice(0, first.index));
}

/** Suggests what the client probably meant. We don't guess, because downloading the wrong page would be worse. */
function withoutScheme(text: string): DomainError {
  if (hostAndPath.test(text)) {
    return invalid('does not begin with http:// or https://', undefined, 'Put https:// in front of it.');
  }
  if (hasOneUrlInside(text)) {
    return invalid('has other text around it', undefined, 'Send only the URL, starting with https://.');
  }
  return invalid('does not begin with http:// or https://');
}

const whatToSend = 'Send the full http(s) URL of the page that plays the video, URL-encoded.';

function invalid(why: string, cause?: unknown, remedy = whatToSend): DomainError {
  return new DomainError('invalid_url', `The URL in \`url\` ${why}. ${remedy}`, {
    fields: [{ field: 'url', message: `must be an http or https URL; it ${why}` }],
    cause,
  });
}
