/**
 * One configuration of the product that is measured for scale, and what a turn of it costs whom.
 *
 * CPU is read from the kernel's account of each process before and after, and divided by the
 * operations in between.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openShardQueues, type ShardQueues } from '../fill/shard-queues.ts';
import { usageOf } from '../harness/cpu.ts';
import { type ParaphProcess, startParaph } from '../harness/paraph.ts';
import { type BenchContext, own } from '../harness/scenario.ts';
import { median } from '../harness/statistics.ts';
import type { HttpLoader } from '../load/http-load-client.ts';
import { signTemplate } from '../load/requests.ts';
import type { Cost } from '../model.ts';

export const inFlight = 64;

export interface Setup {
  readonly label: string;
  readonly workers: number;
  readonly shards: number;
  /** The part of all transactions that the busiest Redis carries. */
  readonly busiestRedisShare: number;
}

export interface Running extends Setup {
  readonly api: ParaphProcess;
  readonly workerPids: readonly number[];
  readonly redisPids: readonly number[];
  readonly queues: ShardQueues;
  stop(): Promise<void>;
}

export const operations = ['accept', 'drain', 'synch'] as const;
export type Operation = (typeof operations)[number];
interface Measured {
  readonly perSecond: number;
  readonly cost: Cost;
  /** Cores that others did not use meanwhile. */
  readonly coresLeft: number;
}
export type Round = Readonly<Record<Operation, Measured>>;

/** @param at Where its Redis is; services of one cluster need different prefixes. */
export const startRunning = async (
  context: BenchContext,
  setup: Setup,
  at: { readonly url: string; readonly pids: readonly number[]; readonly prefix: string },
): Promise<Running> => {
  const { shards } = setup;
  // What is held back while accepting is measured is more than a service should let wait.
  const configuration = { queue: { shards, prefix: at.prefix, maxWaiting: 10_000_000 } };
  const startPart = (part: 'api' | 'worker'): Promise<ParaphProcess> =>
    own(context, startParaph({ part, redisUrl: at.url, configuration }));
  const api = await startPart('api');
  const workers = await Promise.all(
    Array.from({ length: setup.workers }, () => startPart('worker')),
  );
  const queues = await openShardQueues(at.url, { shards, prefix: at.prefix });
  context.atEnd(queues.close);
  return {
    ...setup,
    api,
    workerPids: workers.map(({ pid }) => pid),
    redisPids: at.pids,
    queues,
    stop: async () => {
      await queues.close();
      await Promise.all([api, ...workers].map((part) => part.stop()));
    },
  };
};

const cpuSecondsOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0);

/** CPU of the whole machine since its start, in hundredths of a second. */
const busySecondsOfMachine = (): number => {
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8').split(
    /\s+/,
  );
  return [user, nice, system, irq, softirq, steal].reduce(
    (sum, ticks) => sum + Number(ticks) / 100,
    0,
  );
};

/** Runs `count` operations; divides by them what each kind of process used. */
export const measure = async (
  { api, workerPids, redisPids }: Pick<Running, 'api' | 'workerPids' | 'redisPids'>,
  client: number,
  run: () => Promise<number>,
): Promise<Measured> => {
  const pids: Record<keyof Cost, readonly number[]> = {
    api: [api.pid],
    worker: workerPids,
    redis: redisPids,
    client: [client],
  };
  const kinds = Object.keys(pids) as (keyof Cost)[];
  const busyBefore = busySecondsOfMachine();
  const before = kinds.map((kind) => cpuSecondsOf(pids[kind]));
  const begin = performance.now();
  const count = await run();
  const seconds = (performance.now() - begin) / 1000;
  const used = kinds.map((kind, index) => cpuSecondsOf(pids[kind]) - (before[index] ?? 0));
  const busy = busySecondsOfMachine() - busyBefore;
  const ours = used.reduce((sum, some) => sum + some, 0);
  const costs = kinds.map((kind, index) => [kind, ((used[index] ?? 0) / count) * 1e6]);
  return {
    perSecond: count / seconds,
    cost: Object.fromEntries(costs) as Cost,
    coresLeft: availableParallelism() - Math.max(0, busy - ours) / seconds,
  };
};

export const roundOf = async (
  running: Running,
  loader: HttpLoader,
  small: boolean,
): Promise<Round> => {
  const { api, queues } = running;
  const url = `${api.url}/rest/service/sign`;
  const send = async (mode: 'synch' | 'asynch', end: { count: number } | { durationMs: number }) =>
    (await loader.run({ url, template: signTemplate({ mode }), inFlight, ...end })).count;
  const count = small ? 600 : 5000;
  const before = await queues.completed();
  await queues.pause();
  const accept = await measure(running, loader.pid, () => send('asynch', { count }));
  const drain = await measure(running, loader.pid, async () => {
    await queues.resume();
    await queues.untilCompleted(before + count);
    return count;
  });
  const synch = await measure(running, loader.pid, () =>
    send('synch', { durationMs: small ? 600 : 2500 }),
  );
  return { accept, drain, synch };
};

export const rateOf = (rounds: readonly Round[], operation: Operation): number =>
  median(rounds.map((round) => round[operation].perSecond));

export const costOf = (rounds: readonly Round[], operation: Operation): Cost => {
  const of = (kind: keyof Cost): number =>
    median(rounds.map((round) => round[operation].cost[kind]));
  return { api: of('api'), worker: of('worker'), redis: of('redis'), client: of('client') };
};
