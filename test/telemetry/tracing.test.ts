/** One trace from the request to the device, and nothing in it that is nobody's business. */
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { openStage, type Stage } from './stage.ts';

const exporter = new InMemorySpanExporter();

/** W3C trace context, as an operator's SDK brings it. */
const w3c = {
  inject: (ctx: Parameters<typeof trace.getSpanContext>[0], carrier: Record<string, string>) => {
    const span = trace.getSpanContext(ctx);
    if (span !== undefined)
      carrier.traceparent = `00-${span.traceId}-${span.spanId}-0${span.traceFlags}`;
  },
  extract: (ctx: Parameters<typeof trace.getSpanContext>[0], carrier: Record<string, string>) => {
    const [, traceId, spanId] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-/.exec(carrier.traceparent ?? '') ?? [];
    if (traceId === undefined || spanId === undefined) return ctx;
    return trace.setSpanContext(ctx, { traceId, spanId, traceFlags: 1, isRemote: true });
  },
  fields: () => ['traceparent'],
};

beforeAll(() => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(w3c);
});
afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});
beforeEach(() => exporter.reset());

const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
const named = (name: string): ReadableSpan[] => spans().filter((span) => span.name === name);
const one = (name: string): ReadableSpan => {
  const [span] = named(name);
  if (span === undefined)
    throw new Error(`no span ${name} among ${spans().map((each) => each.name)}`);
  return span;
};
const idOf = (span: ReadableSpan): string => span.spanContext().spanId;
const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;

const http = 'POST /rest/service/sign';
const added = 'add signatures.sign';
const run = 'process signatures';
const prompted = 'device prompt';

