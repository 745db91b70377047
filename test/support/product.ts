/**
 * The whole product inside a test file: real queues and workers on the run's Redis under the file's
 * own prefix, HTTP by `fetch` without a socket. What a test changes it changes in the
 * configuration, as an operator would.
 */
import { hash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Workflow } from '../../packages/engine/src/define.ts';
import { parts as partsOfProduct } from '../../parts/parts.ts';
import { createProcessWorkflow } from '../../parts/processes/stock-process.ts';
import {
  asServiceWorkflow,
  createWorkflows,
  type Workflows,
} from '../../parts/workflows/instances/workflows.ts';
import { createWorkflowPart } from '../../parts/workflows/part.ts';
import { type ApiSide, openApiSide } from '../../src/app/api-side.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import type { Configuration } from '../../src/app/configuration/schema.ts';
import { type Core, openCore } from '../../src/app/core.ts';
import { prepareParts, queuesOf } from '../../src/app/part-rooms.ts';
import { claimStore } from '../../src/app/redis-at-start.ts';
import { startWorkerSide, type WorkerParts, type WorkerSide } from '../../src/app/worker-side.ts';
import { listen } from '../../src/http/server.ts';
import { linkParts } from '../../src/part/link.ts';
import type { Part } from '../../src/part/part.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { createEventLog, createLogger } from '../../src/telemetry/logger.ts';
import {
  createReplayOnce,
  type ReplayOnceResult,
} from '../../src/transactions/jobs/replay-once.ts';
import { closeShards, openShards, queueIn, type Shard } from '../../src/transactions/shards.ts';
import type { TestRedis } from './redis.ts';
import { type SignOptions, signRequest, statusRequest } from './requests.ts';
import { testKeys } from './test-keys.ts';

/** Parsed JSON whose shape a test knows. */
// biome-ignore lint/suspicious/noExplicitAny: a test reaches into answers; a wrong path fails it.
export type Json = any;

