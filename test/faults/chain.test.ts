/** The judge of `npm run faults -- --chain`, with evidence made by hand. */
import { describe, expect, it } from 'vitest';
import type { PhoneNote } from './browser-phones.ts';
import {
  type ChainEvidence,
  chainViolations,
  type FarTransaction,
  type Sent,
} from './checks/chain.ts';
import { createRandom } from './random.ts';
import { planStrikes } from './strikes.ts';

const signed = { kind: 'signed', signature: 'MII' } as const;
const expired = { kind: 'fault', code: 208, detail: 'Expired' } as const;
const sent: Sent = { text: 'one', isRobot: true, id: 'H01', final: signed };
const there: FarTransaction = { id: 'H02', text: 'one', final: signed };
const shown: PhoneNote = {
  phone: 'p',
  prompt: 'H02.1',
  text: 'one',
  from: 1,
  to: 2,
  kind: 'shown',
  times: 1,
};
const rulesOf = (change: Partial<ChainEvidence>) =>
  chainViolations({ sent: [sent], far: [there], phones: [], crashes: [], ...change }).map(
    (text) => text.split(':')[0],
  );

describe('a chain of services', () => {
  it('is fine when the far one has asked once and both ends say the same', () => {
    expect(rulesOf({ phones: [shown, shown, { ...shown, kind: 'signed' }] })).toEqual([]);
    const declined = { kind: 'fault', code: 401, detail: 'No' } as const;
    expect(
      rulesOf({
        sent: [{ ...sent, isRobot: false, final: declined }],
        far: [{ ...there, final: { ...declined, detail: 'Other words' } }],
      }),
    ).toEqual([]);
    // Nobody was told that it was taken in.
    expect(rulesOf({ sent: [{ text: 'one', isRobot: true }] })).toEqual([]);
    expect(rulesOf({ sent: [{ text: 'one', isRobot: true }], far: [] })).toEqual([]);
  });

  it.each([
    ['nobody is asked twice', { far: [there, { ...there, id: 'H03' }] }],
    ['a phone shows one prompt once', { phones: [shown, { ...shown, prompt: 'H03.1' }] }],
    ['a phone shows one prompt once', { phones: [{ ...shown, times: 2 }] }],
    ['what was acknowledged ends', { sent: [{ ...sent, final: undefined }] }],
    ['what was acknowledged ends', { sent: [{ ...sent, final: { kind: 'open' } as const }] }],
    ['what was acknowledged reaches the phone', { far: [] }],
    ['both ends say the same', { sent: [{ ...sent, final: expired }] }],
    ['both ends say the same', { far: [{ ...there, final: { ...signed, signature: 'MIIB' } }] }],
    [
      'what a robot is asked is signed',
      { sent: [{ ...sent, final: expired }], far: [{ ...there, final: expired }] },
    ],
    [
      'what a phone has signed is signed',
      {
        sent: [{ ...sent, isRobot: false, final: expired }],
        far: [{ ...there, final: expired }],
        phones: [{ ...shown, kind: 'signed' } as const],
      },
    ],
    ['no process ends by itself', { crashes: ['near'] }],
  ] satisfies [string, Partial<ChainEvidence>][])('breaks its promise: %s', (rule, change) => {
    expect(rulesOf(change)).toEqual([rule]);
  });

  it('is struck at each service, by kills and stops, the same for the same seed', () => {
    const plan = () => planStrikes(createRandom('7'), 30_000);
    expect(plan()).toEqual(plan());
    const kinds = new Set(plan().map(({ what, kind }) => `${what} ${kind}`));
    expect([...kinds].toSorted()).toEqual([
      'far kill',
      'far stop',
      'middle kill',
      'middle stop',
      'near kill',
      'near stop',
      'redis kill',
      'redis refuse',
      'redis stop',
    ]);
    expect(planStrikes(createRandom('8'), 30_000)).not.toEqual(plan());
  });
});
