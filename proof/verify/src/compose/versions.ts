/** A client that resumes gets one version of a file or an error, whichever replica it reaches. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { docker } from '../docker.js';
import { shell, type Box } from '../place/box.js';
import { healthUntil } from '../place/health.js';
import { replicaOf } from '../place/gateway-log.js';
import type { Report } from '../report.js';
import { containerOf, containersOf, gatewayLog, source, upstreamOf } from './project.js';

export async function checkVersions(report: Report): Promise<void> {
  for (const [what, command] of [
    ['another replica answers', 'stop'],
    ['the replica has restarted', 'restart'],
  ] as const) {
    await report.check(`\`curl -C -\` never joins two versions of a file where ${what}`, () =>
      resumeAcross(command),
    );
  }
}

/** Breaks off a download, changes the file, replaces the replica, and resumes. */
async function resumeAcross(command: 'stop' | 'restart'): Promise<string> {
  // The gateway's image has curl.
  const client = await containerOf('gateway');
  const site = await containerOf('source');
  const id = `resume-${Date.now()}`;
  const page = encodeURIComponent(`http://${source}/changing?${id}`);
  const url = `http://127.0.0.1:8080/api/stream/video?url=${page}`;
  const file = `/tmp/${id}.mp4`;
  // Not after a fixed time, in which a busy machine may not send a byte.
  const first = await shell(
    client,
    `curl -sS --limit-rate 1M -H 'X-Request-Id: ${id}' -o ${file} '${url}' & download=$!
    while kill -0 $download && [ "$(stat -c %s ${file} || echo 0)" -lt 1000000 ]; do sleep 0.1; done 2>/dev/null
    kill $download; wait $download`,
  );
  assert.notEqual(first.code, 0, 'the first download was over too soon');
  const begun = Number((await shell(client, `stat -c %s ${file}`)).output);
  assert.ok(begun > 100_000, `${begun} bytes had arrived`);
  const versions = [await changeVersion(site)];
  const [line] = await gatewayLog(id);
  assert.ok(line !== undefined, 'the download is not in the log of the gateway');
  const boxes = await containersOf('video-dl');
  const addresses = await Promise.all(boxes.map((box) => upstreamOf(box, 'video', 3001)));
  const box = boxes[addresses.indexOf(replicaOf(line))];
  assert.ok(box !== undefined, `no replica has ${replicaOf(line)}`);
  versions.push(await currentVersion(site));
  await docker(command, box.name);
  const again = await shell(
    client,
    `curl -sS --fail --retry 5 --retry-delay 2 -C - -w '%{http_code}' -o ${file} '${url}' 2>&1`,
  );
  await docker('start', box.name);
  await healthUntil(await containerOf('client'), '/video-dl/api/health', 200, 'ok');
  const { output } = await shell(client, `sha256sum ${file} | cut -c1-64; rm ${file}`);
  const isWhole = versions.includes(output.trim());
  assert.ok(
    again.code !== 0 || isWhole,
    `curl said it has the file, which is of no version: ${again.output}`,
  );
  return `${(begun / 1e6).toFixed(1)} MB of the old version, then: ${again.output.trim().split('\n').at(-1)}`;
}

async function currentVersion(site: Box): Promise<string> {
  const { output } = await shell(
    site,
    `node -e "fetch('http://127.0.0.1:8000/changing.mp4').then(async (r) => process.stdout.write(Buffer.from(await r.arrayBuffer()).toString('base64')))"`,
  );
  return createHash('sha256').update(Buffer.from(output.trim(), 'base64')).digest('hex');
}

/** @returns the SHA-256 of the previous version */
async function changeVersion(site: Box): Promise<string> {
  const old = await currentVersion(site);
  const { code } = await shell(site, `node -e "fetch('http://127.0.0.1:8000/next-version')"`);
  assert.equal(code, 0);
  assert.notEqual(await currentVersion(site), old);
  return old;
}
