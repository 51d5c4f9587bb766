/** What a build needs on this machine, so that the product's files don't have to contain it. */
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../run.js';

// Named here, because Docker would look up the Dockerfiles' digests in a registry.
const defaultNodeImage = 'node:24-trixie-slim';
const defaultNginxImage = 'nginxinc/nginx-unprivileged:1.30-trixie';
const ownAuthorities = '/usr/local/share/ca-certificates';
const registry = 'https://registry.npmjs.org/';

export interface BuildSetting {
  /** Files beside compose.verify.yml. */
  readonly overrides: readonly string[];
  /** Options of `docker compose build`. */
  readonly buildOptions: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Finds out whether containers reach the package registry only through the host's
 * network, and whether the machine has its own certificate authorities.
 */
export async function prepareBuild(): Promise<BuildSetting> {
  const nodeImage = process.env.NODE_IMAGE ?? defaultNodeImage;
  const overrides = (await containersReachRegistry(nodeImage)) ? [] : ['compose.host-network.yml'];
  // Bake, Compose's newer builder, requires a permission for builds in the host's network.
  const trusting = await trustingImage(nodeImage);
  // The container that downloads the model uses the same TLS-inspecting proxy.
  const authorities = { NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' };
  return {
    overrides,
    buildOptions: [
      ...['--build-arg', `NODE_IMAGE=${trusting}`],
      ...['--build-arg', `NGINX_IMAGE=${process.env.NGINX_IMAGE ?? defaultNginxImage}`],
    ],
    env: { COMPOSE_BAKE: 'false', ...(trusting === nodeImage ? {} : authorities) },
  };
}

async function containersReachRegistry(nodeImage: string): Promise<boolean> {
  const script = `fetch('${registry}', { signal: AbortSignal.timeout(10000) }).then(() => console.log('reached'), () => {})`;
  const args = ['run', '--rm', nodeImage, 'node', '-e', script];
  return (await run('docker', args, { allowFailure: true })).includes('reached');
}

/** The base image with the machine's own authorities, as an operator behind a TLS-inspecting proxy would build it. */
async function trustingImage(nodeImage: string): Promise<string> {
  const certificates = (await readdir(ownAuthorities).catch(() => [])).filter((name) =>
    name.endsWith('.crt'),
  );
  if (certificates.length === 0) return nodeImage;
  const context = await mkdtemp(join(tmpdir(), 'verify-base-'));
  try {
    for (const name of certificates) await copyFile(join(ownAuthorities, name), join(context, name));
    await writeFile(join(context, 'Dockerfile'), `FROM ${nodeImage}\nCOPY *.crt ${ownAuthorities}/\n`);
    const tag = 'media-services-verify/node';
    await run('docker', ['build', '-q', '-t', tag, context]);
    return tag;
  } finally {
    await rm(context, { recursive: true });
  }
}
