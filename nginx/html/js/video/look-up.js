import { withAccessKey } from '../access-key.js';
import { ensureSuccess } from '../problem.js';

/**
 * What `/api/info` says about a page.
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
export async function lookUp(url, signal) {
  const options = { headers: withAccessKey(), signal };
  const response = await ensureSuccess(await fetch(`api/info?${new URLSearchParams({ url })}`, options));
  return response.json();
}
