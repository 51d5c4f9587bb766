import { withAccessKey } from '../access-key.js';
import { ensureSuccess } from '../problem.js';

/**
 * What `/api/info` says about a page.
 * @param part `item`: which video of a page with several, from 1; `start` and `end` of a clip, in seconds
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
export async function lookUp(url, signal, part = {}) {
  const options = { headers: withAccessKey(), signal };
  const response = await ensureSuccess(await fetch(`api/info?${pageQuery(url, part)}`, options));
  return response.json();
}

/** The query for a URL and a part of what is there, without what is undefined. */
export function pageQuery(url, part) {
  const given = Object.entries(part).filter(([, value]) => value !== undefined);
  return new URLSearchParams([['url', url], ...given]);
}
