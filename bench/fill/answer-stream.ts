/**
 * People who answer: a producer in a process of its own that brings signatures to pending
 * transactions, by the way that phones and upstream services take (transactions/answers.ts), at a
 * steady rate whether or not the last answer is through. Each signature is real, made with the
 * user's own key, because the worker verifies what comes from elsewhere.
 *
 * Making keys and signatures takes longer than anything that is measured, so it is done before.
 */
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { signCms } from '../../packages/pki/src/cms.ts';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
import { createProtocol } from '../../packages/protocol/src/parse.ts';
import { bytesToSign } from '../../packages/protocol/src/requests.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { createCustodyStore } from '../../src/app/custody-store.ts';
import { connectForBlocking, type RedisClient, whenReady } from '../../src/redis/connect.ts';
import { createAnswer } from '../../src/transactions/answers.ts';
import { createEndings } from '../../src/transactions/endings.ts';
import { nonceOf } from '../../src/transactions/ids.ts';
import { openShards } from '../../src/transactions/shards.ts';
import { serveParent } from '../harness/program.ts';
import { maxTimeoutSeconds } from './crowd.ts';

interface AnswerStream {
  readonly redisUrl: string;
  /** Of the service, because the answers are signed with its users' keys. Base64url of 32 bytes. */
  readonly masterKey: string;
  /** So many of the pending transactions, picked at random, are answered… */
  readonly count: number;
  /** … at this steady rate. */
  readonly perSecond: number;
}

export interface AnswerStreamResult {
  readonly count: number;
  /** From the moment the answer is given to the event of completion. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** `prepare` makes and keeps the signatures, so that the stream itself costs next to nothing. */
export type AnswerQuestion =
  | { readonly kind: 'prepare'; readonly stream: AnswerStream }
  | { readonly kind: 'answer'; readonly stream: AnswerStream };

const prefix = 'paraph';
const firstAttempt = 1;
const atOnce = 16;
const patienceMs = 20_000;

interface Prepared {
  readonly id: string;
  readonly answer: DeviceAnswer;
}

const raise = (error: Error): void => {
  throw error;
};

const openService = async (redisUrl: string, masterKey: string) => {
  const redis: RedisClient = connectForBlocking({ url: redisUrl });
  await whenReady(redis);
  const [shard] = openShards({ redis, prefix, shards: 1, onError: raise });
  const defaults = parseConfiguration('{}');
  if (shard === undefined || !defaults.ok)
    throw new Error('A service of one shard and all defaults');
  return {
    redis,
    shard,
    endings: createEndings({
      redis,
      blocking: redis,
      at: shard.signatures,
      now: Date.now,
      onError: raise,
    }),
    protocol: createProtocol({ ...defaults.value.protocol, maxTimeoutSeconds }),
    custody: createKeyCustody({
      store: createCustodyStore(redis, prefix),
      serviceKey: Buffer.from(masterKey, 'base64url'),
      now: Date.now,
    }),
    prepared: [] as Prepared[],
  };
};
type Service = Awaited<ReturnType<typeof openService>>;

const services = new Map<string, Promise<Service>>();
const serviceOf = ({ redisUrl, masterKey }: AnswerStream): Promise<Service> => {
  const service = services.get(redisUrl) ?? openService(redisUrl, masterKey);
  services.set(redisUrl, service);
  return service;
};

/** What the person with this number would send. */
const signFor = async ({ shard, protocol, custody }: Service, id: string): Promise<Prepared> => {
  const stored = await shard.signatures.jobs.read(id);
  const data = Object(stored?.data) as { readonly MSS_SignatureReq?: unknown };
  const request = protocol.parseStoredSign(data.MSS_SignatureReq);
  if (!request.ok) throw new Error(`${id} is not a signature request`);
  const { msisdn, data: content } = request.value;
  const owner = { msisdn: msisdn.number, sscdId: 'sim', algorithm: 'EC', expired: false } as const;
  const key = await custody.userKey(owner);
  const cms = await signCms({ content: bytesToSign(content), key, nonce: nonceOf(id, 1) });
  return {
    id,
    answer: {
      kind: 'signature',
      cms: Buffer.from(cms).toString('base64'),
      certificates: key.chain.id,
    },
  };
};

const nothing: AnswerStreamResult = { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 };

const prepare = async (stream: AnswerStream): Promise<AnswerStreamResult> => {
  const service = await serviceOf(stream);
  const { redis, shard } = service;
  const asleep = shard.signatures.queue.toKey('delayed');
  // Random members, each once.
  const ids = await redis.zrandmember(asleep, stream.count);
  if (ids === null || ids.length < stream.count)
    throw new Error('Fewer are pending than are to be answered');
  service.prepared = [];
  for (let first = 0; first < ids.length; first += atOnce) {
    const some = ids.slice(first, first + atOnce);
    service.prepared.push(...(await Promise.all(some.map((id) => signFor(service, id)))));
  }
  return nothing;
};

const answerAll = async (stream: AnswerStream): Promise<AnswerStreamResult> => {
  const { shard, endings, prepared, protocol } = await serviceOf(stream);
  const bring = createAnswer([shard], { protocol, now: Date.now });
  const histogram = createHistogram();
  const begin = performance.now();
  const one = async ({ id, answer }: Prepared, number: number): Promise<void> => {
    await delay(Math.max(0, begin + (number * 1000) / stream.perSecond - performance.now()));
    const waiting = endings.wait(id, Date.now() + patienceMs);
    const given = performance.now();
    const result = await bring(id, firstAttempt, answer);
    if (result !== 'accepted') throw new Error(`An answer was not accepted: ${result}`);
    const ending = await waiting.ended;
    if (ending?.kind !== 'completed')
      throw new Error(`An answered transaction did not complete: ${ending?.kind}`);
    histogram.record(Math.max(1, Math.round((performance.now() - given) * 1000)));
  };
  await Promise.all(prepared.map(one));
  return {
    count: prepared.length,
    p50Ms: histogram.percentile(50) / 1000,
    p99Ms: histogram.percentile(99) / 1000,
    maxMs: histogram.max / 1000,
  };
};

serveParent(({ kind, stream }: AnswerQuestion) =>
  kind === 'prepare' ? prepare(stream) : answerAll(stream),
);
