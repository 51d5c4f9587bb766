const passedThrough = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'SystemRoot',
] as const;

/**
 * The environment of ffmpeg and ffprobe: what the loader needs and no more. No
 * secret of the service gets there, and no `http_proxy`, which would send the
 * relay's loopback addresses to a proxy.
 */
export function childEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = { LC_ALL: 'C', ...extra };
  for (const name of passedThrough) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
