/** The code of an error of Node or undici (`ECONNREFUSED`, `UND_ERR_SOCKET`), if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
