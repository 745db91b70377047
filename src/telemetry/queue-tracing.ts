/**
 * Lets BullMQ carry a trace from whoever adds a job to whoever runs it: the W3C trace context goes into the job's options
 * and comes out in another process, perhaps a minute later and again after a replay.
 *
 * BullMQ would tell a tracer everything it does and knows: each look for a job, the whole result with its signature, the
 * text of errors. Traces leave the house, so this tracer takes the two things that a request passes, adding and running,
 * and of what it is told only the attributes below. Everything else is not recorded at all.
 *
 * It is written for the API package that the product itself uses. A tracing library with a copy of its own that is newer
 * finds the global tracer of an older copy incompatible, and then records nothing, without a word.
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

/** BullMQ's kinds are numbered as OpenTelemetry's. */
const producer = 3;
const consumer = 4;

/** Of BullMQ's attributes, and what they are called here. */
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

/** For BullMQ's `telemetry` option of queues and workers. */
export const createQueueTracing = (tracer: Tracer): Telemetry<Context> => ({
  tracer: {
    startSpan: (name, options, parent) => {
      const kind = options?.kind;
      if (kind === producer) return recorded(tracer, name, kind, parent ?? context.active());
      // A job that came without a trace begins one, and is not part of what happened to run before it.
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
    // What is active when a job is taken is a leftover of the job that ran before.
    fromMetadata: (_active: Context, metadata) => propagation.extract(ROOT_CONTEXT, carrierFrom(metadata)),
  },
});

/** Other programs write jobs too; what is no trace context leaves the job without one. */
const carrierFrom = (metadata: unknown): Record<string, string> => {
  try {
    const carrier: unknown = JSON.parse(String(metadata));
    return Object.fromEntries(
      Object.entries(Object(carrier)).filter((entry): entry is [string, string] => isText(entry[1])),
    );
  } catch {
    return {};
  }
};
