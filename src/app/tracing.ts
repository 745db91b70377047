/**
 * Traces, from the HTTP request through the queue to the device. Off by default.
 *
 * The product uses only OpenTelemetry's API. The operator brings an SDK with `node --import`, which
 * registers itself globally. Without one the API does nothing.
 *
 *   POST /rest/service/sign      server; parent from the caller's `traceparent`, if any
 *   └ add signatures.sign        producer
 *     └ process signatures       consumer; once for each run of the job
 *       └ device prompt          client
 *
 * Spans carry ids, AP, profile and fault. Numbers, texts and signatures stay out, because readers
 * of traces may not see them.
 */
import {
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { About, StepLog } from '../../workers/log.ts';
import type { HttpLog } from '../http/log.ts';
import { type Fetch, statusOf } from '../http/metrics.ts';
import { pathOf } from '../http/path.ts';
import type { RouteOf } from '../http/route-label.ts';
import type { Devices } from '../sscd/devices.ts';
import { type AroundCall, aroundDevices, outcomeOf } from '../sscd/metrics.ts';
import { observed } from '../telemetry/observed.ts';
import { createQueueTracing } from '../telemetry/queue-tracing.ts';

const same = <T>(inner: T): T => inner;

export const noTracing = {
  fetch: same,
  httpLog: same,
  stepLog: same,
  devices: same,
  queue: undefined,
};

/** Paths without traces, because they are asked for too often. */
const untraced = new Set(['/livez', '/readyz', '/metrics']);

const tell = (attributes: Readonly<Record<string, string | number | undefined>>): void => {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) span.setAttribute(`paraph.${key}`, value);
  }
};

/** Ends the span with the work. */
const during = async <T>(
  span: Span,
  ctx: Context,
  work: () => T | Promise<T>,
  note: (result: T) => void,
): Promise<T> => {
  try {
    const result = await context.with(ctx, work);
    note(result);
    return result;
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};

const tracedFetch =
  (tracer: Tracer, routeOf: RouteOf, inner: Fetch): Fetch =>
  (request, bindings) => {
    const path = pathOf(request);
    if (untraced.has(path)) return inner(request, bindings);
    const carrier = {
      traceparent: request.headers.get('traceparent') ?? undefined,
      tracestate: request.headers.get('tracestate') ?? undefined,
    };
    const parent = propagation.extract(context.active(), carrier);
    const route = routeOf(path);
    const attributes = { 'http.request.method': request.method, 'http.route': route };
    const span = tracer.startSpan(
      `${request.method} ${route}`,
      { kind: SpanKind.SERVER, attributes },
      parent,
    );
    return during(
      span,
      trace.setSpan(parent, span),
      () => inner(request, bindings),
      (response) => span.setAttribute('http.response.status_code', statusOf(response, bindings)),
    );
  };

const tracedCalls =
  (tracer: Tracer): AroundCall =>
  (kind, purpose, transactionId, call) => {
    const span = tracer.startSpan(purpose === 'signature' ? 'device prompt' : 'device receipt', {
      kind: SpanKind.CLIENT,
      attributes: { 'paraph.device': kind, 'paraph.mssp_trans_id': transactionId },
    });
    return during(span, trace.setSpan(context.active(), span), call, (result) => {
      span.setAttribute('paraph.outcome', outcomeOf(result));
      if (result.kind === 'answered' && 'answer' in result && result.answer.kind === 'fault')
        span.setAttribute('paraph.fault', result.answer.fault.code);
    });
  };

const tellOf = (attempt: number | undefined, about: About | undefined, more = {}): void =>
  tell({ attempt, ap_id: about?.caller.apId, ...more });

const stepObserver: Partial<StepLog> = {
  asked: (_id, attempt, about) => tellOf(attempt, about),
  signed: (_id, attempt, about, record) =>
    tellOf(attempt, about, { profile: record.outcome?.profile }),
  failed: (_id, attempt, code, about) => tellOf(attempt, about, { fault: code }),
  unreachable: (_id, attempt, _failures, _cause, about) => tellOf(attempt, about),
  receipted: (_id, _receipt, about) => tellOf(undefined, about),
};

/** @param name The name of the tracer. The SDK sets `service.name`. */
export const createTracing = (name: string, version: string, routeOf: RouteOf) => {
  const tracer = trace.getTracer(name, version);
  return {
    fetch: (inner: Fetch): Fetch => tracedFetch(tracer, routeOf, inner),
    httpLog: (inner: HttpLog): HttpLog =>
      observed(inner, {
        answered: ({ msspTransId, apId, fault }) =>
          tell({ mssp_trans_id: msspTransId, ap_id: apId, fault }),
      }),
    stepLog: (inner: StepLog): StepLog => observed(inner, stepObserver),
    devices: (inner: Devices): Devices => aroundDevices(inner, tracedCalls(tracer)),
    /** The telemetry for `openShards` and `startWorkers`. */
    queue: createQueueTracing(tracer),
  };
};
