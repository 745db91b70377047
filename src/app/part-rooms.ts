/** What parts get from the core of a process. */

import type { Pointers } from '../../packages/pki/src/extensions.ts';
import type { DescribedPart } from '../http/documentation/described-part.ts';
import { silence, type Tellers } from '../http/outgoing/tellers.ts';
import type { OauthPart } from '../oauth/extension.ts';
import type { OauthOptions } from '../oauth/oauth.ts';
import type { Part } from '../part/part.ts';
import type {
  ApiRooms,
  LinkTo,
  OauthRooms,
  PartSettings,
  StartRooms,
  WorkerRooms,
  WorkRooms,
} from '../part/rooms.ts';
import { createAnswer } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Configuration } from './configuration/schema.ts';
import type { Core } from './core.ts';
import { namesOf, type PublicUrl } from './names.ts';
import { StartError } from './start-error.ts';

export const queuesOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ queues = [] }) => queues);

/** Their addresses, for the OpenAPI document. */
export const describeParts = async (parts: readonly Part[]): Promise<readonly DescribedPart[]> =>
  (await Promise.all(parts.map((part) => part.describe?.()))).filter((each) => each !== undefined);

/** Gives the addresses of an authority that new certificates name. */
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

/** @throws StartError for files that the configuration names and that are not usable. */
export const readPartFiles = async (
  parts: readonly Part[],
  configuration: Configuration,
  directory: string,
): Promise<void> => {
  for (const part of parts) {
    const problem = await part.readFiles?.(settingsOf(configuration), directory);
    if (problem !== undefined) throw new StartError('usage', problem);
  }
};

/** @throws StartError when a part says why the service must not start. */
export const prepareParts = async (core: Core): Promise<void> => {
  const { blocking: redis } = core;
  const rooms: StartRooms = { ...common(core), redis, openShards: () => core.shardsOver(redis) };
  for (const part of core.parts) {
    const problem = await part.beforeStart?.(rooms);
    if (problem !== undefined) throw new StartError('usage', problem);
  }
};

const common = ({
  configuration,
  retention,
  directory,
  dataDirectory,
  variables = {},
  now,
  onError,
}: Core) => ({
  settings: settingsOf(configuration),
  prefix: configuration.queue.prefix,
  retention,
  directory,
  dataDirectory,
  variables,
  now,
  onError,
});

/** What one part at most brings. @throws When several do. */
const onlyOne = <Name extends 'openTellers' | 'openLinks'>(
  parts: readonly Part[],
  name: Name,
): Part[Name] => {
  const [one, another] = parts.flatMap((part) => part[name] ?? []);
  if (another !== undefined) throw new Error(`More than one part has ${name}`);
  return one as Part[Name];
};

export const openTellers = async (parts: readonly Part[], rooms: WorkerRooms): Promise<Tellers> =>
  (await onlyOne(parts, 'openTellers')?.(rooms)) ?? silence;

const nowhere: LinkTo = () => undefined;

/** What parts add to the OpenID provider. */
export const openOauthParts = ({
  parts,
  configuration,
  commands: redis,
  blocking,
}: Core): Promise<OauthOptions['additions']> => {
  const { prefix } = configuration.queue;
  const rooms: OauthRooms = { settings: settingsOf(configuration), redis, blocking, prefix };
  const open = async (part: OauthPart<OauthRooms>) => ({
    endpoints: part.endpoints,
    extend: await part.open(rooms),
  });
  return Promise.all(parts.flatMap(({ oauth }) => (oauth === undefined ? [] : [open(oauth)])));
};

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
  const { commands: redis, blocking, serviceKey, subscribers, hostNow } = core;
  return {
    ...common(core),
    ...more,
    redis,
    blocking,
    shards,
    serviceKey,
    custody: core.custodyOver(redis),
    subscribers,
    configured: core.configured,
    limiter: core.limiterOver(redis),
    nameOf: namesOf(core),
    registry: core.telemetry.registry,
    hostNow,
  };
};

export const workerRooms = (
  core: Core,
  shards: readonly Shard[],
  find: WorkerRooms['find'],
  publicUrl: PublicUrl,
): WorkerRooms => {
  const { blocking: redis, protocol, serviceKey, now } = core;
  return {
    ...common(core),
    find,
    custody: core.custodyOver(redis),
    answer: createAnswer(shards, { protocol, now }),
    linkTo: onlyOne(core.parts, 'openLinks')?.(serviceKey, publicUrl) ?? nowhere,
    log: core.eventLog,
    registry: core.telemetry.registry,
    telemetry: core.telemetry.queue,
    redis,
    shards,
    serviceKey,
  };
};

export const workRooms = (
  core: Core,
  rooms: WorkerRooms,
  own: Pick<
    WorkRooms,
    'tellers' | 'providers' | 'subscribers' | 'publicUrl' | 'backlog' | 'maxBacklog'
  >,
): WorkRooms => {
  const { blocking: redis, protocol, seals } = core;
  return {
    ...rooms,
    ...own,
    protocol,
    seals,
    trust: core.services.trust,
    limiter: core.limiterOver(redis),
    nameOf: namesOf(core),
  };
};
