/** Rounds of requests together with what they cost the processes that take part. */
import { usageOf } from './cpu.ts';
import { medians } from './statistics.ts';

/** @returns The result, and under each name the CPU microseconds of that process each. */
export const withCpu = async <T extends { readonly count: number }, Name extends string>(
  pids: Readonly<Record<Name, number>>,
  run: () => Promise<T>,
): Promise<T & Readonly<Record<Name, number>>> => {
  const names = Object.keys(pids) as Name[];
  const before = names.map((name) => usageOf(pids[name]).cpuSeconds);
  const result = await run();
  const micros = names.map((name, index) => [
    name,
    ((usageOf(pids[name]).cpuSeconds - (before[index] ?? 0)) / result.count) * 1e6,
  ]);
  return { ...result, ...(Object.fromEntries(micros) as Record<Name, number>) };
};

type Measured = Readonly<Record<'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros', number>>;

/** Medians: per second, p50, p99, and CPU for each request. */
export const roundsRow = (label: string, rounds: readonly Measured[]): (string | number)[] => [
  label,
  ...medians(rounds, 'perSecond', 'p50Ms', 'p99Ms', 'cpuMicros'),
];