export interface TestProduct {
  readonly core: Core;
  readonly api: ApiSide;
  /** The instances of processes and of the charts, without the limits of the API. */
  readonly workflows: Workflows;
  readonly configuration: Configuration;
  /** Everything that was logged, line by line. */
  readonly logged: readonly string[];
  /**
   * Where it listens; empty without `listen`. Also its public address, unless the configuration
   * names one.
   */
  readonly url: string;
  /** POSTs to a path of the signature interface and reads the JSON of the answer. */
  post(path: string, body: unknown): Promise<{ status: number; body: Json }>;
  /** @returns The id of a request whose answer nobody waits for. @throws When it is refused. */
  submit(options?: SignOptions): Promise<string>;
  /** What an application hears of a transaction: a status code, or a fault such as `_401`. */
  statusOf(msspTransId: string, apId?: string): Promise<string>;
  /** Prompts that went out, as `<id> <attempt>`. */
  asked(): readonly string[];
  /** Runs a failed transaction again, as an operator does. */
  replay(msspTransId: string): Promise<ReplayOnceResult>;
  /** Ends the workers; open transactions stay where they are. */
  stopWorkers(): Promise<void>;
  startWorkers(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestProductOptions {
  /**
   * Overrides of the configuration file; the sandbox with its test users is on unless it says
   * otherwise.
   */
  readonly configuration?: Record<string, unknown>;
  readonly workers?: boolean;
  /** Two products with one master key and one prefix are two processes of one service. */
  readonly masterKey?: Uint8Array;
  /** Of a new store: random bytes, as in production, or the master key, so that a test derives from it what the service
   * derives. Default: `master`. */
  readonly serviceKey?: 'random' | 'master';
  readonly redisUrl?: string;
  /** On a port of its own. What the OpenID library answers needs a socket. */
  readonly listen?: boolean;
  /** Where it listens, for a configuration that names it; otherwise any port that is free. */
  readonly port?: number;
  /** Also the index and the runner of ordered replays. */
  readonly operations?: boolean;
  readonly processMetrics?: boolean;
  /** Environment variables of parts. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Default: one of its own, which goes with the product. */
  readonly dataDirectory?: string;
  /** Default: those of the product. */
  readonly parts?: readonly Part[];
  /** Of the webhook for text messages; otherwise as in production. */
  readonly textTimeoutMs?: number;
  /** Charts of the operator. */
  readonly charts?: readonly Workflow[];
}

/** As the console and the command line do, without asking a policy. */
const replayAsOperator = async (
  redis: RedisClient,
  shards: readonly Shard[],
  msspTransId: string,
): Promise<ReplayOnceResult> => {
  const key = queueIn(shards)(msspTransId)?.toKey(msspTransId);
  const endedRuns = Number(key && (await redis.hget(key, 'atm')));
  const note = { by: 'test', order: randomUUID() };
  return createReplayOnce(redis, queueIn(shards))(msspTransId, endedRuns, note);
};

const configurationWith = (overrides: Record<string, unknown> = {}): Configuration => {
  const loaded = parseConfiguration(JSON.stringify({ sandbox: true, ...overrides }));
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  return loaded.value;
};

/** Requests of a test that are on their way at a time. */
const sentAtOnce = 4;

/** A product that is a second behind refuses requests, so that a burst needs a fast machine. */
const createLanes = () => {
  const lanes: Promise<unknown>[] = Array.from({ length: sentAtOnce }, () => Promise.resolve());
  let next = 0;
  return <T>(send: () => Promise<T>): Promise<T> => {
    const lane = next++ % sentAtOnce;
    const sent = Promise.resolve(lanes[lane]).then(send);
    lanes[lane] = sent.catch(() => undefined);
    return sent;
  };
};

export const startTestProduct = async (
  redis: TestRedis,
  {
    configuration: overrides = {},
    workers = true,
    masterKey,
    serviceKey = 'master',
    redisUrl,
    listen: listens = false,
    port = 0,
    operations = false,
    processMetrics = false,
    variables = {},
    dataDirectory,
    parts: given = partsOfProduct,
    textTimeoutMs,
    charts = [],
  }: TestProductOptions = {},
): Promise<TestProduct> => {
  const configuration = configurationWith({
    ...overrides,
    queue: { prefix: redis.prefix.slice(-32), ...(overrides.queue as object | undefined) },
  });
  const logged: string[] = [];
  const asked: string[] = [];
  const write = (line: string): void => {
    logged.push(line);
    // Tests ask for these again and again while they wait, so that no line is parsed twice.
    if (!line.includes('"device asked"')) return;
    const { msspTransId, attempt } = JSON.parse(line);
    asked.push(`${msspTransId} ${attempt}`);
  };
  const logger = createLogger('debug', { write });
  const parts = linkParts(
    given.map((part) => (part.name === 'workflows' ? createWorkflowPart(charts) : part)),
  );
  // Made when something is kept there.
  const ownDirectory = join(tmpdir(), `paraph-${randomUUID()}`);
  const core = await openCore({
    configuration,
    redisUrl: redisUrl ?? redis.url,
    // The same for all products of a store.
    masterKey: masterKey ?? hash('sha256', configuration.queue.prefix, 'buffer'),
    now: Date.now,
    logger,
    onError: createEventLog(logger, Date.now).trouble,
    processMetrics,
    variables,
    dataDirectory: dataDirectory ?? ownDirectory,
    parts: [...parts, testKeys],
  });
  await core.keyPlace.open();
  await core.ready();
  await claimStore(core);
  await prepareParts(core).catch(async (error: unknown) => {
    await core.close();
    throw error;
  });
  await core.unlock(serviceKey === 'master' ? core.serviceKey : undefined);
  // A worker of another process waits for the authority, which a service makes when it starts.
  await core.custodyOver(core.commands).trust();
  let address = '';
  const workerParts: WorkerParts = {
    operations,
    textTimeoutMs,
    listensAt: () => address || 'http://test',
  };
  let workerSide: WorkerSide | undefined = workers
    ? await startWorkerSide(core, workerParts)
    : undefined;
  const api = await openApiSide(core, () => address || 'http://test');
  const { http } = configuration;
  const server = listens
    ? await listen({
        fetch: api.fetch,
        refusal: api.refusal,
        host: '127.0.0.1',
        port,
        requestTimeoutMs: http.requestTimeoutSeconds * 1000,
        headersTimeoutMs: http.headersTimeoutSeconds * 1000,
        keepAliveMs: http.keepAliveSeconds * 1000,
        maxConnections: http.maxConnections,
        tls: undefined,
      })
    : undefined;
  address = server?.url ?? '';
  const post: TestProduct['post'] = async (path, body) => {
    const response = await api.fetch(
      new Request(`http://test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
    return { status: response.status, body: await response.json() };
  };
  const inTurn = createLanes();
  let ownShards: readonly Shard[] | undefined;
  let workflows: Workflows | undefined;
  return {
    url: address,
    core,
    api,
    get workflows() {
      ownShards ??= core.shardsOver(core.commands);
      workflows ??= createWorkflows({
        shards: ownShards,
        workflows: [createProcessWorkflow(), ...charts.map(asServiceWorkflow)],
        retention: { doneMs: core.retention.signedMs, failedMs: core.retention.failedMs },
        now: core.now,
      });
      return workflows;
    },
    configuration,
    logged,
    post,
    submit: async (options) => {
      const { body } = await inTurn(() =>
        post('/rest/service/sign', signRequest({ mode: 'asynch', ...options })),
      );
      if (body.MSS_SignatureResp === undefined)
        throw new Error(`Not accepted: ${JSON.stringify(body.Fault?.Detail ?? body)}`);
      return body.MSS_SignatureResp.MSSP_TransID;
    },
    statusOf: async (msspTransId, apId) => {
      const { body } = await post('/rest/service/status', statusRequest(msspTransId, apId));
      return body.MSS_StatusResp?.Status.StatusCode.Value ?? body.Fault.Code.SubCode.Value;
    },
    asked: () => [...asked],
    replay: async (msspTransId) => {
      const shards = openShards({
        redis: core.commands,
        ...configuration.queue,
        queues: queuesOf(parts),
        onError: () => undefined,
      });
      try {
        return await replayAsOperator(core.commands, shards, msspTransId);
      } finally {
        await closeShards(shards);
      }
    },
    stopWorkers: async () => {
      await workerSide?.close();
      workerSide = undefined;
    },
    startWorkers: async () => {
      workerSide ??= await startWorkerSide(core, workerParts);
    },
    stop: async () => {
      server?.cut();
      await api.close();
      await server?.drain();
      await workerSide?.close();
      if (ownShards !== undefined) await closeShards(ownShards);
      await core.close();
      rmSync(ownDirectory, { recursive: true, force: true });
    },
  };
};
