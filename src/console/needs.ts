/**
 * What needs a person, for the first lines of the overview: of the core, and of parts. A source
 * that fails hides none of the others.
 */
import { isRedisAway, toError } from '../../packages/engine/src/redis/to-error.ts';
import type { RedisClient } from '../redis/connect.ts';
import { type ReadableQueue, readQueueDepth } from '../redis/queue-depth.ts';
import type { History } from '../transactions/history/history.ts';
import { type ProcessReport, toleratedOffsetMs } from '../transactions/history/processes.ts';
import { queuesIn } from '../transactions/shards.ts';
import { queuePrefix } from './board/board-part.ts';
import type { AdminApiDeps } from './deps.ts';
import { counted, duration, queryOf } from './pages/markup.ts';
import type { Need } from './part.ts';

/** How long a job may wait for a worker before a person is told. */
const standsAfterMs = 60_000;

/** Faults of refused requests that have a line each; the others share one. */
const maxFaults = 5;

const processesAt = '/admin#processes';

const ofWorkers = (workers: readonly ProcessReport[]): readonly Need[] =>
  workers.length > 0
    ? []
    : [
        {
          kind: 'no-workers',
          count: 1,
          text: 'No workers run: what is submitted waits until some are started',
          page: processesAt,
        },
      ];

const ofClock = ({ part, host, pid, clockOffsetMs = 0 }: ProcessReport): readonly Need[] => {
  const apart = Math.abs(clockOffsetMs);
  if (apart <= toleratedOffsetMs) return [];
  const side = clockOffsetMs > 0 ? 'ahead of' : 'behind';
  return [
    {
      kind: 'clock',
      count: 1,
      text: `The clock of ${part === 'api' ? 'an API' : 'workers'} (${host}, process ${pid}) is ${duration(apart)} ${side} that of Redis`,
      page: processesAt,
    },
  ];
};

/** The queues of one name, of all shards together. */
interface WaitingLine {
  readonly name: string;
  readonly waiting: number;
  /** How long the oldest of the next jobs has waited; 0 for a job that slept and was woken. */
  readonly oldestMs: number;
}

const readLines = async (
  redis: RedisClient,
  queues: readonly ReadableQueue[],
  now: number,
): Promise<readonly WaitingLine[]> => {
  const lines = new Map<string, WaitingLine>();
  const read = queues.map(async (queue) => ({
    name: queue.name,
    depth: await readQueueDepth(redis, queue),
  }));
  for (const { name, depth } of await Promise.all(read)) {
    const { jobs, next } = depth;
    const since = next === undefined || next.hasRun ? now : (next.dueAt ?? now);
    const { waiting, oldestMs } = lines.get(name) ?? { waiting: 0, oldestMs: 0 };
    lines.set(name, {
      name,
      waiting: waiting + jobs.waiting,
      oldestMs: Math.max(oldestMs, now - since),
    });
  }
  return [...lines.values()];
};

const ofQueue = (
  { name, waiting, oldestMs }: WaitingLine,
  hasWorkers: boolean,
  prefix: string,
): readonly Need[] => {
  if (waiting === 0 || (hasWorkers && oldestMs < standsAfterMs)) return [];
  const jobs = counted(waiting, 'job');
  const since = oldestMs < standsAfterMs ? '' : `, the first for ${duration(oldestMs)}`;
  return [
    {
      kind: 'queue',
      count: waiting,
      text: `${jobs} in the queue ${name} ${waiting === 1 ? 'waits' : 'wait'} for a worker${since}`,
      // With several shards each has a queue of that name.
      page: prefix === '' ? `/admin/queues/queue/${name}` : '/admin/queues',
    },
  ];
};

interface RefusedByFault {
  readonly fault: number;
  readonly reason?: string;
  readonly count: number;
}

const ofRefusals = (refused: readonly RefusedByFault[]): readonly Need[] => {
  const others = refused.slice(maxFaults).reduce((sum, { count }) => sum + count, 0);
  const requests = (count: number): string =>
    `${counted(count, 'request')} ${count === 1 ? 'was' : 'were'} refused in the last hour`;
  return [
    ...refused.slice(0, maxFaults).map(({ fault, reason = '', count }) => ({
      kind: 'refused',
      count,
      text: `${requests(count)}: ${`${fault} ${reason}`.trim()}`,
      page: `/admin/refusals${queryOf({ fault: String(fault) })}`,
    })),
    ...(others === 0
      ? []
      : [
          {
            kind: 'refused',
            count: others,
            text: `${requests(others)} for other reasons`,
            page: '/admin/refusals',
          },
        ]),
  ];
};

const unchecked: Need = {
  kind: 'unchecked',
  count: 1,
  text: 'Something could not be checked: the log of the API says what',
  page: processesAt,
};

export type ReadNeeds = () => Promise<readonly Need[]>;

type NeedsDeps = Pick<AdminApiDeps, 'shards' | 'redis' | 'parts' | 'now' | 'log'> & {
  readonly history: Pick<History, 'processes' | 'refusedByFault'>;
  readonly replays: Pick<AdminApiDeps['replays'], 'queue'>;
};

/** @param ofSecrets Of parts, with what the service key opens. */
export const createNeeds = (
  { history, shards, replays, redis, parts, now, log }: NeedsDeps,
  ofSecrets: readonly ReadNeeds[] = [],
): ReadNeeds => {
  const ofProcesses: ReadNeeds = async () => {
    const processes = await history.processes();
    const workers = processes.filter(({ part }) => part === 'workers');
    const queues = [...queuesIn(shards).map(({ queue }) => queue), replays.queue];
    const lines = await readLines(redis, queues, now());
    return [
      ...ofWorkers(workers),
      ...lines.flatMap((line) => ofQueue(line, workers.length > 0, queuePrefix(shards, 0))),
      ...processes.flatMap(ofClock),
    ];
  };
  const sources: readonly ReadNeeds[] = [
    ofProcesses,
    ...parts.flatMap(({ needs }) => needs ?? []),
    ...ofSecrets,
    async () => ofRefusals(await history.refusedByFault()),
  ];
  return async () => {
    const read = sources.map((source) =>
      source().catch((error: unknown): readonly Need[] => {
        if (isRedisAway(toError(error))) throw error;
        log.trouble(toError(error));
        return [unchecked];
      }),
    );
    return (await Promise.all(read)).flat();
  };
};
