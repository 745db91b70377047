/** Counts unexpected errors of a process. */
import { counter, type Registry } from './registry.ts';

/** The kind of an error, from its message. */
const kindOf = (error: Error): string => {
  if (error.message === 'Command timed out') return 'redis-timeout';
  if (error.message.startsWith('A stored end was not believed')) return 'not-believed';
  if (error.name === 'MaxRetriesPerRequestError') return 'redis-away';
  if ('code' in error && /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH)/.test(String(error.code)))
    return 'redis-away';
  return error.message.startsWith('Connection is closed') ? 'redis-away' : 'other';
};

export type Source = 'http' | 'worker' | 'oidc' | 'product';

/** @returns A function that counts every error. The log repeats one only every few seconds. */
export const createTroubleCounter = (
  registry: Registry,
): ((source: Source, error: Error) => void) => {
  const troubles = counter(
    registry,
    'troubles_total',
    'Unexpected errors, by source and kind (redis-timeout, redis-away, not-believed, other).',
    ['source', 'kind'],
  );
  return (source, error) => troubles.inc({ source, kind: kindOf(error) });
};
