import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { newClient } from './support/client.js';
import { gatewaySecret } from './support/gateway-secret.js';
import { imageForm } from './support/form.js';
import { root, stack } from './support/stack.js';

const dashboard = readFileSync(join(root, 'deploy/grafana/media-services.json'), 'utf8');
const alerts = readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8');

/** Names of all series of both services, with all their labels. */
async function exposedSeries(): Promise<Map<string, Set<string>>> {
  const texts = await Promise.all(stack.metrics.map(async (url) => (await fetch(url)).text()));
  const series = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of texts.join('\n').matchAll(/^([a-z]\w*)(?:\{(.*)\})? /gm)) {
    const known = series.get(name) ?? new Set<string>();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    series.set(name, known);
  }
  return series;
}

/** Labels added by Prometheus itself. */
const scrapeLabels = new Set(['instance', 'job']);

/** Selectors such as `media_streams_total{end="ok"}`, with their labels. */
function selectors(text: string): { name: string; labels: string[] }[] {
  return [...text.matchAll(/\b((?:media|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => ({
      name,
      labels: [...labels.matchAll(/(\w+)\s*(?:=~|!=|=)/g)].map(([, label = '']) => label),
    }),
  );
}

it('every series and label in the dashboard and the alerts exists', async () => {
  await using client = await newClient();
  const film = new URLSearchParams({ url: `${stack.films}/film` });
  await (await fetch(`${client.url}/api/stream?${film}`)).arrayBuffer();
  await (
    await fetch(`${client.url}/api/remove-background`, { method: 'POST', body: await imageForm() })
  ).text();

  const series = await exposedSeries();
  const expressions = [...dashboard.matchAll(/"expr": (".*")/g)].map(([, text = '""']) =>
    String(JSON.parse(text)),
  );
  expect(expressions.length).toBeGreaterThan(20);
  const used = [...expressions, alerts].flatMap(selectors);
  const ofGateway = readFileSync(join(root, 'nginx/njs/requests.js'), 'utf8');
  const unknown = used.flatMap(({ name, labels }) => {
    // Only the gateway's container has metrics; `npm run proof -- compose` reads them.
    if (name.startsWith('media_gateway_')) return ofGateway.includes(name) ? [] : [name];
    const known = series.get(name);
    if (known === undefined) return [name];
    return labels
      .filter((label) => !known.has(label) && !scrapeLabels.has(label))
      .map((label) => `${name}{${label}}`);
  });
  expect(unknown).toEqual([]);
});

it('labels stay bounded: unknown paths and methods share one value', async () => {
  const headers = { 'X-Gateway-Secret': gatewaySecret };
  for (const path of ['/api/a1', '/api/a2', '/api/%2e%2e%2fb']) {
    await fetch(`http://${stack.videoDl}${path}`, { method: 'PROPFIND', headers });
  }
  const text = await (await fetch(stack.metrics[0] ?? '')).text();
  expect(text).toContain('route="unmatched"');
  expect(text).not.toMatch(/a1|a2|%2e|PROPFIND/);
});

it("Prometheus's own checker finds nothing wrong with the names of metrics", async () => {
  for (const url of stack.metrics) {
    const input = await (await fetch(url)).text();
    const { all, exitCode } = await execa('promtool', ['check', 'metrics'], {
      input,
      all: true,
      reject: false,
    });
    // 3 if it found something. It also reports Node's own metrics, whose names are not ours.
    expect([0, 3]).toContain(exitCode);
    expect(all.split('\n').filter((line) => !/^(?:(?:nodejs|process)_.*)?$/.test(line))).toEqual([]);
  }
});

it('metrics are not on the public port', async () => {
  await using client = await newClient();
  for (const path of ['/metrics', '/livez', '/video-dl/metrics', '/bg-removal/metrics']) {
    expect((await fetch(client.url + path)).status).toBe(404);
  }
});
