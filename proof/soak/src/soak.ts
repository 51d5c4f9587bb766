import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Faults, startSite, type Site } from '@media-services/fault-site';
import { logsDir, UserError, type Progress } from '@media-services/stack/set-up';
import { deathMessage, startStack, type Stack } from '@media-services/stack';
import { stopRequested } from '@media-services/stack';
import { expectFailure, expectRight, type SoakContext } from './context.js';
import { takeFootprint, type Footprint } from './footprint.js';
import { hostileImages, hostileSources, sendHostile, type HostileInput } from './hostile-load.js';
import { imageLoad, imagePath, type ImageLoad } from './image-load.js';
import { Killer } from './killer.js';
import { Ledger } from './ledger.js';
import { markdownTable } from './markdown-table.js';
import {
  abortsUpload,
  dripsRequest,
  leaves,
  leavesImage,
  readsNothing,
  readsSlowly,
} from './rude-clients.js';
import { leftOver, Samples } from './samples.js';
import { askFaulty, faultyVideos, goodVideos } from './video-load.js';

/** Receives progress messages. */
type Shown = Pick<Progress, 'say' | 'step'>;

const sampleEveryMs = 1000;
const killEveryMs = 20_000;
/** Time for keep-alive connections to close and engines to restart. */
const settleMs = 120_000;
const soakLogs = join(logsDir, 'soak');

export interface SoakOptions {
  readonly progress: Shown;
  /** Of the processes it starts. */
  readonly env: NodeJS.ProcessEnv;
  readonly minutes: number;
}

/**
 * Everything at once against both services behind the gateway, for this many minutes: good
 * requests, every fault of the fault site, hostile pages, media and images, slow readers,
 * clients that leave or drip, aborted uploads, bad images, killed engines. Linux only.
 * @returns 0 if every good request got the right response, no faulty one looked like a success,
 *   memory stayed flat and within its limits, and nothing was left over; else 1
 */
