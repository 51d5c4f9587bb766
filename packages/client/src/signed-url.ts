const encoder = new TextEncoder();

/**
 * Adds `expires` and `signature` to a path of the gateway, for programs that can send no key. Nothing is
 * sent to the server.
 * @param target path from `/api/` on, with its query
 * @throws TypeError in a page that isn't a secure context (HTTPS or localhost)
 */
export async function signTarget(target: string, key: string, expires: Date): Promise<string> {
  // Undefined in a page over plain HTTP, whatever the types say.
  const subtle = globalThis.crypto.subtle as typeof globalThis.crypto.subtle | undefined;
  if (subtle === undefined) throw new TypeError('Signing needs HTTPS or localhost, because of the browser.');
  const hash = hex(await subtle.digest('SHA-256', encoder.encode(key)));
  const seconds = Math.floor(expires.getTime() / 1000);
  const signed = `${target}${target.includes('?') ? '&' : '?'}expires=${seconds}`;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const secret = await subtle.importKey('raw', encoder.encode(hash), algorithm, false, ['sign']);
  const mac = hex(await subtle.sign('HMAC', secret, encoder.encode(signed)));
  return `${signed}&signature=${hash.slice(0, 16)}.${mac}`;
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
