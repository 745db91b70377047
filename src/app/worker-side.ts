import { createStepLog, createUpstreamLog } from '../../workers/log.ts';
import { startWorkers } from '../../workers/workers.ts';
import { createAudit, createAuditLog } from '../console/operators/audit.ts';
import { startBulkWorker } from '../console/operators/bulk-worker.ts';
import { productVersion } from '../environment/product-version.ts';
import type { WorkerRooms } from '../part/rooms.ts';
import { createDevices, type MakeDevice } from '../sscd/devices.ts';
import { createOutbox, createWebhookGateway } from '../sscd/text-gateway.ts';
import { createBacklog, maxBacklogs } from '../transactions/backlog.ts';
import { createProcessReports } from '../transactions/history/processes.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import { closeQueues, closeShards, openBulkQueue } from '../transactions/shards.ts';
import { createFind } from '../transactions/transactions.ts';
import { type Closing, createClosing } from './closing.ts';
import type { Core } from './core.ts';
import { keepIndexHere, keepIndexInThread } from './index-keeper.ts';
import type { PublicUrl } from './names.ts';
import { openTellers, workerRooms, workRooms } from './part-rooms.ts';

/** Starts the work of workers beside signing: the search index, ordered replays, parts. */
const startOperations = async (
  core: Core,
  rooms: WorkerRooms,
  { add }: Pick<Closing, 'add'>,
): Promise<void> => {
  const { configuration, blocking: redis, protocol, retention, now, onError } = core;
  const { queue, operations } = configuration;
  const { prefix, shards } = rooms;
  const keepIndex = core.compiled ? keepIndexInThread : keepIndexHere;
  if (operations.index) {
    const indexKeeper = keepIndex(
      { redisUrl: core.redisUrl, prefix, shards: queue.shards, retention },
      { now, onError },
    );
    add(indexKeeper.close);
  }
  const audit = createAudit({ redis, prefix, log: createAuditLog(core.eventLog) });
  const bulkQueue = openBulkQueue({ redis, prefix, onError });
  add(() => closeQueues([bulkQueue]));
  const works = await Promise.all(core.parts.map((part) => part.openBulk?.(rooms)));
  const bulks = startBulkWorker({
    redis,
    prefix,
    shards,
    audit,
    limiter: core.limiterOver(redis),
    now,
    onError,
    queue: bulkQueue,
    protocol,
    works: works.filter((work) => work !== undefined),
  });
  add(bulks.close);
  await bulks.ready();
  for (const part of core.parts) {
    const started = await part.startWorkers?.(rooms);
    if (started !== undefined) add(started.close);
  }
};

export interface WorkerParts {
  readonly operations: boolean;
  readonly listensAt?: PublicUrl;
  /** The timeout of the webhook for text messages, in milliseconds. */
  readonly textTimeoutMs?: number | undefined;
}

const openWorkerSide = async (core: Core, parts: WorkerParts, { add, close }: Closing) => {
  const publicUrl = (): string | undefined => core.configuration.publicUrl ?? parts.listensAt?.();
  const { configuration, blocking, protocol, retention, now } = core;
  const { telemetry } = core;
  const { queue, workers, otp } = configuration;
  const shards = core.shardsOver(blocking, telemetry.queue);
  add(() => closeShards(shards));
  const custody = core.custodyOver(blocking);
  const gateway =
    otp.gateway.kind === 'outbox'
      ? createOutbox(blocking, queue.prefix, now)
      : createWebhookGateway(otp.gateway.url, parts.textTimeoutMs);
  const log = telemetry.stepLog(createStepLog(core.eventLog));
  const readEnd = createReadEnd({ custody, seals: core.seals, now, onError: log.trouble });
  const find = createFind({ shards, protocol, readEnd, retention, now });
  const rooms = workerRooms(core, shards, find, publicUrl);
  const kinds: MakeDevice[] = [];
  for (const part of core.parts) {
    const devices = await part.openDevices?.(rooms);
    if (devices === undefined) continue;
    add(devices.close);
    kinds.push(devices.make);
  }
  const maxBacklog = queue.maxWaiting * queue.shards;
  const backlog = await createBacklog({
    shards,
    redis: blocking,
    limit: maxBacklog,
    onDemand: true,
    onError: core.onError,
  });
  add(backlog.close);
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
        kinds: [...kinds, ...core.services.devices(shards)],
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
  add(started.close);
  await started.ready();
  if (parts.operations) await startOperations(core, rooms, { add });
  const reports = createProcessReports({
    redis: blocking,
    prefix: queue.prefix,
    about: {
      part: 'workers',
      version: productVersion() ?? 'unknown',
      concurrency: workers.concurrency * shards.length,
    },
    running: started.running,
    clock: core.clock,
    now,
    onError: core.onError,
  });
  add(reports.close);
  return {
    areRunning: started.areRunning,
    /** Finishes the current steps and takes no more. */
    close,
  };
};

/** Starts the workers of this process and resolves when they take jobs. */
export const startWorkerSide = (core: Core, parts: WorkerParts = { operations: true }) => {
  const closing = createClosing();
  return closing.orClose(() => openWorkerSide(core, parts, closing));
};

export type WorkerSide = Awaited<ReturnType<typeof startWorkerSide>>;
