import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';

/**
 * The certificates in a PEM file.
 * @throws if the file can't be read, has no certificate, or has an invalid one
 */
export function readRoots(file: string): string[] {
  const found = readFileSync(file, 'latin1').match(
    /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g,
  );
  if (found === null) throw new TypeError('it has no PEM certificate');
  for (const certificate of found) new X509Certificate(certificate);
  return found;
}

/**
 * The public certificate authorities plus the operator's, in PEM format: for this process, and in
 * a file for its engines that is deleted on dispose.
 * @throws as `readRoots`
 */
export async function createTrustedRoots(operatorFile: string) {
  const certificates = [...rootCertificates, ...readRoots(operatorFile)];
  const folder = await mkdtemp(join(tmpdir(), 'trusted-roots-'));
  const file = join(folder, 'all.pem');
  await writeFile(file, `${certificates.join('\n')}\n`);
  return {
    certificates,
    file,
    [Symbol.asyncDispose]: async () => rm(folder, { recursive: true, force: true }),
  };
}
