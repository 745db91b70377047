/**
 * Sees what phones are shown, as it happens.
 *
 * A worker that has put a prompt to a device says so in its log. When a SIM is asked, whatever it
 * was asked before must be over: ended, past its deadline, or replaced by a later attempt. All of
 * these are facts that stay, so they can be looked up a moment later without accusing anybody
 * falsely.
 *
 * A prompt that is put again is no second one: devices show a transaction's attempt once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { recordOf } from './evidence.ts';
import type { Operator, StoredFields } from './operator.ts';
import { personOf } from './people.ts';

export interface Asked {
  readonly at: number;
  readonly worker: string;
  readonly id: string;
  readonly attempt: number;
}

/** Two prompts on one SIM at once. */
export interface Clash {
  readonly msisdn: string;
  readonly first: Asked;
  readonly second: Asked;
}

export interface Witness {
  /** Takes a line of a worker's log. */
  hear(worker: string, line: string): void;
  readonly asked: readonly Asked[];
  readonly clashes: readonly Clash[];
  /** Resolves when all that was heard has been looked into. */
  settled(): Promise<void>;
}

/** Whether an attempt is over, from its job's hash; a job that is gone has no prompt. */
const isOver = (job: StoredFields, attempt: number, now: number): boolean => {
  if (job.data === undefined || job.finishedOn !== undefined) return true;
  const record = recordOf(job);
  if (record === undefined) return false;
  const isOpen = record.state === 'submitted' || record.state === 'pending';
  return !isOpen || record.attempt > attempt || record.deadline <= now;
};

export const createWitness = (operator: () => Operator | undefined): Witness => {
  const asked: Asked[] = [];
  const clashes: Clash[] = [];
  const shown = new Map<string, Asked[]>();
  let last: Promise<void> = Promise.resolve();

  const read = async (id: string): Promise<StoredFields> => {
    for (;;) {
      try {
        const job = await operator()?.read(id);
        if (job !== undefined) return job;
      } catch {
        // Redis is away; the facts will still be there.
      }
      await delay(100);
    }
  };

  const look = async (prompt: Asked): Promise<void> => {
    const job = await read(prompt.id);
    if (isOver(job, prompt.attempt, prompt.at)) return;
    const msisdn: string = JSON.parse(job.data ?? '{}').MSS_SignatureReq?.MobileUser?.MSISDN ?? '';
    if (!['silentSim', 'mute'].includes(personOf(msisdn) ?? '')) return;
    const before = shown.get(msisdn) ?? [];
    const open: Asked[] = [];
    for (const other of before) {
      if (other.id === prompt.id) continue;
      if (isOver(await read(other.id), other.attempt, prompt.at)) continue;
      open.push(other);
      clashes.push({ msisdn, first: other, second: prompt });
    }
    shown.set(msisdn, [...open, prompt]);
  };

  return {
    asked,
    clashes,
    hear: (worker, line) => {
      if (!line.includes('"device asked"')) return;
      const { msspTransId, attempt } = JSON.parse(line);
      const prompt = { at: Date.now(), worker, id: msspTransId, attempt };
      asked.push(prompt);
      if (/-receipt$/.test(msspTransId)) return;
      last = last.then(() => look(prompt));
    },
    settled: () => last,
  };
};
