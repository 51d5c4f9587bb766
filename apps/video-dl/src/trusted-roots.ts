import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

/** The public certificate authorities plus the operator's, for this process and its engines. */
export class TrustedRoots implements AsyncDisposable {
  /** In PEM format. */
  readonly certificates: readonly string[];
  /** A file with all of them, deleted on dispose. */
  readonly file: string;

  private constructor(certificates: readonly string[], file: string) {
    this.certificates = certificates;
    this.file = file;
  }

  /** @throws as `readRoots` */
  static async withRootsFrom(operatorFile: string): Promise<TrustedRoots> {
    const certificates = [...rootCertificates, ...readRoots(operatorFile)];
    const file = join(await mkdtemp(join(tmpdir(), 'trusted-roots-')), 'all.pem');
    await writeFile(file, `${certificates.join('\n')}\n`);
    return new TrustedRoots(certificates, file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(dirname(this.file), { recursive: true, force: true });
  }
}
