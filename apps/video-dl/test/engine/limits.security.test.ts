import { gzipSync } from 'node:zlib';
import { residentMemoryBytes } from '@media-services/processes';
import { createGuard, EgressProxy, type EgressSession } from '@media-services/egress-guard';
import { createLogger } from '@media-services/http-common';
import { engineFailureSchema, engineResultSchema } from '../../src/extract/engine-messages.js';
import { type Site, startSite } from '@media-services/fault-site';
import { isNight } from '../../../../proof/vitest/at-night.js';
import { interpreters } from '../support/pythons.js';
import { BareEngine, kernelOffersLock, maxMemoryBytes, wideBudget } from './support/engine.js';

const engines = await Promise.all(
  (await interpreters()).map(async (each) => ({
    ...each,
    hasKernelLock: await kernelOffersLock(each.python),
  })),
);

/** Pages that exceed their limits, and code that tries to escape. */
describe.each(engines)('the limits of an engine with yt-dlp $ytDlp', ({ python, ytDlp, hasKernelLock }) => {
  const isModern = ytDlp > '2025.11';
  let site: Site;
  let egress: EgressProxy;
  let session: EgressSession;
  let engine: BareEngine;
  let networkLock: unknown;

  beforeAll(async () => {
    site = await startSite();
    egress = await EgressProxy.start({
      guard: createGuard({ allowedPrivateSources: [site.host] }),
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    session = egress.openSession(wideBudget);
    engine = new BareEngine(python, session.proxyUrl);
    ({ networkLock } = await engine.next());
  });

  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    session.close();
    await egress[Symbol.asyncDispose]();
    await site.close();
  });

  const extract = async (name: string) => engine.extract(`${site.url}/fixture/${name}`);
  const failureOf = async (url: string) => engineFailureSchema.parse((await engine.extract(url)).error);
  const residentBytes = async () => (await residentMemoryBytes(engine.process.pid ?? 0)) ?? Infinity;

  /** Peak memory of the process. */
  async function expectBoundedMemory(): Promise<void> {
    expect(await residentBytes()).toBeLessThan(maxMemoryBytes);
    await expect(engine.extract(`${site.url}/watch`)).resolves.toMatchObject({ ok: true });
  }

  it('include the kernel lock if the kernel supports it', () => {
    expect(networkLock).toBe(hasKernelLock ? 'kernel' : 'process');
  });

  (hasKernelLock ? it : it.skip)('stop native code that bypasses the proxy', async () => {
    const before = site.requests.length;
    if (isModern) {
      await expect(extract('native-client')).resolves.toMatchObject({ ok: false });
      await expect(extract('runtime')).resolves.toMatchObject({ result: { description: 'held' } });
    }
    await expect(extract('datagram')).resolves.toMatchObject({
      ok: false,
      error: { kind: 'PermissionError' },
    });
    expect(site.requests.slice(before)).toEqual([]);
  });

  it('end a job that takes too much memory', async () => {
    const { error } = await extract('memory');
    expect(error).toMatchObject({ kind: 'OutOfMemoryError' });
    await expectBoundedMemory();
  });

  // By day, “a job that takes too much memory” shows the same limit in a fraction of the time.
  if (isNight) {
    it('end a manifest with too many segments', async () => {
      site.on('/many.mpd', (_req, res) => {
        res.setHeader('content-type', 'application/dash+xml');
        res.end(`<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1H">
          <Period><AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$.m4s" timescale="1">
          <SegmentTimeline><S t="0" d="1" r="2000000000"/></SegmentTimeline></SegmentTemplate>
          <Representation id="1" bandwidth="1000"/></AdaptationSet></Period></MPD>`);
      });
      const { kinds } = await failureOf(`${site.url}/many.mpd`);
      expect(kinds).toContain('OutOfMemoryError');
      await expectBoundedMemory();
    });
  }

  it('end a decompression bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, '<!DOCTYPE html><p>word</p>'));
    site.on('/bomb', (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(bomb);
    });
    const { kind } = await failureOf(`${site.url}/bomb`);
    expect(kind).toBe('PageTooLargeError');
    await expectBoundedMemory();
  });

  it('end an endless page', async () => {
    const part = Buffer.alloc(1024 * 1024, '<p>word</p>');
    site.on('/endless', (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html' });
      const more = (): void => {
        while (!res.destroyed && res.write(part)) continue;
      };
      res.on('drain', more);
      more();
    });
    const { kind } = await failureOf(`${site.url}/endless`);
    expect(kind).toBe('PageTooLargeError');
    await expectBoundedMemory();
  });

  it('end a page that causes request after request', async () => {
    const before = site.requests.length;
    const { kind } = await failureOf(`${site.url}/fixture/requests`);
    expect(kind).toBe('TooManyRequestsError');
    expect(site.requests.length - before).toBe(100);
  });

  it('limit every text of a result, so that the service accepts it', async () => {
    const { result } = await extract('hoard-of-text');
    const answer = engineResultSchema.parse(result);
    if (answer.kind !== 'extraction') throw new Error('not an extraction');
    expect(answer.title).toHaveLength(1_000);
    expect(answer.description).toHaveLength(20_000);
    expect(answer.thumbnail).toBeNull();
    expect(answer.formats).toHaveLength(500);
    expect(answer.formats.map(({ format_id: id }) => id)).not.toContain('address');
  });

  it('are checked again by the service, should the engine send more', async () => {
    const { result } = await extract('hoard-of-text');
    const answer = engineResultSchema.parse(result);
    if (answer.kind !== 'extraction') throw new Error('not an extraction');
    const longer = { title: 'x'.repeat(1_001), formats: [...answer.formats, ...answer.formats] };
    for (const [name, value] of Object.entries(longer))
      expect(engineResultSchema.safeParse({ ...answer, [name]: value }).success).toBe(false);
  });

  it('count an emoji once, as the engine does', async () => {
    const { result } = await extract('hoard-of-text');
    expect(engineResultSchema.safeParse({ ...Object(result), title: '🎸'.repeat(1_000) }).success).toBe(true);
    expect(engineResultSchema.safeParse({ ...Object(result), title: '🎸'.repeat(1_001) }).success).toBe(
      false,
    );
  });

  it('keep the engine warm', async () => {
    await expectBoundedMemory();
    expect(engine.process.exitCode).toBeNull();
  });
});
