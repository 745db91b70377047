/**
 * Makes a callback job of an event of a process, and of the end of an instance of an operator's
 * chart. A repeated event makes the same job.
 */
import { hash } from 'node:crypto';
import type { Locate } from '../../packages/engine/src/engine.ts';
import { readAddress } from '../../packages/engine/src/record.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { ownIdOf } from '../../src/workflows/contract.ts';
import {
  type EffectOf,
  type ProcessEffects,
  processName,
} from '../../src/workflows/stock-process.ts';
import type { EndOfInstance } from '../../workers/workflow.worker.ts';
import type { ProcessMessage } from './callback.machine.ts';
import { callbackJob } from './follower.ts';
import { callbacksOf } from './queue.ts';

/** Tells the end of an instance of an operator's chart, at least once. */
export type NotifyEnd = (end: EndOfInstance) => Promise<void>;

export const createProcessNotices = (options: {
  readonly shards: readonly Shard[];
  /** Finds the queue of a workflow. */
  readonly locate: Locate;
  /** The AP_IDs of applications with a callback. */
  readonly apIds: ReadonlySet<string>;
  readonly now: () => number;
  readonly tries?: number;
}): ProcessEffects & { readonly notifyEnd: NotifyEnd } => {
  const { shards, locate, apIds, now, tries = 10 } = options;

  const add = async (
    { id, address }: EffectOf,
    message: Omit<ProcessMessage, 'process' | 'at'>,
  ): Promise<void> => {
    const root = readAddress(address).id;
    const { queue } = locate(root);
    const shard = shards.find(
      ({ workflows }) => workflows.queue.qualifiedName === queue.qualifiedName,
    );
    const jobId = `process-${hash('sha256', id).slice(0, 40)}`;
    const { workflow = processName } = message;
    const data = { process: ownIdOf(root, workflow), at: now(), ...message };
    if (shard !== undefined)
      await callbacksOf(shard).queue.addBulk([callbackJob(jobId, data, tries)]);
  };

  return {
    notifyEnd: async ({ instance, createdAt, runs, name, apId, state, reason }) => {
      if (!apIds.has(apId)) return;
      const effect = { id: `end/${instance}/${createdAt}/${runs}`, address: instance };
      await add(effect, { what: 'end', apId, workflow: name, state, reason });
    },
    notify: async ({ what, apId, process, step, key, person, linkVersion, code }, effect) => {
      if (!apIds.has(apId)) return;
      const signer = what === 'unreached' ? undefined : { instance: effect.address, linkVersion };
      const about = { apId, title: process.title, step, key, name: person.name };
      await add(effect, { what, ...about, signer, code });
    },
    notifyProcess: async ({ what, apId, process, step, state, reason }, effect) => {
      if (apIds.has(apId))
        await add(effect, { what, apId, title: process.title, step, state, reason });
    },
    tell: ({ url, apId, process, failure }, effect) =>
      add(effect, {
        what: 'told',
        apId,
        title: process.title,
        url,
        step: failure?.step,
        reason: failure?.reason,
      }),
  };
};
