import { DomainError } from '@media-services/http-common';

export const maxUrlCharacters = 2048;

/**
 * Reads the address of a page as a browser would (WHATWG URL) and brings it into
 * one form. The fragment goes: it is not part of the page's address, and yt-dlp
 * reads options from it (`#__youtubedl_smuggle=`).
 *
 * @throws DomainError `invalid_url`
 */
export function parseVideoUrl(text: string): string {
  if (text.length > maxUrlCharacters) {
    throw invalid(`has ${text.length} characters; at most ${maxUrlCharacters} are read`);
  }
  if (!/^https?:\/\//i.test(text.trim())) throw invalid('does not begin with http:// or https://');
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
  return url.href;
}

function invalid(why: string, cause?: unknown): DomainError {
  return new DomainError(
    'invalid_url',
    `The address in \`url\` ${why}. Send the full http(s) address of the page that plays the video, URL-encoded.`,
    { fields: [{ field: 'url', message: `must be an http or https URL; it ${why}` }], cause },
  );
}
