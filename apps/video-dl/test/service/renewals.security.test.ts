import { startSite } from '@media-services/fault-site';
import { parsePageUrl } from '../../dist/extract/page-url.js';
import { startService } from '../support/service.js';

/** A renewal is an extraction that a stream starts; it counts as the stream's client's own. */
it("one client's renewals leave an engine to the others", async () => {
  await using site = await startSite();
  let dripping = 0;
  let onDrip = (): void => undefined;
  const firstDrips = new Promise<void>((resolve) => (onDrip = resolve));
  site.on('/drip', (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
    dripping += 1;
    onDrip();
  });
  await using service = await startService({
    ALLOWED_PRIVATE_SOURCES: site.host,
    ENGINE_PROCESSES: '2',
    EXTRACTION_TIMEOUT_SECONDS: '600',
  });
  const { extraction } = service.context;
  const ended = new AbortController();
  const greedy = { client: 'greedy', signal: ended.signal };
  const source = {
    origin: { formatId: '0', extractedAt: Date.now(), exit: 0 },
    ...{ url: `${site.url}/media/front.mp4`, headers: {}, kind: 'file' as const },
  };
  const held = [1, 2, 3].map(async (number) =>
    extraction
      .renew(parsePageUrl(`${site.url}/drip?${number}`), source, greedy)
      .catch((error: unknown) => error),
  );
  await firstDrips;
  const other = { client: 'other', signal: new AbortController().signal };
  await expect(extraction.extract(parsePageUrl(`${site.url}/watch`), other)).resolves.toMatchObject({
    durationSeconds: 4,
  });
  expect(dripping).toBe(1);
  ended.abort(new Error('the test is over'));
  await Promise.all(held);
});
