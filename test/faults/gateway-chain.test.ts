/**
 * Paraph behind Paraph behind Paraph, and each of the three is killed and stopped once, and the
 * Redis of the far one too: nothing is lost, and no phone is asked twice. `npm run faults --
 * --chain` does the same for longer, at moments that a seed chooses.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { runChain } from './chain.ts';
import type { Strike } from './strikes.ts';

const redis = testRedis();

/**
 * The far one is away while the middle one asks it, then two at once, then the near one, for longer
 * than a lock lasts.
 */
const strikes: readonly Strike[] = [
  { what: 'far', kind: 'kill', afterMs: 300, forMs: 200 },
  { what: 'middle', kind: 'stop', afterMs: 500, forMs: 400 },
  { what: 'middle', kind: 'kill', afterMs: 600, forMs: 100 },
  { what: 'near', kind: 'stop', afterMs: 400, forMs: 2300 },
  { what: 'far', kind: 'stop', afterMs: 800, forMs: 700 },
  { what: 'near', kind: 'kill', afterMs: 500, forMs: 0 },
  // Longer than trouble of a service has to last before it is believed.
  { what: 'redis', kind: 'stop', afterMs: 1000, forMs: 7000 },
  { what: 'redis', kind: 'refuse', afterMs: 1000, forMs: 6000 },
  { what: 'redis', kind: 'kill', afterMs: 500, forMs: 500 },
];

it('loses nothing and asks nobody twice while the near, the middle and the far one are killed and stopped', async () => {
  const { evidence, violations } = await runChain({
    dist: 'dist',
    directory: join('.cache', 'faults', 'chain-test'),
    redisUrl: redis.url,
    strikes,
    seed: 'chain',
    prefix: redis.prefix.slice(-20),
    durationMs: 3000,
    pauseMs: 60,
    modes: ['asynch', 'synch'],
  });
  expect(violations).toEqual([]);
  const acknowledged = evidence.sent.filter(({ id }) => id !== undefined);
  expect(acknowledged.filter(({ final }) => final?.kind === 'signed').length).toBeGreaterThan(10);
  expect(evidence.phones.some(({ kind }) => kind === 'shown')).toBe(true);
}, 240_000);
