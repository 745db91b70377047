/**
 * A product with telemetry in every port: the signature interface over queues and workers of the run's Redis, put
 * together from the same parts as the real one.
 */
import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { parseConfiguration } from '../../src/configuration/load.ts';
import type { ReplayOnceResult } from '../../src/engine/redis/replay-once.ts';
import { createAdmission } from '../../src/http/admission.ts';
import { createEvidence } from '../../src/http/client-certificate.ts';
import { createProfile } from '../../src/http/profile.operation.ts';
import { createReceipt } from '../../src/http/receipt.operation.ts';
import { createServiceRoutes } from '../../src/http/service.route.ts';
import { createSign } from '../../src/http/sign.operation.ts';
import { createStatus } from '../../src/http/status.operation.ts';
import { createHttpLog, createLogger, createStepLog, createUpstreamLog } from '../../src/logger.ts';
import { openCore } from '../../src/product/core.ts';
import { type CancelResult, cancelTransaction } from '../../src/queue/cancellation.ts';
import { createDevices } from '../../src/sscd/devices.ts';
import { createOutbox } from '../../src/sscd/text-gateway.ts';
import { createTelemetry, type TelemetryOptions } from '../../src/telemetry/telemetry.ts';
import { createApp2App } from '../../src/transactions/app2app.ts';
import { createEndings } from '../../src/transactions/endings.ts';
import { createReadEnd } from '../../src/transactions/outcomes.ts';
import { createReceipts } from '../../src/transactions/receipts.ts';
import { closeShards, openShards } from '../../src/transactions/shards.ts';
import { createTransactions, type Transactions } from '../../src/transactions/transactions.ts';
import { startWorkers } from '../../workers/workers.ts';
import { type Json, replayAsOperator } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;

const only = <T>([first]: readonly T[]): T => {
  if (first === undefined) throw new Error('there is none');
  return first;
};

export const namedAp = 'http://named.example';

export const openStage = async (redis: TestRedis, changes: Partial<TelemetryOptions> = {}) => {
  const prefix = redis.prefix.slice(-32);
  const loaded = parseConfiguration(JSON.stringify({ sandbox: true, queue: { prefix } }));
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  const logged: string[] = [];
  const logger = createLogger('debug', { write: (line) => void logged.push(line) });
  const now = Date.now;
  const telemetry = createTelemetry({
    version: '1.2.3',
    apIds: [namedAp],
    access: { open: true },
    tracing: { enabled: false, serviceName: 'paraph' },
    processMetrics: true,
    now,
    ...changes,
  });
  const stepLog = telemetry.stepLog(createStepLog(logger, now));
  const onError = telemetry.trouble('product', createStepLog(logger, now).trouble);
  const core = openCore({
    configuration: loaded.value,
    redisUrl: redis.url,
    masterKey: randomBytes(32),
    now,
    logger,
    onError,
  });
  const { commands, blocking, protocol, subscribers, retention } = core;
  telemetry.watchRedis('commands', commands);
  telemetry.watchRedis('blocking', blocking);
  await core.ready();

  const opened = { prefix, shards: 1, onError, telemetry: telemetry.queue };
  const shards = openShards({ redis: commands, ...opened });
  const workerShards = openShards({ redis: blocking, ...opened });
  telemetry.watchQueues({ redis: commands, shards, now });
  const shard = only(shards);
  const common = { redis: commands, blocking, prefix: shard.prefix, now, onError };
  const signatureEndings = createEndings({ ...common, at: shard.signatures });
  const receiptEndings = createEndings({ ...common, at: shard.receipts });
  const custody = core.custodyOver(commands);
  const providers = core.providersOver(commands);
  const transactions: Transactions = createTransactions({
    shards,
    endings: [signatureEndings],
    protocol,
    readEnd: createReadEnd({ custody, seals: core.seals, now, onError }),
    retention,
    now,
  });
  const receipts = createReceipts({
    transactions,
    shards,
    endings: [receiptEndings],
    timeoutSeconds: 5,
    now,
  });
  const parts = { protocol, providers, subscribers, transactions, now };
  const service = createServiceRoutes({
    protocol,
    operations: {
      sign: createSign({ ...parts, app2app: createApp2App(randomBytes(32), 'paraph') }),
      status: createStatus(parts),
      receipt: createReceipt({ ...parts, receipts }),
      profile: createProfile({ ...parts, custody, authorities: loaded.value.protocol.authorities }),
    },
    evidenceOf: createEvidence(undefined),
    limits: { maxBytes: 65_536, timeoutMs: 5000 },
    admission: createAdmission({
      maxInHand: 100,
      maxWaitingCallers: 100,
      maxBacklog: 100,
      maxBacklogInAll: 100,
      backlog: { size: () => 0, sizeOf: () => 0, added: () => undefined },
      isRegistered: providers.isRegistered,
      onRefused: telemetry.refused,
    }),
    now,
    log: telemetry.httpLog(createHttpLog(logger, now)),
  });
  const app = new Hono();
  app.route('/', service.routes);
  app.route('/', telemetry.routes);
  const fetch = telemetry.fetch((request, bindings) => app.fetch(request, bindings ?? {}));
  const workerCustody = core.custodyOver(blocking);
  const startTheWorkers = () =>
    startWorkers({
      shards: workerShards,
      blocking,
      prefix,
      protocol,
      providers: core.providersOver(blocking),
      subscribers,
      devices: telemetry.devices(
        createDevices({ custody: workerCustody, gateway: createOutbox(blocking, prefix, now) }),
      ),
      custody: workerCustody,
      seals: core.seals,
      concurrency: 4,
      lockMs: 5000,
      stalledCheckMs: 2000,
      retention,
      now,
      log: stepLog,
      transactionLog: telemetry.transactionLog,
      upstreamLog: telemetry.upstreamLog(createUpstreamLog(logger)),
      telemetry: telemetry.queue,
    });
  let workers: ReturnType<typeof startWorkers> | undefined;

  return {
    telemetry,
    logged,
    transactions,
    shard,
    startWorkers: async (): Promise<void> => {
      workers ??= startTheWorkers();
      await workers.ready();
    },
    post: async (
      path: string,
      body: unknown,
      headers: Record<string, string> = {},
    ): Promise<{ status: number; body: Json }> => {
      const response = await fetch(
        new Request(`http://test${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      );
      return { status: response.status, body: await response.json() };
    },
    get: async (path: string): Promise<Response> => fetch(new Request(`http://test${path}`)),
    replay: (msspTransId: string): Promise<ReplayOnceResult> =>
      replayAsOperator(commands, [shard], msspTransId),
    cancel: (msspTransId: string): Promise<CancelResult> =>
      cancelTransaction(msspTransId, { at: shard.signatures, protocol, now }),
    metrics: async (): Promise<string> => (await fetch(new Request('http://test/metrics'))).text(),
    stop: async (): Promise<void> => {
      await signatureEndings.close();
      await receiptEndings.close();
      await workers?.close();
      await closeShards([...shards, ...workerShards]);
      await core.close();
    },
  };
};
