/** What parts get from the core of a process. */
import { spreadOver } from '../../packages/engine/src/engine.ts';
import type { Configuration } from '../configuration/schema.ts';
import type { ApiRooms, Part, PartSettings, WorkerRooms } from '../part.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Core } from './core.ts';
import { createSignerLinks, type PublicUrl } from './signers.ts';

export const queuesOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ queues = [] }) => queues);

/** Each part has read its own members of it. */
export const settingsOf = (configuration: Configuration): PartSettings =>
  configuration as PartSettings;

export const apiRooms = (
  core: Core,
  shards: readonly Shard[],
  urls: Pick<ApiRooms, 'publicUrl' | 'selfUrl'>,
): ApiRooms => {
  const { configuration, commands: redis, serviceKey, now, hostNow, onError } = core;
  return {
    settings: settingsOf(configuration),
    prefix: configuration.queue.prefix,
    ...urls,
    redis,
    shards,
    serviceKey,
    now,
    hostNow,
    onError,
  };
};

export const workerRooms = (
  core: Core,
  shards: readonly Shard[],
  find: WorkerRooms['find'],
  publicUrl: PublicUrl,
): WorkerRooms => {
  const { configuration, blocking: redis, retention, serviceKey, now, onError } = core;
  return {
    settings: settingsOf(configuration),
    prefix: configuration.queue.prefix,
    locate: spreadOver(
      shards.map(({ workflows }) => workflows.queue),
      redis,
      now,
    ),
    find,
    linkTo: createSignerLinks(core, publicUrl),
    log: core.eventLog,
    registry: core.telemetry.registry,
    telemetry: core.telemetry.queue,
    redis,
    shards,
    serviceKey,
    retention,
    now,
    onError,
  };
};
