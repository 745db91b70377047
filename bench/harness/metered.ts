/** Rounds of requests together with what they cost the process that answers them. */
import { usageOf } from './cpu.ts';
import { median } from './statistics.ts';

export const withCpu = async <T extends { readonly count: number }>(
  pid: number,
  run: () => Promise<T>,
): Promise<T & { readonly cpuMicros: number }> => {
  const before = usageOf(pid).cpuSeconds;
  const result = await run();
  return { ...result, cpuMicros: ((usageOf(pid).cpuSeconds - before) / result.count) * 1e6 };
};

interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
}

/** Medians: per second, p50, p99, and CPU for each request. */
export const roundsRow = (label: string, rounds: readonly Round[]): (string | number)[] => [
  label,
  median(rounds.map(({ perSecond }) => perSecond)),
  median(rounds.map(({ p50Ms }) => p50Ms)),
  median(rounds.map(({ p99Ms }) => p99Ms)),
  median(rounds.map(({ cpuMicros }) => cpuMicros)),
];
