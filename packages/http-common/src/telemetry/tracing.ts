import { context, propagation, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { IncomingMessage } from 'node:http';

const tracer = trace.getTracer('media-services');

/** W3C Trace Context, version 00. */
const traceparentPattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * One request in a trace, with a span for each stage. Without tracing (`startTracing`) it only passes the
 * client's `traceparent` on.
 */
export class RequestSpan {
  readonly #span: Span;
  readonly #received: string | undefined;

  constructor(req: IncomingMessage, requestId: string) {
    const { traceparent } = req.headers;
    this.#received =
      typeof traceparent === 'string' && traceparentPattern.test(traceparent) ? traceparent : undefined;
    const parent = propagation.extract(context.active(), req.headers);
    const attributes = { 'http.request.method': req.method ?? '', 'media.request_id': requestId };
    this.#span = tracer.startSpan('request', { kind: SpanKind.SERVER, attributes }, parent);
  }

  /** For logs; undefined if the request belongs to no trace. */
  get traceId(): string | undefined {
    return traceparentPattern.exec(this.traceparent ?? '')?.[1];
  }

  /** For the response: this request's own span, or what the client sent. */
  get traceparent(): string | undefined {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    const own = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
    return this.#span.isRecording() && traceparentPattern.test(own) ? own : this.#received;
  }

  /** Adds a stage that has just ended. */
  stage(name: string, milliseconds: number): void {
    if (!this.#span.isRecording()) return;
    const startTime = new Date(Date.now() - milliseconds);
    tracer.startSpan(name, { startTime }, trace.setSpan(context.active(), this.#span)).end();
  }

  end(route: string, status: number, outcome: string): void {
    this.#span.updateName(route);
    this.#span.setAttributes({
      'http.route': route,
      'http.response.status_code': status,
      'media.outcome': outcome,
    });
    if (status >= 500 || outcome === 'truncated') this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

/**
 * Sends traces with OpenTelemetry's own SDK, which reads its settings (`OTEL_…`) itself. Without
 * OTEL_EXPORTER_OTLP_ENDPOINT nothing is loaded and nothing is sent.
 * @returns sends what is left and stops
 */
export async function startTracing(
  service: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<() => Promise<void>> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT && !env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
    return () => Promise.resolve();
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': env.OTEL_SERVICE_NAME || `media-services-${service}`,
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return () => provider.shutdown();
}
