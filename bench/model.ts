/**
 * The capacity model: what a rate of signatures takes in cores, shards and memory.
 *
 * It is a bottleneck model and knows two things only. An API, a worker and a Redis are
 * single-threaded where it matters, so none does more than one core's work; and all processes of a
 * machine share its cores. Throughput is then the least of what each kind of process, and the
 * machine as a whole, can do at the CPU that one transaction costs each of them. That CPU is
 * measured (bench/scenarios/scale.ts), and the model is held against rates that were measured
 * elsewhere.
 *
 * What it leaves out: waiting in line, the network between machines, and caches that many processes
 * on one machine take from each other. So plans are made with a utilisation well below one.
 */

/** CPU microseconds of one operation. `client` is the load, which shares the cores. */
export interface Cost {
  readonly api: number;
  readonly worker: number;
  readonly redis: number;
  readonly client: number;
}

export interface Deployment {
  /** Shared by all processes. Infinity when every process has its own. */
  readonly cores: number;
  readonly apis: number;
  readonly workers: number;
  /** The part of all transactions that the busiest Redis carries: 1 for a single one. */
  readonly busiestRedisShare: number;
}

export type Limit = 'api' | 'worker' | 'redis' | 'cores';

export interface Prediction {
  /** Operations per second. */
  readonly rate: number;
  readonly limit: Limit;
}

const freeCost: Cost = { api: 0, worker: 0, redis: 0, client: 0 };

/** The cost of several operations done for one transaction. */
export const sumOf = (...costs: readonly Cost[]): Cost =>
  costs.reduce(
    (sum, cost) => ({
      api: sum.api + cost.api,
      worker: sum.worker + cost.worker,
      redis: sum.redis + cost.redis,
      client: sum.client + cost.client,
    }),
    freeCost,
  );

export const times = (count: number, { api, worker, redis, client }: Cost): Cost => ({
  api: count * api,
  worker: count * worker,
  redis: count * redis,
  client: count * client,
});

const microsecondsPerSecond = 1_000_000;

/** A process that has nothing to do is no limit. */
const rateOf = (cores: number, microseconds: number): number =>
  microseconds === 0 ? Number.POSITIVE_INFINITY : (cores * microsecondsPerSecond) / microseconds;

/** @returns The rate at which the first part is fully used, and which part that is. */
export const predict = (
  cost: Cost,
  { cores, apis, workers, busiestRedisShare }: Deployment,
): Prediction => {
  const total = cost.api + cost.worker + cost.redis + cost.client;
  const rates: readonly (readonly [Limit, number])[] = [
    ['api', rateOf(apis, cost.api)],
    ['worker', rateOf(workers, cost.worker)],
    ['redis', rateOf(1, cost.redis * busiestRedisShare)],
    ['cores', rateOf(cores, total)],
  ];
  const [limit, rate] = rates.reduce((least, next) => (next[1] < least[1] ? next : least));
  return { rate, limit };
};

/** How far two rates are apart: 1 when they agree, 1.2 when one is a fifth above the other. */
export const errorFactor = (predicted: number, measured: number): number =>
  Math.max(predicted / measured, measured / predicted);

export interface Demand {
  readonly signaturesPerSecond: number;
  /** How busy a core may be: the rest is for bursts, fail-over and what the model leaves out. */
  readonly utilisation: number;
  readonly retainedBytes: number;
  /** The part of all transactions on the busiest Redis. See redis-cluster.ts. */
  readonly shareOfBusiestNode: (shards: number, nodes: number) => number;
}

export interface Plan {
  readonly apiCores: number;
  readonly workerCores: number;
  readonly redisNodes: number;
  readonly shards: number;
  readonly gigabytesPerHour: number;
}

const bytesPerGigabyte = 1e9;
const mostShards = 62 * 62;

/** Whole cores, and at least one: a process that does little still needs a place. */
const coresFor = (microseconds: number, { signaturesPerSecond, utilisation }: Demand): number =>
  Math.max(
    1,
    Math.ceil((signaturesPerSecond * microseconds) / (microsecondsPerSecond * utilisation)),
  );

/**
 * What a steady rate takes. Redis nodes and shards are searched for together, because shards fall
 * on nodes by their names: more shards spread more evenly, and beyond that another node helps.
 */
export const planFor = (cost: Cost, demand: Demand): Plan => {
  const { signaturesPerSecond, utilisation, retainedBytes, shareOfBusiestNode } = demand;
  const redisLoad = (signaturesPerSecond * cost.redis) / (microsecondsPerSecond * utilisation);
  const placing = (): { redisNodes: number; shards: number } => {
    for (let redisNodes = Math.max(1, Math.ceil(redisLoad)); ; redisNodes += 1) {
      for (let shards = redisNodes; shards <= Math.min(redisNodes * 8, mostShards); shards += 1) {
        if (redisLoad * shareOfBusiestNode(shards, redisNodes) <= 1) return { redisNodes, shards };
      }
    }
  };
  return {
    apiCores: coresFor(cost.api, demand),
    workerCores: coresFor(cost.worker, demand),
    ...placing(),
    gigabytesPerHour: (signaturesPerSecond * 3600 * retainedBytes) / bytesPerGigabyte,
  };
};
