/**
 * What should not happen, counted before the log makes it quiet: the same trouble is only written every few seconds.
 */
import { Counter, type Registry } from 'prom-client';
import { prefix } from './registry.ts';

/** By what the error says of itself: Redis silent, Redis away, an end that nobody of us wrote, or anything else. */
const kindOf = (error: Error): string => {
  if (error.message === 'Command timed out') return 'redis-timeout';
  if (error.message.startsWith('A stored end was not believed')) return 'not-believed';
  if (error.name === 'MaxRetriesPerRequestError') return 'redis-away';
  if ('code' in error && /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH)/.test(String(error.code)))
    return 'redis-away';
  return error.message.startsWith('Connection is closed') ? 'redis-away' : 'other';
};

export type Source = 'http' | 'worker' | 'oidc' | 'product';

export interface Troubles {
  counting(source: Source, inner: (error: Error) => void): (error: Error) => void;
}

export const createTroubles = (registry: Registry): Troubles => {
  const troubles = new Counter({
    name: `${prefix}troubles_total`,
    help: 'Errors that nobody expects, by where they surfaced and by kind (redis-timeout, redis-away, not-believed, other).',
    labelNames: ['source', 'kind'] as const,
    registers: [registry],
  });
  return {
    counting: (source, inner) => (error) => {
      troubles.inc({ source, kind: kindOf(error) });
      inner(error);
    },
  };
};
