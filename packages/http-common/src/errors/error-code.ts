/** Whether a thrown value is a system error with the code, for example `ESRCH`. */
export function hasErrorCode(thrown: unknown, code: string): boolean {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === code;
}
