import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Writes `folder/name` and gives its SHA-256. */
export async function writeInstalled(
  folder: string,
  name: string,
  content: Uint8Array | object,
): Promise<string> {
  const bytes =
    content instanceof Uint8Array ? content : Buffer.from(`${JSON.stringify(content, null, 2)}\n`);
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
  return sha256Of(bytes);
}
