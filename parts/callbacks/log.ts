/**
 * Logs and counts callbacks. The numbers of dead and waiting ones are read from the queue
 * (telemetry/queue-metrics.ts).
 */
import type { EventLog } from '../../src/telemetry/logger.ts';
import { counter, type Registry } from '../../src/telemetry/registry.ts';
import type { CallbackLog } from './callback.worker.ts';

/**
 * Failed tries after which a callback counts as failing. With the usual pauses that takes twelve
 * minutes, so the receiver has an error, and not only one request. The last try comes 17 hours
 * later.
 */
const failingTries = 5;

export const createCallbackCounter = (registry: Registry): CallbackLog => {
  const tries = counter(
    registry,
    'callbacks_total',
    'Tries to deliver a callback: delivered, undelivered (is tried again), failing (the same from the fifth try on), dead (was the last).',
    ['outcome'],
  );
  // Begin at 0, so that the first dead callback is an increase.
  for (const outcome of ['delivered', 'undelivered', 'failing', 'dead']) tries.inc({ outcome }, 0);
  return {
    delivered: () => tries.inc({ outcome: 'delivered' }),
    undelivered: (_, made) =>
      tries.inc({ outcome: made < failingTries ? 'undelivered' : 'failing' }),
    gaveUp: () => tries.inc({ outcome: 'dead' }),
  };
};

/** Makes the log. It names callbacks by id, because an address may hold a secret. */
export const createCallbackLog = (log: EventLog): CallbackLog => ({
  delivered: (callback, tries, status) =>
    log.info({ callback, tries, status }, 'callback delivered'),
  undelivered: (callback, tries, problem) =>
    log.warn({ callback, tries, problem }, 'callback not delivered, trying again'),
  gaveUp: (callback, tries, problem) =>
    log.error({ callback, tries, problem }, 'callback given up'),
});
