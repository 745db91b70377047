/** What parts get from the core of a process. */
import { spreadOver } from '../../packages/engine/src/engine.ts';
import type { Configuration } from '../configuration/schema.ts';
import type { DescribedPaths } from '../http/openapi.ts';
import type { ApiRooms, Part, PartSettings, WorkerRooms } from '../part.ts';
import type { Pointers } from '../pki/extensions.ts';
import { createAnswer } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Core } from './core.ts';
import { createSignerLinks, namesOf, type PublicUrl } from './signers.ts';

export const queuesOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ queues = [] }) => queues);

/** Their addresses, for the OpenAPI document. */
export const describeParts = async (parts: readonly Part[]): Promise<readonly DescribedPaths[]> =>
  (await Promise.all(parts.map((part) => part.describe?.()))).filter((each) => each !== undefined);

/** Where new certificates say that an authority publishes. */
export const pointersOf = (
  parts: readonly Part[],
  configuration: Configuration,
): ((authority: string) => Pointers | undefined) => {
  const [pointing, second] = parts.filter((part) => part.pointers !== undefined);
  if (second !== undefined) throw new Error('More than one part publishes for the authorities');
  return pointing?.pointers?.(settingsOf(configuration)) ?? (() => undefined);
};

/** Each part has read its own members of it. */
export const settingsOf = (configuration: Configuration): PartSettings =>
  configuration as PartSettings;

export const apiRooms = (
  core: Core,
  shards: readonly Shard[],
  more: Pick<
    ApiRooms,
    | 'publicUrl'
    | 'selfUrl'
    | 'addressOf'
    | 'body'
    | 'answer'
    | 'frame'
    | 'joinLogin'
    | 'applications'
    | 'findOwn'
  >,
): ApiRooms => {
  const { configuration, commands: redis, blocking, serviceKey, now, hostNow, onError } = core;
  return {
    settings: settingsOf(configuration),
    prefix: configuration.queue.prefix,
    ...more,
    redis,
    blocking,
    shards,
    serviceKey,
    custody: core.custodyOver(redis),
    limiter: core.limiterOver(redis),
    applicationName: namesOf(core),
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
  const { configuration, blocking: redis, protocol, retention, serviceKey, now, onError } = core;
  return {
    settings: settingsOf(configuration),
    prefix: configuration.queue.prefix,
    locate: spreadOver(
      shards.map(({ workflows }) => workflows.queue),
      redis,
      now,
    ),
    answer: createAnswer(shards, { protocol, now }),
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
