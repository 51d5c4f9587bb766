/** What the containers may and may not do. */
import assert from 'node:assert/strict';
import { containersOf, docker, inspect, shell } from '../../engine.mjs';

const services = ['gateway', 'video-dl', 'bg-removal', 'redis'];

async function each(check) {
  const notes = [];
  for (const service of services) {
    for (const container of await containersOf(service)) notes.push(await check(container, service));
  }
  return [...new Set(notes.filter(Boolean))].join(', ');
}

/** @param {import('../../report.mjs').Report} report */
export async function checkContainers(report) {
  await report.check('only the gateway publishes a port', () =>
    each(async (container, service) => {
      const published = Object.values((await inspect(container)).NetworkSettings.Ports)
        .flat()
        .filter(Boolean);
      assert.equal(
        published.length > 0,
        service === 'gateway',
        `${container} publishes ${JSON.stringify(published)}`,
      );
    }),
  );
  await report.check('no container runs as root', () =>
    each(async (container, service) => {
      const { output } = await shell(
        container,
        'for p in /proc/[0-9]*; do grep -h ^Uid: $p/status; done 2>/dev/null',
      );
      const users = new Set(
        output
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(/\s+/)[2]),
      );
      // Process 1 is the engine's own init, which runs as the container's user too.
      assert.ok(!users.has('0'), `${container} has processes of root`);
      return `${service} ${[...users].join('+')}`;
    }),
  );
  await report.check('no process has a capability or can gain privileges', () =>
    each(async (container) => {
      const { output } = await shell(
        container,
        'grep -hE "^(CapEff|CapPrm|CapBnd|NoNewPrivs)" /proc/[0-9]*/status',
      );
      const values = output
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(/\s+/));
      assert.ok(values.length >= 4, 'nothing was read');
      for (const [name, value] of values) {
        assert.equal(
          Number.parseInt(value, 16),
          name === 'NoNewPrivs:' ? 1 : 0,
          `${container}: ${name} ${value}`,
        );
      }
    }),
  );
  await report.check('file systems are read-only, apart from small tmpfs', () => each(readOnly));
  await report.check('memory, CPU and process limits are in force', () => each(limits));
  await report.check(
    'memory beyond the limit is refused by the kernel, and the service goes on',
    beyondMemory,
  );
  await report.check('bg-removal and Redis have no way out, video-dl does not see Redis', isolation);
}

async function readOnly(container, service) {
  const { HostConfig } = await inspect(container);
  assert.equal(HostConfig.ReadonlyRootfs, true);
  for (const folder of ['/', '/app', '/etc', '/usr/bin', '/var/lib', '/srv']) {
    const { code } = await shell(container, `[ ! -d ${folder} ] || ! touch ${folder}/probe 2>/dev/null`);
    assert.equal(code, 0, `${container} can write to ${folder}`);
  }
  const { output } = await shell(container, "awk '$4 ~ /^rw/ {print $2, $3}' /proc/mounts");
  const kernel = /^(proc|sysfs|devpts|mqueue|cgroup2?|devtmpfs)$/;
  const disks = output
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
    .filter(
      ([path, type]) =>
        type !== 'tmpfs' && !kernel.test(type) && !/^\/etc\/(hosts|hostname|resolv\.conf)$/.test(path),
    );
  assert.deepEqual(disks, [], `${container} has writable mounts`);
  return `${service} ${Object.entries(HostConfig.Tmpfs).map(([path, options]) => `${path} ${/size=(\w+)/.exec(options)?.[1]}`)}`;
}

async function limits(container, service) {
  const { HostConfig } = await inspect(container);
  assert.ok(
    HostConfig.Memory > 0 && HostConfig.NanoCpus > 0 && HostConfig.PidsLimit > 0,
    'a limit is missing',
  );
  const { output } = await shell(
    container,
    'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null',
  );
  assert.equal(Number(output.trim()), HostConfig.Memory, 'the kernel knows another limit');
  return `${service} ${HostConfig.Memory / 1024 ** 2} MiB, ${HostConfig.NanoCpus / 1e9} CPU, ${HostConfig.PidsLimit} processes`;
}

async function beyondMemory() {
  const [container] = await containersOf('video-dl');
  const before = await inspect(container);
  const script = `const keep = []; for (let i = 0; i < ${Math.ceil(before.HostConfig.Memory / 1e8) + 5}; i++) keep.push(Buffer.alloc(1e8, 1)); console.log('had it all');`;
  const { code, output } = await shell(container, `node -e "${script}"`);
  assert.ok(code === 137 && !output.includes('had it all'), `exit code ${code}: ${output}`);
  const after = await inspect(container);
  assert.equal(after.State.Running, true);
  assert.equal(after.RestartCount, before.RestartCount, 'the container was restarted');
}

async function isolation() {
  const reach = (host, port) =>
    `node -e "require('net').connect({host:'${host}',port:${port},timeout:3000}).on('connect',()=>process.exit(0)).on('error',()=>process.exit(1)).on('timeout',()=>process.exit(1))"`;
  const [bgRemoval] = await containersOf('bg-removal');
  const [videoDl] = await containersOf('video-dl');
  for (const container of [bgRemoval, (await containersOf('redis'))[0]]) {
    for (const network of Object.keys((await inspect(container)).NetworkSettings.Networks)) {
      assert.equal(
        (await docker('network', 'inspect', '-f', '{{.Internal}}', network)).trim(),
        'true',
        network,
      );
    }
  }
  assert.notEqual((await shell(bgRemoval, reach('1.1.1.1', 443))).code, 0, 'bg-removal reaches the internet');
  assert.equal((await shell(bgRemoval, reach('redis', 6379))).code, 0, 'bg-removal does not reach Redis');
  assert.notEqual((await shell(videoDl, reach('redis', 6379))).code, 0, 'video-dl reaches Redis');
}
