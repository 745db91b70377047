/** Callbacks, as the workers tell of their tries. How many are dead or wait is not counted but looked up (queue-metrics.ts). */
import { Counter, type Registry } from 'prom-client';
import type { CallbackLog } from '../../workers/callback.worker.ts';
import { prefix } from './registry.ts';

/** @returns A log that counts what it is told, and tells it to the inner one. */
export const createCallbackMetrics = (registry: Registry): ((inner: CallbackLog) => CallbackLog) => {
  const tries = new Counter({
    name: `${prefix}callbacks_total`,
    help: 'Tries to deliver a callback: delivered, undelivered (it is tried again), dead (it was the last one).',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const count = (outcome: 'delivered' | 'undelivered' | 'dead', by = 1): void => tries.inc({ outcome }, by);
  // A first one that dies would otherwise be no increase.
  for (const outcome of ['delivered', 'undelivered', 'dead'] as const) count(outcome, 0);
  return (inner) => ({
    delivered: (...told) => {
      count('delivered');
      inner.delivered(...told);
    },
    undelivered: (...told) => {
      count('undelivered');
      inner.undelivered(...told);
    },
    gaveUp: (...told) => {
      count('dead');
      inner.gaveUp(...told);
    },
  });
};
