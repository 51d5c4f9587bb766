import { withAccessKey } from '../access-key.js';
import { ensureSuccess } from '../problem.js';

/**
 * What `/api/info` says about a page.
 * @param options `item`: which video of a page with several, from 1
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
export async function lookUp(url, signal, { item } = {}) {
  const options = { headers: withAccessKey(), signal };
  const response = await ensureSuccess(
    await fetch(`api/info?${new URLSearchParams({ url, ...(item && { item }) })}`, options),
  );
  return response.json();
}
