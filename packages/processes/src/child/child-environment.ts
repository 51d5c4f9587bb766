const passedThrough = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SystemRoot',
] as const;

/**
 * A child's environment: the variables that the loader and TLS need, plus `extra`. It contains
 * none of the service's secrets and no `http_proxy`.
 */
export function childEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = { LC_ALL: 'C', ...extra };
  for (const name of passedThrough) {
    const value = process.env[name];
    if (value !== undefined) environment[name] ??= value;
  }
  return environment;
}
