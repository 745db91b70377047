import { createStepLog, createUpstreamLog } from '../../workers/log.ts';
import { startWorkers } from '../../workers/workers.ts';
import { createProcessReports } from '../history/processes.ts';
import { createAudit, createAuditLog } from '../operators/audit.ts';
import { startBulkWorker } from '../operators/bulk-worker.ts';
import type { Running } from '../part/part.ts';
import type { WorkerRooms } from '../part/rooms.ts';
import { productVersion } from '../product-version.ts';
import { createDevices } from '../sscd/devices.ts';
import { createOutbox, createWebhookGateway } from '../sscd/text-gateway.ts';
import { createBacklog, maxBacklogs } from '../transactions/backlog.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import { closeQueues, closeShards, openBulkQueue } from '../transactions/shards.ts';
import { createFind } from '../transactions/transactions.ts';
import type { Core } from './core.ts';
import { keepIndexHere, keepIndexInThread } from './index-keeper.ts';
import type { PublicUrl } from './names.ts';
import { openTellers, workerRooms, workRooms } from './part-rooms.ts';

/** Starts the work of workers beside signing: the search index, ordered replays, parts. */
const startOperations = async (core: Core, rooms: WorkerRooms) => {
  const { configuration, blocking: redis, protocol, retention, now, onError } = core;
  const { queue, operations } = configuration;
  const { prefix, shards } = rooms;
  const keepIndex = core.compiled ? keepIndexInThread : keepIndexHere;
  const indexKeeper = operations.index
    ? keepIndex(
        { redisUrl: core.redisUrl, prefix, shards: queue.shards, retention },
        { now, onError },
      )
    : undefined;
  const audit = createAudit({ redis, prefix, log: createAuditLog(core.eventLog) });
  const common = {
    redis,
    prefix,
    shards,
    audit,
    limiter: core.limiterOver(redis),
    now,
    onError,
  };
  const bulkQueue = openBulkQueue({ redis, prefix, onError });
  const bulks = startBulkWorker({ ...common, queue: bulkQueue, protocol });
  await bulks.ready();
  const running: Running[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(running.map((part) => part.close()));
    await bulks.close();
    await closeQueues([bulkQueue]);
    await indexKeeper?.close();
  };
  try {
    for (const part of core.parts) {
      const started = await part.startWorkers?.(rooms);
      if (started !== undefined) running.push(started);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
};

export interface WorkerParts {
  readonly operations: boolean;
  readonly listensAt?: PublicUrl;
  /** The timeout of the webhook for text messages, in milliseconds. */
  readonly textTimeoutMs?: number | undefined;
}

/** Starts the workers of this process and resolves when they take jobs. */
export const startWorkerSide = async (core: Core, parts: WorkerParts = { operations: true }) => {
  const publicUrl = (): string | undefined => core.configuration.publicUrl ?? parts.listensAt?.();
  const { configuration, blocking, protocol, retention, now } = core;
  const { telemetry } = core;
  const { queue, workers, otp } = configuration;
  const shards = core.shardsOver(blocking, telemetry.queue);
  const custody = core.custodyOver(blocking);
  const gateway =
    otp.gateway.kind === 'outbox'
      ? createOutbox(blocking, queue.prefix, now)
      : createWebhookGateway(otp.gateway.url, parts.textTimeoutMs);
  const maxBacklog = queue.maxWaiting * queue.shards;
  const backlog = await createBacklog({
    shards,
    redis: blocking,
    limit: maxBacklog,
    onDemand: true,
    onError: core.onError,
  });
  const log = telemetry.stepLog(createStepLog(core.eventLog));
  const readEnd = createReadEnd({ custody, seals: core.seals, now, onError: log.trouble });
  const find = createFind({ shards, protocol, readEnd, retention, now });
  const rooms = workerRooms(core, shards, find, publicUrl);
  const ofParts = await Promise.all(core.parts.map((part) => part.openDevices?.(rooms)));
  const devices = ofParts.filter((each) => each !== undefined);
  const common = {
    shards,
    protocol,
    providers: core.providersOver(blocking),
    subscribers: core.subscribersOver(blocking),
    seals: core.seals,
    retention,
    now,
  };
  const forWork = workRooms(core, rooms, {
    tellers: await openTellers(core.parts, rooms),
    providers: common.providers,
    subscribers: common.subscribers,
    publicUrl,
    backlog,
    maxBacklog: { ofOne: maxBacklog, inAll: maxBacklog * maxBacklogs },
  });
  const more = await Promise.all(core.parts.map((part) => part.openWork?.(forWork)));
  const started = startWorkers({
    ...common,
    more: more.filter((work) => work !== undefined),
    readEnd,
    find,
    blocking,
    prefix: queue.prefix,
    devices: telemetry.devices(
      createDevices({
        custody,
        gateway,
        kinds: [...devices.map(({ make }) => make), ...core.services.devices(shards)],
      }),
    ),
    services: core.services,
    custody,
    concurrency: workers.concurrency,
    lockMs: workers.lockSeconds * 1000,
    stalledCheckMs: workers.stalledCheckSeconds * 1000,
    log,
    transactionLog: telemetry.transactionLog,
    upstreamLog: telemetry.upstreamLog(createUpstreamLog(core.eventLog)),
    telemetry: telemetry.queue,
  });
  await started.ready();
  const reports = createProcessReports({
    redis: blocking,
    prefix: queue.prefix,
    about: {
      part: 'workers',
      version: productVersion() ?? 'unknown',
      concurrency: workers.concurrency * shards.length,
    },
    running: started.running,
    now,
    onError: core.onError,
  });
  const keepers = parts.operations ? await startOperations(core, rooms) : undefined;
  return {
    areRunning: started.areRunning,
    /** Finishes the current steps and takes no more. */
    close: async (): Promise<void> => {
      await reports.close();
      await keepers?.close();
      await started.close();
      await backlog.close();
      await Promise.all(devices.map((each) => each.close()));
      await closeShards(shards);
    },
  };
};

export type WorkerSide = Awaited<ReturnType<typeof startWorkerSide>>;
