import { faultTable } from '../protocol/fault.ts';
import type {
  DeviceSpec,
  Location,
  SimulatedReceipt,
  SimulatedSign,
  Sscd,
  Subscriber,
} from './subscriber.ts';

/**
 * The sandbox's users: numbers that developers of applications know by heart, and the persons that the live service cannot
 * offer because a test account has no thumbs.
 *
 * A robot signs everything at once and any number of requests at a time. A simulated person has one SIM with one screen.
 *
 * Source: interface section 5.6.
 */
const robot: DeviceSpec = { kind: 'robot', thinkSeconds: 0 };

const person = (sign: SimulatedSign, receipt: SimulatedReceipt): DeviceSpec => ({
  kind: 'simulated',
  sign,
  receipt,
});

const sscd = (kind: Sscd['kind'], device: DeviceSpec, algorithm: Sscd['algorithm'] = 'EC'): Sscd => ({
  kind,
  id: kind === 'sim' ? 'sim' : 'app-0',
  state: 'ACTIVE',
  suspended: false,
  pinBlocked: false,
  algorithm,
  certificateState: 'ACTIVE',
  certificateExpired: false,
  device,
});

const inSwitzerland: Location = {
  country: 'CH',
  accuracyMeters: 105,
  deviceConfidence: 0.9,
  locationConfidence: 0.9,
  ageSeconds: 0,
};

const user = (
  msisdn: string,
  { sim, app, ...rest }: { readonly sim?: Sscd; readonly app?: Sscd } & Partial<Subscriber>,
): Subscriber => ({
  msisdn,
  language: undefined,
  apps: app === undefined ? [] : [app],
  sim,
  carrier: sim === undefined ? undefined : { mcc: '228', mnc: '01', network: 'Swisscom' },
  location: { sim: sim && inSwitzerland, app: app && inSwitzerland },
  autoActivation: false,
  recoveryCodeCreated: false,
  alwaysFaults: undefined,
  ...rest,
});

/** Somebody with a SIM who signs, and then treats the receipt in one of the ways the wire can tell apart. */
const signer = (msisdn: string, receipt: SimulatedReceipt): Subscriber =>
  user(msisdn, { sim: sscd('sim', person('signs', receipt)) });

/**
 * These have a healthy SIM: their fault must come from `alwaysFaults`, at the moment at which the workflow lets it show,
 * and not from a profile that fits nothing.
 */
const faulty = (msisdn: string, alwaysFaults: NonNullable<Subscriber['alwaysFaults']>): Subscriber =>
  user(msisdn, { sim: sscd('sim', robot), alwaysFaults });

export const testUsers: readonly Subscriber[] = [
  user('41700092501', { sim: sscd('sim', robot) }),
  user('41700092502', { sim: sscd('sim', robot, 'RSA') }),
  signer('41700092503', 'accepts'),
  signer('41700092504', 'cancels'),
  signer('41700092505', 'ignores'),
  signer('41700092506', 'never-answers'),
  user('41700092507', { sim: sscd('sim', person('never-answers', 'never-answers')) }),
  user('41700092508', { app: sscd('app', robot) }),
  user('41700092509', { sim: sscd('sim', robot), app: sscd('app', robot) }),
  user('41700092510', {
    sim: sscd('sim', robot),
    location: { sim: { errorCode: '200', errorMessage: 'No location returned' }, app: undefined },
  }),
  ...Object.keys(faultTable).map((code) => faulty(`41000092${code}`, { code: Number(code) })),
  // The health-check number: what monitoring calls, since it proves the way in without bothering a device.
  faulty('41000000000', { code: 101, detail: 'Illegal msisdn' }),
];