export async function runSoak({ progress, env, minutes }: SoakOptions): Promise<number> {
  if (process.platform !== 'linux') throw new UserError('The soak counts in /proc, so it needs Linux.');
  const scratch = mkdtempSync(join(tmpdir(), 'media-services-soak-'));
  const faults = new Faults();
  await using site = await startSite({ intercept: faults.intercept });
  site.on('/expiring', faults.expiringPage);
  site.on('/hangs', () => undefined);
  const ending = new AbortController();
  try {
    await using stack = await start(site, scratch, env);
    const interrupted = stopRequested(() => stack.kill()).then((reason) => `interrupted (${reason})`);
    const died = stack.died.then(deathMessage);
    return await Promise.race([
      soak({ progress, site, stack, scratch, minutes, ending }),
      Promise.race([interrupted, died]).then((reason) => Promise.reject(new UserError(reason))),
    ]);
  } finally {
    ending.abort();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function start(site: Site, scratch: string, env: NodeJS.ProcessEnv): Promise<Stack> {
  mkdirSync(join(scratch, 'tmp'));
  return startStack({
    logsDir: soakLogs,
    env: {
      ...env,
      TMPDIR: join(scratch, 'tmp'),
      ALLOWED_PRIVATE_SOURCES: site.host,
      // Every client of the soak has its own IP.
      TRUSTED_PROXIES: '127.0.0.1',
      // Most faults end with this timeout.
      SOURCE_IDLE_TIMEOUT_SECONDS: '2',
      // The clients share the machine with the services.
      FIRST_BYTE_TIMEOUT_SECONDS: '60',
      EXTRACTION_TIMEOUT_SECONDS: '90',
    },
  });
}

interface Run {
  readonly progress: Shown;
  readonly site: Site;
  readonly stack: Stack;
  readonly scratch: string;
  readonly minutes: number;
  /** Ends the load. */
  readonly ending: AbortController;
}

async function soak({ progress, site, stack, scratch, minutes, ending }: Run): Promise<number> {
  await progress.step('Services', (log) => stack.healthy({ log }));
  const images = await imageLoad();
  const hostile = { sources: await hostileSources(site), images: await hostileImages() };
  const roots = ['gateway', 'video-dl', 'bg-removal'].map((name) => stack.pidOf(name));
  const temporary = join(scratch, 'tmp');
  const folders = [temporary, stack.runDir];
  const look = () => takeFootprint(roots, temporary, folders);
  const ledger = new Ledger();
  const killer = new Killer(roots, temporary);
  const context: SoakContext = { gatewayUrl: stack.url, site, ledger, killer, signal: ending.signal };

  const before = await progress.step('Every good request once', async () => {
    for (const good of [...goodVideos(site), ...images.good]) await expectRight(context, good);
    return settled(look);
  });
  const samples = new Samples();
  const timers = [
    setInterval(() => samples.add(look()), sampleEveryMs),
    setInterval(() => killer.strike(), killEveryMs),
  ];
  try {
    await progress.step(`Everything at once, ${minutes} min`, async (log) => {
      const tell = () => log([`${ledger.total} answers`, ...ledger.problems.slice(-1)].join('; '));
      timers.push(setInterval(tell, 10_000));
      await Promise.all([runLoad(context, images, hostile), loadFor(minutes, ending)]);
    });
  } finally {
    timers.forEach(clearInterval);
  }
  const after = await progress.step('Back to the start', () => settled(look, before));
  const problems = [
    ...ledger.problems,
    ...samples.excesses(),
    ...samples.growth(),
    ...leftOver(before, after),
  ];
  progress.say(markdownTable(['client', 'times', 'outcomes'], ledger.rows()));
  progress.say(
    markdownTable(
      ['killed', 'times'],
      [...killer.kills].map(([name, times]) => [name, String(times)]),
    ),
  );
  progress.say(
    markdownTable(
      ['held', 'at the start', 'median', 'most', 'after the end', 'limit'],
      samples.rows(before, after),
    ),
  );
  progress.say(
    problems.length === 0 ? 'No problem.' : `Problems:\n- ${problems.join('\n- ')}\nLogs: ${soakLogs}`,
  );
  return problems.length === 0 ? 0 : 1;
}

interface HostileLoad {
  readonly sources: readonly HostileInput[];
  readonly images: readonly HostileInput[];
}

async function loadFor(minutes: number, ending: AbortController): Promise<void> {
  await delay(minutes * 60_000, undefined, { signal: ending.signal });
  ending.abort();
}

/** All clients of a soak, each sending one request after the other until the load ends. */
async function runLoad(context: SoakContext, images: ImageLoad, hostile: HostileLoad): Promise<void> {
  const picture = images.good[0]?.upload;
  if (picture === undefined) throw new Error('There is no picture.');
  const videos = goodVideos(context.site);
  const each = async <T>(
    items: readonly T[],
    first: number,
    step: number,
    use: (item: T) => Promise<void>,
  ) => {
    for (let at = first; !context.signal.aborted; at += step) {
      const item = items[at % items.length];
      if (item !== undefined) await use(item);
    }
  };
  const good = (first: number) => each(videos, first, 1, (request) => expectRight(context, request));
  const faulty = (first: number) => each(faultyVideos, first, 3, (request) => askFaulty(context, request));
  await Promise.all([
    good(0),
    good(5),
    // Three take turns, so that each fault occurs equally often.
    ...[0, 1, 2].map(faulty),
    each(images.good, 0, 1, (request) => expectRight(context, request)),
    each(images.bad, 0, 1, async (request) => {
      await expectFailure(context, { ...request, path: imagePath });
      // These are cheap; without a pause they would dominate the load.
      await delay(500);
    }),
    ...[0, 8].map((first) => each(hostile.sources, first, 1, (input) => sendHostile(context, input))),
    each(hostile.images, 0, 1, async (input) => {
      await sendHostile(context, input);
      await delay(5000, undefined, { signal: context.signal }).catch(() => undefined); // the load ends
    }),
    each([dripsRequest], 0, 1, (client) => client(context)),
    each([readsSlowly], 0, 1, (client) => client(context)),
    each([leaves], 0, 1, (client) => client(context)),
    each([readsNothing(picture)], 0, 1, (client) => client(context)),
    each([abortsUpload(picture), leavesImage(picture)], 0, 1, (client) => client(context)),
  ]);
}

/** Waits until nothing is left over, or, without a start to compare with, until nothing changes. */
async function settled(look: () => Footprint, start?: Footprint): Promise<Footprint> {
  const deadline = performance.now() + settleMs;
  let last = look();
  for (;;) {
    await delay(sampleEveryMs);
    const now = look();
    const isDone =
      start === undefined
        ? isSame(last, now) && !now.processes.has('ffmpeg')
        : leftOver(start, now).length === 0;
    if (isDone || performance.now() > deadline) return now;
    last = now;
  }
}

function isSame(one: Footprint, other: Footprint): boolean {
  return leftOver(one, other).length === 0 && leftOver(other, one).length === 0;
}
