/**
 * What a process has used so far, from /proc: the difference of two readings is what a round cost.
 */
import { readFileSync } from 'node:fs';

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
