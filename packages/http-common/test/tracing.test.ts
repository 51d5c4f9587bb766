import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const program = fileURLToPath(new URL('fixtures/traced-service.mjs', import.meta.url));
const traceId = 'a'.repeat(32);
const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`;

const outputSchema = z.object({
  traceparent: z.string().nullable(),
  log: z.object({ traceId: z.string().optional() }),
});

/** One request with this header to a service in its own process, because tracing is global. */
async function request(header: string, env: Record<string, string>) {
  const { stdout } = await promisify(execFile)(process.execPath, [program, header], {
    env: { ...process.env, ...env },
  });
  return outputSchema.parse(JSON.parse(stdout));
}

const spanSchema = z.object({
  name: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  startTimeUnixNano: z.coerce.number(),
  endTimeUnixNano: z.coerce.number(),
});
const exportSchema = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) })),
});

it('without an endpoint, the trace of the client is logged and returned unchanged', async () => {
  expect(await request(traceparent, {})).toEqual({ traceparent, log: { traceId } });
  expect(await request(`00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, {})).toEqual({
    traceparent: null,
    log: {},
  });
});

it('with an endpoint, a request and its stages are sent as spans of the same trace', async () => {
  const received: unknown[] = [];
  const collector = createServer((req, res) => {
    void json(req).then((body) => {
      received.push(body);
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  try {
    const answer = await request(traceparent, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    const spans = exportSchema
      .parse(received[0])
      .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans: each }) => each));
    const [whole, stage] = [
      spans.find(({ name }) => name === '/work'),
      spans.find(({ name }) => name === 'think'),
    ];
    expect(whole).toMatchObject({ traceId, parentSpanId: 'b'.repeat(16) });
    expect(stage).toMatchObject({ traceId, parentSpanId: whole?.spanId });
    const thinkingMs = ((stage?.endTimeUnixNano ?? 0) - (stage?.startTimeUnixNano ?? 0)) / 1e6;
    expect(thinkingMs).toBeGreaterThanOrEqual(19);
    expect(answer).toEqual({ traceparent: `00-${traceId}-${whole?.spanId}-01`, log: { traceId } });
  } finally {
    collector.close();
  }
});
