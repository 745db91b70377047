/**
 * What some processes and their children have used: PostgreSQL is a process for each connection.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { usageOf } from '../harness/cpu.ts';

const parentOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

/** Undefined for what ends while it is looked at. */
const ifThere = <T>(look: () => T): T | undefined => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

/** User and system time in seconds. Of children that have ended nothing is known. */
export const familyCpuSeconds = (pids: readonly number[]): number =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pids.includes(pid) || pids.includes(ifThere(() => parentOf(pid)) ?? 0))
    .reduce((sum, pid) => sum + (ifThere(() => usageOf(pid).cpuSeconds) ?? 0), 0);
