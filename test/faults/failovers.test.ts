/** The judge of `npm run faults -- --cluster`, with evidence made by hand. */
import { describe, expect, it } from 'vitest';
import { type Accepted, never, type Struck, violationsOf } from './checks/failovers.ts';

const good: Struck = {
  death: 'killed',
  shard: 1,
  struckAt: 10_000,
  promotedAt: 13_000,
  promotedMs: 3000,
  acknowledgedMs: 500,
  signedMs: 900,
  readinessSaid: true,
};
const signed = { kind: 'signed', signature: 'MII' } as const;
const unknown = { kind: 'fault', code: 101, detail: 'MSSP_TransID is unknown' } as const;
const accepted = (change: Partial<Accepted>): Accepted => ({
  id: 'H01',
  shard: 1,
  askedAt: 9000,
  at: 9500,
  final: signed,
  ...change,
});
const rulesOf = (
  struck: readonly Struck[],
  all: readonly Accepted[] = [],
  crashes: readonly string[] = [],
) => violationsOf(struck, all, crashes).violations.map((text) => text.split(':')[0]);

describe('a failover', () => {
  it('is fine when everything goes on and ends', () => {
    expect(rulesOf([good], [accepted({}), accepted({ at: 15_000 })])).toEqual([]);
  });

  it('may lose what was acknowledged just before, which is counted', () => {
    const { violations, lost } = violationsOf(
      [good],
      [accepted({ final: unknown }), accepted({})],
      [],
    );
    expect(violations).toEqual([]);
    expect(lost.get(good)).toBe(1);
  });

  it.each([
    ['long before', { at: 8000, final: unknown }],
    ['after the promotion', { at: 13_500, final: unknown }],
    ['in another shard', { shard: 2, final: unknown }],
    ['and that never ends', { final: { kind: 'open' } as const }],
  ])('may not lose what was acknowledged %s', (_, change) => {
    expect(rulesOf([good], [accepted(change)])).toEqual(['what was acknowledged ends']);
  });

  it.each([
    ['no replica takes over', { promotedMs: never }, 'a replica takes over'],
    [
      'requests are refused for too long',
      { acknowledgedMs: 10_001 },
      'requests are acknowledged again',
    ],
    ['workers stand still', { signedMs: never }, 'workers sign again'],
    ['readyz says nothing', { readinessSaid: false }, 'readyz says that a shard takes no writes'],
  ])('is a violation when %s', (_, change, rule) => {
    expect(rulesOf([{ ...good, ...change }])).toEqual([rule]);
  });

  it('is a violation when a process ends', () => {
    expect(rulesOf([good], [], ['worker-1'])).toEqual(['no process ends by itself']);
  });
});
