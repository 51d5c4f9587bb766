import { brokenRules } from '../upstream/transfer-fault.js';

const maxUrlLength = 8192;

/**
 * A URL that a playlist or manifest names, absolute and without user and password.
 * @throws TransferFault when it is none of the web
 */
export function resolveUrl(reference: string, baseUrl: string): string {
  const isPlain = reference !== '' && reference.length <= maxUrlLength && !/\p{Cc}/u.test(reference);
  const url = isPlain && URL.canParse(reference, baseUrl) ? new URL(reference, baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw brokenRules('names something that is no URL of the web');
  url.username = '';
  url.password = '';
  return url.href;
}