describe('with traces on', () => {
  const redis = testRedis();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(redis, { tracing: { enabled: true, serviceName: 'paraph' } });
    await stage.startWorkers();
  });
  afterAll(() => stage.stop());

  const sign = async (options: Parameters<typeof signRequest>[0] = {}, headers = {}) => {
    const before = named(run).length;
    const answer = await stage.post('/rest/service/sign', signRequest(options), headers);
    // The caller hears of the end before the worker is done with the job.
    await vi.waitFor(() => expect(named(run).length).toBeGreaterThan(before), { timeout: 20_000 });
    return answer;
  };

  it.each(['synch', 'asynch'] as const)(
    'is one trace from HTTP to the device for a %s caller',
    async (mode) => {
      await sign({ mode });
      expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
      expect(
        spans()
          .map((span) => span.name)
          .sort(),
      ).toEqual([http, added, run, prompted].sort());
      expect(parentOf(one(http))).toBeUndefined();
      expect(parentOf(one(added))).toBe(idOf(one(http)));
      expect(parentOf(one(run))).toBe(idOf(one(added)));
      expect(parentOf(one(prompted))).toBe(idOf(one(run)));
      expect([http, added, run, prompted].map((name) => one(name).kind)).toEqual([
        SpanKind.SERVER,
        SpanKind.PRODUCER,
        SpanKind.CONSUMER,
        SpanKind.CLIENT,
      ]);
    },
  );

  it('goes on with the trace of the caller', async () => {
    const traceId = 'ab'.repeat(16);
    await sign({}, { traceparent: `00-${traceId}-${'cd'.repeat(8)}-01` });
    expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
    expect(parentOf(one(http))).toBe('cd'.repeat(8));
  });

  it('goes on when a person answers later, and after a replay', async () => {
    const accepted = await sign({ mode: 'asynch', msisdn: '+41700092507', timeoutSeconds: 60 });
    const id: string = accepted.body.MSS_SignatureResp.MSSP_TransID;
    await stage.transactions.answer(id, 1, { kind: 'fault', fault: { code: 401, detail: 'no' } });
    await vi.waitFor(() => expect(named(run)).toHaveLength(2), { timeout: 20_000 });
    await vi.waitFor(async () => expect(await stage.replay(id)).toBe('replayed'), 20_000);
    await vi.waitFor(() => expect(named(run)).toHaveLength(3), { timeout: 20_000 });
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
    await stage.transactions.answer(id, 2, { kind: 'fault', fault: { code: 401, detail: 'no' } });
    await vi.waitFor(() => expect(named(run)).toHaveLength(4), { timeout: 20_000 });
  });

  it('keeps the traces of callers apart who come together', async () => {
    await Promise.all(
      Array.from({ length: 20 }, () => stage.post('/rest/service/sign', signRequest())),
    );
    await vi.waitFor(() => expect(named(run)).toHaveLength(20), { timeout: 20_000 });
    const byTrace = new Map<string, ReadableSpan[]>();
    for (const span of spans()) {
      const { traceId } = span.spanContext();
      byTrace.set(traceId, [...(byTrace.get(traceId) ?? []), span]);
    }
    expect(byTrace.size).toBe(20);
    for (const group of byTrace.values()) {
      expect(new Set(group.map(({ name }) => name)).size).toBe(4);
      expect(
        new Set(group.flatMap(({ attributes }) => attributes['paraph.mssp_trans_id'] ?? [])).size,
      ).toBe(1);
    }
  });

  it('says id, application provider, profile and fault', async () => {
    const signed = await sign({ apId: 'http://ap.example' });
    const about = {
      'paraph.mssp_trans_id': signed.body.MSS_SignatureResp.MSSP_TransID,
      'paraph.ap_id': 'http://ap.example',
    };
    expect(one(http).attributes).toMatchObject({ ...about, 'http.response.status_code': 200 });
    expect(one(run).attributes).toMatchObject({ ...about, 'paraph.profile': expect.any(String) });
    exporter.reset();
    await sign({ msisdn: '+41000092401' });
    for (const name of [http, run])
      expect(one(name).attributes).toMatchObject({ 'paraph.fault': 401 });
  });

  it('holds no number, no text, no signature and no error message', async () => {
    const text = 'Something that nobody else may read';
    const signed = await sign({ text, msisdn: '+41700092501' });
    await sign({ text, msisdn: '+41000092401' });
    const told = JSON.stringify(
      spans().map(({ name, attributes, events, status, resource, links }) => ({
        name,
        attributes,
        events,
        status,
        resource: resource.attributes,
        links,
      })),
    );
    expect(told).not.toMatch(/4170009|4100009|Something that nobody|User cancelled/);
    const signature: string = signed.body.MSS_SignatureResp.MSS_Signature.Base64Signature;
    expect(signature.length).toBeGreaterThan(100);
    expect(told).not.toContain(signature.slice(0, 24));
    expect(spans().flatMap(({ events }) => events)).toEqual([]);
    const names = new Set(spans().flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].sort()).toEqual([
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'messaging.destination.name',
      'messaging.operation.name',
      'paraph.ap_id',
      'paraph.attempt',
      'paraph.device',
      'paraph.fault',
      'paraph.mssp_trans_id',
      'paraph.outcome',
      'paraph.profile',
    ]);
  });

  it('takes a job whose trace is none without one', async () => {
    const queue = new Queue('signatures', {
      connection: redis.connection,
      prefix: stage.shard.prefix,
    });
    const { MSS_SignatureReq } = signRequest();
    const telemetry = { metadata: '{"traceparent":7,"x":' };
    await queue.add('sign', { MSS_SignatureReq }, { jobId: 'H00BBBBBBBBBBBBBBBBB', telemetry });
    await queue.close();
    await vi.waitFor(() => expect(named(run)).toHaveLength(1), { timeout: 20_000 });
    expect(parentOf(one(run))).toBeUndefined();
  });

  it('leaves what monitors ask out', async () => {
    await stage.get('/metrics');
    expect(spans()).toEqual([]);
  });
});

describe('with traces off', () => {
  const redis = testRedis();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(redis);
    await stage.startWorkers();
  });
  afterAll(() => stage.stop());

  it('leaves nothing anywhere, whatever SDK is there', async () => {
    const answer = await stage.post('/rest/service/sign', signRequest(), {
      traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`,
    });
    expect(answer.status).toBe(200);
    const id: string = answer.body.MSS_SignatureResp.MSSP_TransID;
    const job = await stage.shard.signatures.queue.getJob(id);
    expect(job?.opts.telemetry).toBeUndefined();
    expect(spans()).toEqual([]);
  });
});
