/**
 * What a process has used so far, from /proc: the difference of two readings is what a round cost.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface Usage {
  /** User and system time of all threads. The kernel counts in hundredths of a second. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

const ticksPerSecond = 100;
const pageBytes = 4096;

/** @throws When the process is gone, or the system has no /proc. */
export const usageOf = (pid: number): Usage => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name, which may hold spaces: count after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    rssBytes: Number(fields[21]) * pageBytes,
  };
};

/** CPU seconds per second of each process, while nobody does anything for so long. */
export const watchCpu = async <Part extends string>(
  pids: Readonly<Record<Part, number>>,
  ms: number,
): Promise<Record<Part, number>> => {
  const names = Object.keys(pids) as Part[];
  const used = (): readonly number[] => names.map((name) => usageOf(pids[name]).cpuSeconds);
  const before = used();
  const begin = performance.now();
  await delay(ms);
  const seconds = (performance.now() - begin) / 1000;
  const shares = used().map((now, index) => (now - (before[index] ?? 0)) / seconds);
  return Object.fromEntries(names.map((name, index) => [name, shares[index]])) as Record<
    Part,
    number
  >;
};
