import { startWorkers } from '../../workers/workers.ts';
import { createStepLog, createUpstreamLog } from '../logger.ts';
import { createDevices } from '../sscd/devices.ts';
import { createOutbox, createWebhookGateway } from '../sscd/text-gateway.ts';
import { closeShards, openShards } from '../transactions/shards.ts';
import type { Core } from './core.ts';
import { startOperations } from './operations-side.ts';

export interface WorkerSide {
  /** Whether all workers take jobs. */
  areRunning(): boolean;
  /** Finishes the steps in hand and takes no more. */
  close(): Promise<void>;
}

/** Starts the workers of this process and resolves when they take jobs. */
export const startWorkerSide = async (
  core: Core,
  parts: { readonly operations: boolean } = { operations: true },
): Promise<WorkerSide> => {
  const { configuration, blocking, protocol, subscribers, retention, now, hostNow, logger, onError } = core;
  const { telemetry } = core;
  const { queue, workers, otp } = configuration;
  const shards = openShards({
    redis: blocking,
    prefix: queue.prefix,
    shards: queue.shards,
    onError,
    telemetry: telemetry.queue,
  });
  const custody = core.custodyOver(blocking);
  const gateway =
    otp.gateway.kind === 'outbox'
      ? createOutbox(blocking, queue.prefix, now)
      : createWebhookGateway(otp.gateway.url);
  const started = startWorkers({
    shards,
    blocking,
    prefix: queue.prefix,
    protocol,
    providers: core.providersOver(blocking),
    subscribers,
    devices: telemetry.devices(createDevices({ custody, gateway })),
    custody,
    seals: core.seals,
    concurrency: workers.concurrency,
    lockMs: workers.lockSeconds * 1000,
    stalledCheckMs: workers.stalledCheckSeconds * 1000,
    retention,
    now,
    log: telemetry.stepLog(createStepLog(logger, hostNow)),
    transactionLog: telemetry.transactionLog,
    upstreamLog: telemetry.upstreamLog(createUpstreamLog(logger)),
    telemetry: telemetry.queue,
  });
  await started.ready();
  const keepers = parts.operations ? await startOperations(core, shards) : undefined;
  return {
    areRunning: started.areRunning,
    close: async () => {
      await keepers?.close();
      await started.close();
      await closeShards(shards);
    },
  };
};
