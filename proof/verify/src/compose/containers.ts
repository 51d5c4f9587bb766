/** Checks the permissions of the containers. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { docker, inspect, processesIn } from '../docker.js';
import { shell, type Box } from '../place/box.js';
import type { Report } from '../report.js';
import { containerOf, containersOf, type Service } from './project.js';

const services: readonly Service[] = ['gateway', 'video-dl', 'bg-removal', 'redis'];

/** Checks each container; returns each finding once. */
async function each(check: (box: Box, service: Service) => Promise<unknown>): Promise<string> {
  const notes = new Set<string>();
  for (const service of services) {
    for (const box of await containersOf(service)) {
      const note = await check(box, service);
      if (typeof note === 'string') notes.add(note);
    }
  }
  return [...notes].join(', ');
}

/** Maximum size of an image's file system, in MB. */
const largestImages: Partial<Record<Service, number>> = { gateway: 120, 'bg-removal': 400, 'video-dl': 550 };

const listsSchema = z.object({ allowed: z.number(), missing: z.array(z.string()) });
const lines = (text: string) => text.split('\n').filter(Boolean);

export async function checkContainers(report: Report): Promise<void> {
  await report.check('only the gateway publishes a port', () =>
    each(async (box, service) => {
      const { Ports } = (await inspect(box)).NetworkSettings;
      const published = Object.values(Ports).flatMap((bindings) => bindings ?? []);
      assert.equal(
        published.length > 0,
        service === 'gateway',
        `${box.name} publishes ${JSON.stringify(published)}`,
      );
    }),
  );
  await report.check('no container runs as root', () => each(unprivileged));
  await report.check('no process has a capability or can gain privileges', () => each(incapable));
  await report.check('one init and no more starts each container', () => each(oneInit));
  await report.check('the images stay small', () => each(small));
  await report.check('file systems are read-only, apart from small tmpfs', () => each(readOnly));
  await report.check('ffmpeg reads every container and codec that video-dl lets in', ffmpegReadsAll);
  await report.check('memory and process limits are in force', () => each(limits));
  await report.check(
    'memory beyond the limit is refused by the kernel, and the service goes on',
    beyondMemory,
  );
  await report.check('bg-removal and Redis have no way out, video-dl does not see bg-removal', isolation);
}

async function ffmpegReadsAll(): Promise<string> {
  const client = await containerOf('client');
  const out = Buffer.from(await client.exec(['node', '/verify/ffmpeg-lists.mjs'])).toString();
  const { allowed, missing } = listsSchema.parse(JSON.parse(out));
  assert.ok(allowed > 100, out);
  assert.deepEqual(missing, []);
  return `all ${allowed}`;
}

async function unprivileged(box: Box, service: Service): Promise<string> {
  const line = 'for p in /proc/[0-9]*; do grep -h ^Uid: $p/status; done 2>/dev/null';
  const { output } = await shell(box, line);
  const users = new Set(lines(output).map((uids) => uids.split(/\s+/)[2]));
  assert.ok(users.size > 0 && !users.has('0'), `${box.name} has processes of root`);
  return `${service} ${[...users].join('+')}`;
}

async function incapable(box: Box): Promise<void> {
  const line = 'grep -hE "^(CapEff|CapPrm|CapBnd|NoNewPrivs)" /proc/[0-9]*/status';
  const values = lines((await shell(box, line)).output).map((each) => each.split(/\s+/));
  assert.ok(values.length >= 4, 'nothing was read');
  for (const [name = '', value = ''] of values) {
    const expected = name === 'NoNewPrivs:' ? 1 : 0;
    assert.equal(Number.parseInt(value, 16), expected, `${box.name}: ${name} ${value}`);
  }
}

async function oneInit(box: Box, service: Service): Promise<string> {
  const inits = (await processesIn(box)).filter((program) => /^(tini|docker-init|dumb-init)$/.test(program));
  assert.ok(inits.length <= 1, `${box.name} runs ${inits.join(' and ')}`);
  return `${service} ${inits[0] ?? 'without'}`;
}

async function small(box: Box, service: Service): Promise<string | undefined> {
  const largest = largestImages[service];
  if (largest === undefined) return undefined;
  const { output } = await shell(box, 'du -sxk / 2>/dev/null | cut -f1');
  const megabytes = Math.round((Number(output) * 1024) / 1e6);
  assert.ok(megabytes > 0 && megabytes <= largest, `${service} has ${megabytes} MB, ${largest} at most`);
  return `${service} ${megabytes} MB`;
}

