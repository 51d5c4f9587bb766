/**
 * npm run proof -- engines: docker-compose.yml on Docker engines like those of small machines, and the
 * images under Podman. As root, with dockerd, podman and the images.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { imageName } from './compose/project.js';
import { Report } from './report.js';
import { run } from './run.js';
import { NotYet, until } from './wait.js';

const healthSchema = z.object({ services: z.object({ 'video-dl': z.object({ status: z.string() }) }) });

const report = new Report();
await report.check('a kernel without CPU quotas (Synology): every container can be created', () =>
  onEngine('mount -t tmpfs none /sys/fs/cgroup/cpu; exec', createContainers),
);
await report.check('one core: every container can be created', () =>
  onEngine('exec taskset -c 0', createContainers),
);
await report.check('Podman: the gateway finds video-dl, and its log names a resolver that fails', podman);
report.end();

/** An engine of its own, without a network, whose start-up a shell line prepares. */
async function onEngine(prepare: string, use: (host: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-engine-'));
  const host = `unix://${folder}/socket`;
  const flags = [
    ...['--data-root', `${folder}/data`, '--exec-root', `${folder}/exec`, '--pidfile', `${folder}/pid`],
    ...['--host', host, '--iptables=false', '--ip-forward=false', '--ip-masq=false', '--bridge=none'],
    '--containerd=/var/run/docker/containerd/containerd.sock',
  ];
  const engine = spawn('unshare', ['-m', '-n', 'sh', '-c', `${prepare} dockerd ${flags.join(' ')}`], {
    stdio: 'ignore',
  });
  const ended = once(engine, 'exit');
  try {
    await until('the engine', 60, async () => {
      const version = await run('docker', ['-H', host, 'version', '-f', '{{.Server.Version}}'], {
        allowFailure: true,
      });
      return version.trim() === '' ? new NotYet('it does not answer') : version;
    });
    await use(host);
  } finally {
    engine.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

/** The engine checks a container's limits when it creates it, so that images of one file do. */
async function createContainers(host: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-images-'));
  try {
    await writeFile(join(folder, 'x'), '');
    await run('tar', ['-C', folder, '-cf', join(folder, 'x.tar'), 'x']);
    const images = ['gateway', 'video-dl', 'bg-removal'].map(imageName);
    for (const image of [...images, 'valkey/valkey:8-trixie'])
      await run('docker', ['-H', host, 'import', '-c', 'CMD ["/x"]', join(folder, 'x.tar'), image]);
    const compose = ['-H', host, 'compose', '-p', 'verify-engine'];
    await run('docker', [...compose, 'up', '--no-start', '--no-build', '--pull', 'never']);
    await run('docker', [...compose, 'down', '--volumes']);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function podman(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-podman-'));
  const flags = ['--root', `${folder}/root`, '--runroot', `${folder}/run`, '--cgroup-manager=cgroupfs'];
  const { PODMAN_RUNTIME } = process.env;
  if (PODMAN_RUNTIME !== undefined) flags.push('--runtime', PODMAN_RUNTIME);
  const call = (...args: string[]) => run('podman', [...flags, '--events-backend=file', ...args]);
  const hardened = [
    ...[
      '--read-only',
      '--cap-drop',
      'all',
      '--security-opt',
      'no-new-privileges',
      '--log-driver',
      'k8s-file',
    ],
    ...['--no-healthcheck', '--ulimit', 'nofile=20000:20000', '--ulimit', 'nproc=10000:10000'],
  ];
  const start = (name: string, image: string, options: string[]) =>
    call('run', '-d', '--name', name, '--network', 'verify', ...hardened, ...options, imageName(image));
  const health = async () => {
    const script = 'curl --silent --max-time 10 http://127.0.0.1:8080/api/health';
    const text = await call('exec', 'gateway', 'sh', '-c', script);
    return healthSchema.parse(JSON.parse(text)).services['video-dl'].status;
  };
  const startGateway = (...more: string[]) =>
    start('gateway', 'gateway', ['--tmpfs', '/tmp:size=64m,mode=1777', '-e', 'SERVICES=video-dl', ...more]);
  try {
    for (const image of ['gateway', 'video-dl']) {
      const archive = join(folder, `${image}.tar`);
      await run('docker', ['save', '-o', archive, imageName(image)]);
      await call('load', '-i', archive);
      await rm(archive);
    }
    await call('network', 'create', 'verify');
    const video = ['--tmpfs', '/tmp:size=128m,mode=1777', '-e', 'HOST=0.0.0.0', '-e', 'TRUST_PROXY_HOPS=1'];
    await start('video-dl', 'video-dl', video);
    await startGateway();
    await until('video-dl through the gateway', 120, async () => {
      const status = await health().catch(String);
      return status === 'ok' ? status : new NotYet(status);
    });
    await call('rm', '-f', '-t', '1', 'gateway');
    // As it was fixed in the image once.
    await startGateway('-e', 'GATEWAY_RESOLVER=127.0.0.11');
    await until("the resolver's failure in the log", 60, async () => {
      const log = (await run('sh', ['-c', `podman ${flags.join(' ')} logs gateway 2>&1`])).trim();
      return /video-dl could not be resolved|resolver: 127\.0\.0\.11/.test(log) ? log : new NotYet(log);
    });
    assert.equal(await health(), 'down');
    return (await call('--version')).trim();
  } finally {
    await call('rm', '-a', '-f', '-t', '5').catch(() => undefined);
    await call('network', 'rm', '-f', 'verify').catch(() => undefined);
    await call('system', 'reset', '--force').catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}
