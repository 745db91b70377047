/**
 * Makes BullMQ carry a trace from the process that adds a job to the one that runs it: the W3C
 * trace context is stored in the options of the job.
 *
 * BullMQ would report everything to a tracer: each fetch of a job, the whole result with its
 * signature, texts of errors. Traces go to other systems, so this tracer records only adding and
 * running, with the attributes below.
 *
 * It must use the same API package as the product. A tracing library that brings a newer copy of
 * its own ignores the global tracer of the older copy and silently records nothing.
 */
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Telemetry } from 'bullmq';

type QueueSpan = ReturnType<Telemetry<Context>['tracer']['startSpan']>;
type Attributes = Parameters<QueueSpan['setAttributes']>[0];

/** The kinds of spans, which BullMQ numbers like OpenTelemetry. */
const producer = 3;
const consumer = 4;

/** Recorded attributes: BullMQ's names and the names in our spans. */
const told: Readonly<Record<string, string>> = {
  'bullmq.queue.name': 'messaging.destination.name',
  'bullmq.queue.operation': 'messaging.operation.name',
  'bullmq.job.id': 'paraph.mssp_trans_id',
};

const unrecorded: QueueSpan = {
  setSpanOnContext: (ctx: Context) => ctx,
  setAttribute: () => undefined,
  setAttributes: () => undefined,
  addEvent: () => undefined,
  recordException: () => undefined,
  end: () => undefined,
};

const isText = (value: unknown): value is string => typeof value === 'string';

const recorded = (tracer: Tracer, name: string, kind: number, parent: Context): QueueSpan => {
  const span = tracer.startSpan(name, { kind }, parent);
  const setAttribute = (key: string, value: unknown): void => {
    const as = told[key];
    if (as !== undefined && isText(value)) span.setAttribute(as, value);
  };
  return {
    setSpanOnContext: (ctx: Context) => trace.setSpan(ctx, span),
    setAttribute,
    setAttributes: (attributes: Attributes) => {
      for (const [key, value] of Object.entries(attributes)) setAttribute(key, value);
    },
    addEvent: () => undefined,
    // Messages may quote data.
    recordException: () => span.setStatus({ code: SpanStatusCode.ERROR }),
    end: () => span.end(),
  };
};

/** Makes the value for the option `telemetry` of BullMQ's queues and workers. */
export const createQueueTracing = (tracer: Tracer): Telemetry<Context> => ({
  tracer: {
    startSpan: (name, options, parent) => {
      const kind = options?.kind;
      if (kind === producer) return recorded(tracer, name, kind, parent ?? context.active());
      // A job without a trace begins one; it is not part of the job that ran before.
      if (kind === consumer) return recorded(tracer, name, kind, parent ?? ROOT_CONTEXT);
      return unrecorded;
    },
  },
  contextManager: {
    active: () => context.active(),
    root: () => ROOT_CONTEXT,
    with: (ctx, run) => context.with(ctx, run),
    getMetadata: (ctx: Context) => {
      const carrier = {};
      propagation.inject(ctx, carrier);
      return JSON.stringify(carrier);
    },
    // The active context belongs to the job that ran before.
    fromMetadata: (_active: Context, metadata) =>
      propagation.extract(ROOT_CONTEXT, carrierFrom(metadata)),
  },
});

/**
 * Reads a trace context. A malformed one counts as none, because other programs write jobs, too.
 */
const carrierFrom = (metadata: unknown): Record<string, string> => {
  try {
    const carrier: unknown = JSON.parse(String(metadata));
    return Object.fromEntries(
      Object.entries(Object(carrier)).filter((entry): entry is [string, string] =>
        isText(entry[1]),
      ),
    );
  } catch {
    return {};
  }
};
