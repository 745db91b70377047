import { startWorkers } from '../../workers/workers.ts';
import { createStepLog } from '../logger.ts';
import { createDevices } from '../sscd/devices.ts';
import { createOutbox, createWebhookGateway } from '../sscd/text-gateway.ts';
import { closeShards, openShards } from '../transactions/shards.ts';
import type { Core } from './core.ts';

export interface WorkerSide {
  /** Finishes the steps in hand and takes no more. */
  close(): Promise<void>;
}

/** Starts the workers of this process and resolves when they take jobs. */
export const startWorkerSide = async (core: Core): Promise<WorkerSide> => {
  const { configuration, blocking, protocol, subscribers, retention, now, logger, onError } = core;
  const { queue, workers, otp } = configuration;
  const shards = openShards({ redis: blocking, prefix: queue.prefix, shards: queue.shards, onError });
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
    devices: createDevices({ custody, gateway }),
    custody,
    concurrency: workers.concurrency,
    lockMs: workers.lockSeconds * 1000,
    stalledCheckMs: workers.stalledCheckSeconds * 1000,
    retention,
    now,
    log: createStepLog(logger, now),
  });
  await started.ready();
  return {
    close: async () => {
      await started.close();
      await closeShards(shards);
    },
  };
};
