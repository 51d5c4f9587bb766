/** The `code` of an error of Node or undici (`ESRCH`, `UND_ERR_SOCKET`); undefined for anything else. */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Whether a thrown value is a system error with the code. */
export function hasErrorCode(thrown: unknown, code: string): boolean {
  return errorCode(thrown) === code;
}
