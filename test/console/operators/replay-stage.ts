/**
 * A running product with its search index and the replays beside it, as the product will put them
 * together.
 */
import { randomBytes } from 'node:crypto';
import type { Queue } from 'bullmq';
import { tokenOf } from '../../../packages/engine/src/activities.ts';
import { signCms } from '../../../packages/pki/src/cms.ts';
import { type FaultCode, fault } from '../../../packages/protocol/src/fault.ts';
import { parts } from '../../../parts/parts.ts';
import type { Configuration } from '../../../src/app/configuration/schema.ts';
import { type OperatorsRooms, openOperatorsRooms } from '../../../src/app/operators-rooms.ts';
import { queuesOf, settingsOf } from '../../../src/app/part-rooms.ts';
import type { Audit } from '../../../src/console/operators/audit.ts';
import { startBulkWorker } from '../../../src/console/operators/bulk-worker.ts';
import type { Replays } from '../../../src/console/operators/replays.ts';
import { loginApId } from '../../../src/registry/login-ap-id.ts';
import { createRateLimiter } from '../../../src/registry/rate-limiter.ts';
import { createAnswer } from '../../../src/transactions/answers.ts';
import type { History } from '../../../src/transactions/history/history.ts';
import { createIndexer, type Indexer } from '../../../src/transactions/history/indexer.ts';
import { msspTransIdOf, nonceOf } from '../../../src/transactions/ids.ts';
import { closeShards, openShards, type Shard } from '../../../src/transactions/shards.ts';
import { createSubmitFor } from '../../../src/transactions/transactions.ts';
import {
  startTestProduct,
  type TestProduct,
  type TestProductOptions,
} from '../../support/product.ts';
import type { TestRedis } from '../../support/redis.ts';
import { signRequest } from '../../support/requests.ts';
import { soon } from '../../support/soon.ts';

/** Their phones never answer by themselves: the tests answer for them. */
const firstPerson = 41_760_000_000;

/** As the configuration changes it. */
type Policy = Configuration['operations']['replay']['policy'];

/** All that replays in one process. */
export interface ReplayRunner {
  close(): Promise<void>;
}

export interface ReplayStage {
  readonly product: TestProduct;
  readonly shards: readonly Shard[];
  readonly bulkQueue: Queue;
  readonly prefix: string;
  readonly history: History;
  readonly indexer: Indexer;
  readonly audit: Audit;
  readonly replays: Replays;
  readonly parts: OperatorsRooms['parts'];
  readonly frame: OperatorsRooms['frame'];
  readonly auditActions: OperatorsRooms['auditActions'];
  readonly secretsWith: OperatorsRooms['secretsWith'];
  readonly errors: readonly Error[];
  /** A number that nobody else uses. */
  somebody(): string;
  submit(msisdn: string, options?: { apId?: string; timeoutSeconds?: number }): Promise<string>;
  /** Submits, and has the person, or the transport, fail it. */
  failed(code: FaultCode, msisdn?: string, apId?: string): Promise<string>;
  /** Submits a login, as the OpenID provider does, and has it fail. */
  failedLogin(code: FaultCode): Promise<string>;
  /** Submits as a workflow does that waits for the end, and has it fail. */
  failedOfWorkflow(code: FaultCode, apId?: string): Promise<string>;
  /** Answers as the phone when it has been asked. */
  answer(id: string, attempt: number, code: FaultCode): Promise<void>;
  /** Signs as the phone when it has been asked. */
  sign(id: string, attempt: number): Promise<void>;
  /** Prompts that went out, as `<id> <attempt>`. */
  asked(): readonly string[];
  /** What the AP hears: `504`, `500` or the fault's code. */
  status(id: string): Promise<string>;
  /** Those that still run. */
  stopRunners(): Promise<void>;
  runner(options?: { leaseMs?: number }): ReplayRunner;
  replaysWith(policy: Policy): Promise<Replays>;
  close(): Promise<void>;
}

