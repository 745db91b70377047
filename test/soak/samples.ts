/** What is watched during a soak, and whether it stays flat. */
import { readdirSync } from 'node:fs';
import { usageOf } from '../../bench/harness/cpu.ts';
import type { BenchRedis } from '../../bench/harness/redis.ts';

export const quantities = {
  apiMemory: {
    label: 'API memory',
    unit: 'bytes',
    atMost: 0.1,
    orBy: 16_000_000,
    isCollected: true,
  },
  workerMemory: {
    label: 'worker memory',
    unit: 'bytes',
    atMost: 0.1,
    orBy: 16_000_000,
    isCollected: true,
  },
  apiHandles: { label: 'API handles', unit: 'handles', atMost: 0.05, orBy: 10 },
  workerHandles: { label: 'worker handles', unit: 'handles', atMost: 0.05, orBy: 10 },
  redisMemory: { label: 'Redis memory', unit: 'bytes', atMost: 0.1, orBy: 4_000_000 },
  redisKeys: { label: 'Redis keys', unit: 'keys', atMost: 0.1, orBy: 500 },
  redisClients: { label: 'Redis clients', unit: 'clients', atMost: 0.05, orBy: 2 },
} as const satisfies Record<string, Bounds>;

interface Bounds {
  readonly label: string;
  readonly unit: string;
  /** Allowed growth over the second half, as a share of the mean … */
  readonly atMost: number;
  /** … or as an amount, whichever is more: short runs are noisy. */
  readonly orBy: number;
  /**
   * It goes up until a garbage collection, and then falls. A leak shows in what collections leave,
   * so the least sample of each fifth of the half counts.
   */
  readonly isCollected?: boolean;
}

export type Quantity = keyof typeof quantities;
export const quantityNames = Object.keys(quantities) as Quantity[];

export type Sample = { readonly atSeconds: number } & { readonly [Name in Quantity]: number };

const handlesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** @throws When a process is gone, or the system has no /proc. */
export const takeSample = async (
  redis: BenchRedis,
  pids: { readonly api: number; readonly worker: number },
  atSeconds: number,
): Promise<Sample> => {
  const [{ usedMemoryBytes, all }, redisKeys] = await Promise.all([
    redis.info(),
    redis.client.dbsize(),
  ]);
  return {
    atSeconds,
    apiMemory: usageOf(pids.api).rssBytes,
    workerMemory: usageOf(pids.worker).rssBytes,
    apiHandles: handlesOf(pids.api),
    workerHandles: handlesOf(pids.worker),
    redisMemory: usedMemoryBytes,
    redisKeys,
    redisClients: Number(all.connected_clients),
  };
};

export interface Course {
  readonly quantity: Quantity;
  readonly mean: number;
  /** By the line of least squares through what counts of the second half, over its length. */
  readonly growth: number;
  readonly allowed: number;
  readonly flat: boolean;
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Least squares. @returns The slope in units of y for each unit of x; 0 for a single point. */
export const slopeOf = (points: readonly { readonly x: number; readonly y: number }[]): number => {
  const meanX = meanOf(points.map(({ x }) => x));
  const meanY = meanOf(points.map(({ y }) => y));
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (spread === 0) return 0;
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
};

/** The first half is for caches to fill and for retention to begin to bite. */
export const secondHalf = (samples: readonly Sample[]): readonly Sample[] => {
  const end = samples.at(-1)?.atSeconds ?? 0;
  return samples.filter(({ atSeconds }) => atSeconds >= end / 2);
};

const leastOfFifths = (half: readonly Sample[], quantity: Quantity): readonly Sample[] =>
  Array.from({ length: 5 }, (_, fifth) =>
    half
      .slice((fifth * half.length) / 5, ((fifth + 1) * half.length) / 5)
      .reduce((least, sample) => (sample[quantity] < least[quantity] ? sample : least)),
  );

/** @throws RangeError When there are too few samples to tell. */
export const courseOf = (samples: readonly Sample[], quantity: Quantity): Course => {
  const half = secondHalf(samples);
  const [first] = half;
  const last = half.at(-1);
  if (first === undefined || last === undefined || half.length < 5)
    throw new RangeError('Too few samples');
  const mean = meanOf(half.map((sample) => sample[quantity]));
  const { atMost, orBy, isCollected }: Bounds = quantities[quantity];
  const counted = isCollected ? leastOfFifths(half, quantity) : half;
  const slope = slopeOf(counted.map((sample) => ({ x: sample.atSeconds, y: sample[quantity] })));
  const growth = slope * (last.atSeconds - first.atSeconds);
  const allowed = Math.max(mean * atMost, orBy);
  // Shrinking is no leak.
  return { quantity, mean, growth, allowed, flat: growth <= allowed };
};
