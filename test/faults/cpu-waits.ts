/**
 * When the machine gave a process no time. Linux counts for how long a thread was ready to run and
 * had to wait for a core (`/proc/<pid>/schedstat`), so a process that is busy itself, or stopped,
 * is not mistaken for one that has to wait. Elsewhere nothing is noted.
 */
import { readFileSync } from 'node:fs';

export interface Waited {
  readonly process: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

const lookEveryMs = 1000;
/** Of the time between two looks. An idle process on a busy machine waits for less. */
const starvedShare = 0.4;

/** Of the main thread. Undefined where there is no such process, or no such file. */
const waitedMs = (pid: number): number | undefined => {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return undefined;
  }
};

/** One that follows the last without a pause is one with it. */
const addWait = (waits: Waited[], next: Waited): void => {
  const last = waits.at(-1);
  if (last !== undefined && last.process === next.process && next.from <= last.to)
    waits[waits.length - 1] = { ...last, to: next.to };
  else waits.push(next);
};

export const watchWaits = (
  processes: () => readonly { readonly name: string; pid(): number | undefined }[],
) => {
  const waits = new Map<string, Waited[]>();
  const last = new Map<number, { readonly at: number; readonly ms: number }>();
  const look = (): void => {
    for (const { name, pid: pidOf } of processes()) {
      const pid = pidOf();
      const ms = pid === undefined ? undefined : waitedMs(pid);
      if (pid === undefined || ms === undefined) continue;
      const at = Date.now();
      const before = last.get(pid);
      last.set(pid, { at, ms });
      if (before === undefined || ms - before.ms < starvedShare * (at - before.at)) continue;
      const own = waits.get(name) ?? [];
      waits.set(name, own);
      addWait(own, { process: name, from: before.at, to: at });
    }
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    waits: (): readonly Waited[] => [...waits.values()].flat(),
    stop: (): void => clearInterval(timer),
  };
};
