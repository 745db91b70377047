import type { z } from 'zod';
import { faultTable } from '../protocol/fault.ts';
import { type SimulatedPerson, type Subscriber, subscriberList } from './subscriber.ts';

/**
 * The sandbox's users: numbers that developers of applications know by heart, and the persons that the live service cannot
 * offer because a test account has no thumbs.
 *
 * A robot signs everything at once and any number of requests at a time. A simulated person has one SIM with one screen.
 *
 * Source: interface section 5.6.
 */
type Entry = z.input<typeof subscriberList>[number];

const inSwitzerland = { kind: 'fix', country: 'CH', accuracyMeters: 105 } as const;

/** A robot with a SIM, where nothing else is said. */
const user = (msisdn: string, own: Partial<Entry> = {}): Entry => ({
  msisdn,
  sim: {},
  carrier: { mcc: '228', mnc: '01', network: 'Swisscom' },
  location: { sim: inSwitzerland },
  ...own,
});

/** A person with a SIM who signs, or does not, and then treats the receipt in one of the ways the wire can tell apart. */
const person = (msisdn: string, sign: SimulatedPerson['sign'], receipt: SimulatedPerson['receipt']): Entry =>
  user(msisdn, { sim: { device: { kind: 'simulated', sign, receipt } } });

const signers: readonly Subscriber[] = subscriberList
  .parse([
    user('41700092501'),
    user('41700092502', { sim: { certificate: { algorithm: 'RSA' } } }),
    person('41700092503', 'signs', 'accepts'),
    person('41700092504', 'signs', 'cancels'),
    person('41700092505', 'signs', 'ignores'),
    person('41700092506', 'signs', 'never-answers'),
    person('41700092507', 'never-answers', 'never-answers'),
    { msisdn: '41700092508', apps: [{}], location: { app: inSwitzerland } },
    user('41700092509', { apps: [{}], location: { sim: inSwitzerland, app: inSwitzerland } }),
    user('41700092510', {
      location: { sim: { kind: 'error', errorCode: '200', errorMessage: 'No location returned' } },
    }),
  ])
  .map(({ first, subscriber }) => ({ ...subscriber, msisdn: first }));

/**
 * These are like the first robot: their fault must come from `alwaysFaults`, at the moment at which the workflow lets it
 * show, and not from a profile that fits nothing.
 */
const faulty = (msisdn: string, alwaysFaults: NonNullable<Subscriber['alwaysFaults']>): Subscriber[] =>
  signers.slice(0, 1).map((robot) => ({ ...robot, msisdn, alwaysFaults }));

export const testUsers: readonly Subscriber[] = [
  ...signers,
  ...Object.keys(faultTable).flatMap((code) => faulty(`41000092${code}`, { code: Number(code) })),
  // The health-check number: what monitoring calls, since it proves the way in without bothering a device.
  ...faulty('41000000000', { code: 101, detail: 'Illegal msisdn' }),
];
