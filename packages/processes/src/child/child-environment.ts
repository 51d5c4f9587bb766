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
 * The environment of a child: what the loader and TLS need, and `extra`. No
 * secret of the service gets there, and no `http_proxy` of the machine.
 */
export function childEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = { LC_ALL: 'C', ...extra };
  for (const name of passedThrough) {
    const value = process.env[name];
    if (value !== undefined) environment[name] ??= value;
  }
  return environment;
}
