import type { z } from 'zod';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { type SimulatedPerson, type Subscriber, subscriberList } from './subscriber.ts';

/**
 * The users of the sandbox. A robot signs everything at once, any number of requests at a time. A
 * simulated person has one SIM with one screen. Source: interface section 5.6.
 */
type Entry = z.input<ReturnType<typeof subscriberList>>[number];

const inSwitzerland = { kind: 'fix', country: 'CH', accuracyMeters: 105 } as const;

/** A robot with a SIM by default. */
const user = (msisdn: string, own: Partial<Entry> = {}): Entry => ({
  msisdn,
  sim: {},
  carrier: { mcc: '228', mnc: '01', network: 'Swisscom' },
  location: { sim: inSwitzerland },
  ...own,
});

/** A person with a SIM, given the reactions to signature requests and to receipts. */
const person = (
  msisdn: string,
  sign: SimulatedPerson['sign'],
  receipt: SimulatedPerson['receipt'],
): Entry => user(msisdn, { sim: { device: { kind: 'simulated', sign, receipt } } });

const signers: readonly Subscriber[] = subscriberList()
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

/** A robot that always faults. The fault comes from `alwaysFaults`, when the workflow asks. */
const faulty = (
  msisdn: string,
  alwaysFaults: NonNullable<Subscriber['alwaysFaults']>,
): Subscriber[] => signers.slice(0, 1).map((robot) => ({ ...robot, msisdn, alwaysFaults }));

/** The number for monitoring, also outside of a sandbox. It reaches no device. */
export const healthCheck = faulty('41000000000', { code: 101, detail: 'Illegal msisdn' });

/** Details by code, where the public table of test numbers differs from the fault table. */
const details: Readonly<Partial<Record<string, string>>> = {
  208: 'Transaction Expiry date has been reached or Time out has lapsed.',
};

export const testUsers: readonly Subscriber[] = [
  ...signers,
  ...Object.keys(faultTable).flatMap((code) => {
    const detail = details[code];
    return faulty(`41000092${code}`, {
      code: Number(code),
      ...(detail !== undefined && { detail }),
    });
  }),
  ...healthCheck,
];
