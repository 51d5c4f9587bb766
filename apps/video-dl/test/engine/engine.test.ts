import { createLogger } from '@media-services/http-common';
import { createGuard, EgressProxy, type EgressSession } from '@media-services/egress-guard';
import { type Site, startSite } from '@media-services/fault-site';
import { interpreters } from '../support/pythons.js';
import { BareEngine, wideBudget } from './support/engine.js';

describe.each(await interpreters())('the download engine with yt-dlp $ytDlp', ({ python, ytDlp }) => {
  let site: Site;
  let egress: EgressProxy;
  let session: EgressSession;
  let engine: BareEngine;

  beforeAll(async () => {
    site = await startSite();
    egress = await EgressProxy.start({
      guard: createGuard({ allowedPrivateSources: [site.host] }),
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    session = egress.openSession(wideBudget);
  });

  afterAll(async () => {
    session.close();
    await egress[Symbol.asyncDispose]();
    await site.close();
  });

  describe('as a worker', () => {
    let ready: Awaited<ReturnType<BareEngine['next']>>;

    beforeAll(async () => {
      engine = new BareEngine(python, session.proxyUrl);
      ready = await engine.next();
    });

    afterAll(async () => engine[Symbol.asyncDispose]());

    it('describes itself when it is ready', () => {
      expect(ready).toMatchObject({ type: 'ready', version: ytDlp });
      expect(ready['ageDays']).toBeGreaterThanOrEqual(0);
    });

    it('extracts its built-in page for a health job', async () => {
      engine.send({ type: 'run', id: 1, job: { kind: 'health' } });
      await expect(engine.next()).resolves.toMatchObject({
        id: 1,
        ok: true,
        result: { kind: 'health', version: ytDlp },
      });
    });

    it('extracts a page through the proxy it was given', async () => {
      const answer = await engine.extract(`${site.url}/watch`);
      expect(answer).toMatchObject({
        ok: true,
        result: { title: 'A plain video', selections: { mp3: [0] } },
      });
    });

    it('keeps no state between requests', async () => {
      const first = await engine.extract(`${site.url}/fixture/cookies`);
      expect(first).toMatchObject({
        result: {
          description: 'cookie: none',
          formats: [{ cookies: [{ name: 'secret', value: 'of-this-request' }] }],
        },
      });
      const second = await engine.extract(`${site.url}/fixture/cookies`);
      expect(second).toMatchObject({ result: { description: 'cookie: none' } });
    });

    it("keeps extractors' output out of its channel", async () => {
      await expect(engine.extract(`${site.url}/fixture/print`)).resolves.toMatchObject({
        ok: true,
        result: { id: 'fixture' },
      });
    });

    it('returns plain JSON whatever the page contains', async () => {
      const answer = await engine.extract(`${site.url}/fixture/headers`);
      expect(answer).toMatchObject({
        ok: true,
        result: {
          title: 'Lone ? half',
          formats: [
            { format_note: null, http_chunk_size: 1_000_000, http_headers: { Referer: `${site.url}/` } },
          ],
        },
      });
    });

    it.each([
      ['own-socket', 'only connect to its proxy'],
      ['own-lookup', 'not resolve names'],
      ['program', 'not start programs'],
      ['posix-spawn', 'not start programs'],
      ['fork', 'not start programs'],
      ['other-process', 'not kill other processes'],
    ])('blocks other ways out of the process (%s)', async (name, reason) => {
      const { ok, error } = await engine.extract(`${site.url}/fixture/${name}`);
      expect(ok).toBe(false);
      expect(JSON.stringify(error)).toContain(reason);
    });

    it('resets state that an extractor keeps in its class', async () => {
      await engine.extract(`${site.url}/fixture/state`);
      const second = await engine.extract(`${site.url}/fixture/state`);
      expect(second).toMatchObject({ result: { description: 'None []' } });
    });

    it('returns the first video among the slides of a post', async () => {
      const answer = await engine.extract(`${site.url}/fixture/carousel`);
      expect(answer).toMatchObject({ result: { id: 'second', playlist_index: 2, playlist_count: 2 } });
    });

    it.each(['sleep', 'spin'])('ends a cancelled job early and runs the next (%s)', async (name) => {
      engine.run(7, `${site.url}/fixture/${name}`);
      engine.send({ type: 'cancel', id: 7 });
      await expect(engine.next()).resolves.toMatchObject({
        id: 7,
        ok: false,
        error: { kind: 'JobCancelled' },
      });
      await expect(engine.extract(`${site.url}/watch`)).resolves.toMatchObject({ ok: true });
    });

    it('ends a cancelled job that waits for a site', async () => {
      let asked = (): void => undefined;
      const arrived = new Promise<void>((resolve) => (asked = resolve));
      site.on('/stall', () => asked());
      engine.run(8, `${site.url}/stall`);
      await arrived;
      engine.send({ type: 'cancel', id: 8 });
      await expect(engine.next()).resolves.toMatchObject({
        id: 8,
        ok: false,
        error: { kind: 'JobCancelled' },
      });
    });

    it('ignores a cancellation that arrives too late', async () => {
      await engine.extract(`${site.url}/watch`);
      engine.send({ type: 'cancel', id: 1 });
      await expect(engine.extract(`${site.url}/watch`)).resolves.toMatchObject({ ok: true });
    });
  });

  it('exits on invalid input', async () => {
    const confused = new BareEngine(python, session.proxyUrl);
    await confused.next();
    confused.process.stdin?.write('{"type": "run"\n');
    await expect(confused.exited).resolves.toEqual([76, null]);
  });

  it('exits at once when its input ends, even in the middle of a job', async () => {
    const orphan = new BareEngine(python, session.proxyUrl);
    await orphan.next();
    orphan.run(1, `${site.url}/fixture/stubborn`);
    orphan.process.stdin?.end();
    await expect(orphan.exited).resolves.toEqual([0, null]);
  });
});
