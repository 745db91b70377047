/**
 * Makes a callback job of what happens in a process. An effect that is carried out again makes the
 * same job.
 */
import { hash } from 'node:crypto';
import type { ProcessMessage } from '../../machines/callback.machine.ts';
import type { Locate } from '../engine/engine.ts';
import type { Shard } from '../transactions/shards.ts';
import { ownIdOf, rootOf } from '../workflows/contract.ts';
import { type EffectOf, type ProcessEffects, processName } from '../workflows/stock-process.ts';
import { callbackJob } from './follower.ts';

export const createProcessNotices = (options: {
  readonly shards: readonly Shard[];
  /** Where workflows are. */
  readonly locate: Locate;
  /** Applications with a callback. */
  readonly apIds: ReadonlySet<string>;
  /** To the page of a signer. Undefined without such pages. */
  readonly linkTo?: ((signer: string, linkVersion: number) => string) | undefined;
  readonly now: () => number;
  readonly tries?: number;
}): ProcessEffects => {
  const { shards, locate, apIds, linkTo, now, tries = 10 } = options;

  const add = async (
    { id, instance }: EffectOf,
    message: Omit<ProcessMessage, 'process' | 'at'>,
  ): Promise<void> => {
    const root = rootOf(instance);
    const { queue } = locate(root);
    const shard = shards.find(({ workflows }) => workflows.queue.qualifiedName === queue.qualifiedName);
    const jobId = `process-${hash('sha256', id).slice(0, 40)}`;
    const data = { process: ownIdOf(root, processName), at: now(), ...message };
    await shard?.callbacks.queue.addBulk([callbackJob(jobId, data, tries)]);
  };

  return {
    notify: async ({ what, apId, process, step, key, person, linkVersion, code }, effect) => {
      if (!apIds.has(apId)) return;
      const link = what === 'unreached' ? undefined : linkTo?.(effect.instance, linkVersion);
      const about = { apId, title: process.title, step, key, name: person.name };
      await add(effect, { what, ...about, link, code });
    },
    notifyProcess: async ({ what, apId, process, step, state, reason }, effect) => {
      if (apIds.has(apId)) await add(effect, { what, apId, title: process.title, step, state, reason });
    },
    tell: ({ url, apId, process, failure }, effect) =>
      add(effect, {
        ...{ what: 'told', apId, title: process.title, url },
        ...{ step: failure?.step, reason: failure?.reason },
      }),
  };
};