async function readOnly(box: Box, service: Service): Promise<string> {
  const { HostConfig } = await inspect(box);
  assert.equal(HostConfig.ReadonlyRootfs, true);
  for (const folder of ['/', '/app', '/etc', '/usr/bin', '/var/lib', '/srv']) {
    const { code } = await shell(box, `[ ! -d ${folder} ] || ! touch ${folder}/probe 2>/dev/null`);
    assert.equal(code, 0, `${box.name} can write to ${folder}`);
  }
  // A second defence, for operators who run an image without `read_only`.
  const own = await shell(box, 'find /app /srv -xdev -user "$(id -u)" ! -path "/app/models*" 2>/dev/null');
  assert.equal(own.output.trim(), '', `${box.name} owns files of its image`);
  const { output } = await shell(box, "awk '$4 ~ /^rw/ {print $2, $3}' /proc/mounts");
  const kernel = /^(proc|sysfs|devpts|mqueue|cgroup2?|devtmpfs)$/;
  const engine = /^\/etc\/(hosts|hostname|resolv\.conf)$/;
  const disks = lines(output).filter((mount) => {
    const [path = '', type = ''] = mount.split(' ');
    return type !== 'tmpfs' && !kernel.test(type) && !engine.test(path);
  });
  assert.deepEqual(disks, [], `${box.name} has writable mounts`);
  const sizes = Object.entries(HostConfig.Tmpfs ?? {}).map(
    ([path, options]) => `${path} ${/size=(\w+)/.exec(options)?.[1] ?? 'without limit'}`,
  );
  return `${service} ${sizes.join(' ')}`;
}

async function limits(box: Box, service: Service): Promise<string> {
  const { Memory, NanoCpus, PidsLimit } = (await inspect(box)).HostConfig;
  assert.ok(Memory > 0 && PidsLimit, 'a limit is missing');
  assert.equal(NanoCpus, 0, 'kernels without CPU quotas refuse a limit');
  const { output } = await shell(
    box,
    'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null',
  );
  assert.equal(Number(output.trim()), Memory, 'the kernel knows another limit');
  return `${service} ${Memory / 1024 ** 2} MiB, ${PidsLimit} processes`;
}

async function beyondMemory(): Promise<void> {
  const box = await containerOf('video-dl');
  const before = await inspect(box);
  const chunks = Math.ceil(before.HostConfig.Memory / 1e8) + 5;
  const script = `const keep = []; for (let i = 0; i < ${chunks}; i++) keep.push(Buffer.alloc(1e8, 1)); console.log('had it all');`;
  const { code, output } = await shell(box, `node -e "${script}"`);
  assert.ok(code === 137 && !output.includes('had it all'), `exit code ${code}: ${output}`);
  const after = await inspect(box);
  assert.equal(after.State.Running, true);
  assert.equal(after.RestartCount, before.RestartCount, 'the container was restarted');
}

async function isolation(): Promise<void> {
  const reach = (host: string, port: number) =>
    `node -e "require('net').connect({host:'${host}',port:${port},timeout:3000}).on('connect',()=>process.exit(0)).on('error',()=>process.exit(1)).on('timeout',()=>process.exit(1))"`;
  const bgRemoval = await containerOf('bg-removal');
  const videoDl = await containerOf('video-dl');
  for (const box of [bgRemoval, await containerOf('redis')]) {
    for (const network of Object.keys((await inspect(box)).NetworkSettings.Networks)) {
      const isInternal = (await docker('network', 'inspect', '-f', '{{.Internal}}', network)).trim();
      assert.equal(isInternal, 'true', network);
    }
  }
  assert.notEqual((await shell(bgRemoval, reach('1.1.1.1', 443))).code, 0, 'bg-removal reaches the internet');
  assert.equal((await shell(bgRemoval, reach('redis', 6379))).code, 0, 'bg-removal does not reach Redis');
  assert.equal((await shell(videoDl, reach('redis', 6379))).code, 0, 'video-dl does not reach Redis');
  assert.notEqual((await shell(videoDl, reach('bg-removal', 3002))).code, 0, 'video-dl reaches bg-removal');
}