export const startReplayStage = async (
  redis: TestRedis,
  charts: TestProductOptions['charts'] = [],
): Promise<ReplayStage> => {
  let nextPerson = firstPerson;
  const product = await startTestProduct(redis, {
    masterKey: randomBytes(32),
    charts,
    configuration: {
      queue: { shards: 2 },
      subscribers: [
        {
          msisdn: String(firstPerson),
          through: String(firstPerson + 9999),
          sim: { device: { kind: 'simulated', sign: 'never-answers' } },
        },
      ],
    },
  });
  const { blocking, retention, protocol } = product.core;
  const { prefix, shards: count } = product.configuration.queue;
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const shards = openShards({
    redis: blocking,
    prefix,
    shards: count,
    queues: queuesOf(parts),
    onError,
  });
  const common = { redis: blocking, prefix, shards: count, retention, now: Date.now, onError };
  const indexer = createIndexer({ ...common, pollMs: 10 });
  indexer.start();
  const opened: OperatorsRooms[] = [];
  const roomsWith = async (policy: Policy): Promise<OperatorsRooms> => {
    const { operations } = product.configuration;
    const rooms = await openOperatorsRooms({
      ...product.core,
      configuration: {
        ...product.configuration,
        operations: { ...operations, replay: { ...operations.replay, policy } },
      },
      redis: blocking,
      shards,
      log: { audit: () => undefined },
      warn: () => undefined,
      onError,
    });
    opened.push(rooms);
    return rooms;
  };
  const { history, audit, replays, secretsWith, ...rooms } = await roomsWith({});
  const bulkQueue = replays.queue;
  const forBulk = {
    settings: settingsOf(product.configuration),
    ...{ redis: blocking, prefix, shards, retention, now: Date.now, onError },
    ...{ directory: undefined, dataDirectory: undefined, variables: {} },
    answer: createAnswer(shards, { protocol, now: Date.now }),
  };
  const opening = product.core.parts.map((part) => part.openBulk?.(forBulk));
  const works = (await Promise.all(opening)).filter((work) => work !== undefined);
  const limiter = createRateLimiter({ redis: blocking, prefix });
  const runners: ReplayRunner[] = [];
  const stopRunners = async (): Promise<void> => {
    for (const runner of runners.splice(0)) await runner.close();
  };

  // The longest there is: what a test leaves open must not end by itself while the machine is busy.
  const submit: ReplayStage['submit'] = (msisdn, options) =>
    product.submit({ msisdn, timeoutSeconds: 300, ...options });
  const answer: ReplayStage['answer'] = async (id, attempt, code) => {
    await soon(async () => {
      // Whoever has answered is not asked any more.
      if (!product.asked().includes(`${id} ${attempt}`)) throw new Error('not asked yet');
      const result = await product.api.transactions.answer(id, attempt, {
        kind: 'fault',
        fault: fault(code),
      });
      if (result !== 'accepted') throw new Error(result);
    });
  };
  const somebody = (): string => `+${nextPerson++}`;
  const fail = async (id: string, code: FaultCode): Promise<string> => {
    await answer(id, 1, code);
    await soon(async () => {
      if ((await history.find(id))?.state !== 'failed') throw new Error('not failed yet');
    });
    return id;
  };

  return {
    product,
    shards,
    bulkQueue,
    prefix,
    history,
    indexer,
    audit,
    replays,
    parts: rooms.parts,
    frame: rooms.frame,
    auditActions: rooms.auditActions,
    secretsWith,
    errors,
    somebody,
    submit,
    answer,
    sign: async (id, attempt) => {
      const custody = product.core.custodyOver(product.core.commands);
      const view = await product.api.transactions.find(id);
      const msisdn = view?.request.msisdn.number ?? '';
      const key = await custody.userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
      const cms = await signCms({
        content: Buffer.from('Sign in to Example?'),
        key,
        nonce: nonceOf(id, attempt),
      });
      const signature = {
        kind: 'signature',
        cms: Buffer.from(cms).toString('base64'),
        certificates: key.chain.id,
      } as const;
      await soon(async () => {
        if (!product.asked().includes(`${id} ${attempt}`)) throw new Error('not asked yet');
        const result = await product.api.transactions.answer(id, attempt, signature);
        if (result !== 'accepted') throw new Error(result);
      });
    },
    status: async (id) => (await product.statusOf(id)).replace('_', ''),
    replaysWith: async (policy) => (await roomsWith(policy)).replays,
    failed: async (code, msisdn = somebody(), apId = 'http://test.example') =>
      fail(await submit(msisdn, { apId }), code),
    failedLogin: async (code) => {
      const apId = loginApId(product.api.oauth.tenants.main.id);
      const request = protocol.parseSign(signRequest({ msisdn: somebody(), mode: 'asynch', apId }));
      if (!request.ok) throw new Error(request.fault.detail);
      const { msspTransId } = await product.api.transactions.submit(request.value.wire);
      return fail(msspTransId, code);
    },
    failedOfWorkflow: async (code, apId = 'http://test.example') => {
      const request = protocol.parseSign(signRequest({ msisdn: somebody(), mode: 'asynch', apId }));
      if (!request.ok) throw new Error(request.fault.detail);
      const token = tokenOf({ id: 'abcdefghijkl-own-1', createdAt: 1 }, 'sign', 1);
      const id = msspTransIdOf(randomBytes(16).toString('hex'), 1);
      await createSubmitFor({ shards, now: Date.now })(id, request.value.wire, token);
      return fail(id, code);
    },
    asked: product.asked,
    stopRunners,
    runner: ({ leaseMs = 1000 } = {}) => {
      const options = { redis: blocking, prefix, shards, audit, limiter, now: Date.now, onError };
      const bulks = startBulkWorker({
        ...options,
        queue: bulkQueue,
        protocol,
        works,
        holdMs: leaseMs,
      });
      runners.push(bulks);
      return bulks;
    },
    close: async () => {
      await stopRunners();
      for (const rooms of opened) await rooms.close();
      await indexer.close();
      await closeShards(shards);
      await product.stop();
    },
  };
};
