/**
 * Subscribers with phones: numbers that were invited, and numbers of the configuration with an App
 * of the kind `phone`. Their phones lie in Redis, so that an enrolment counts in all processes at
 * once. All other numbers of the configuration are found without Redis.
 */
import type { SubscriberRooms } from '../../src/part/rooms.ts';
import type {
  CompleteSubscriber,
  ConfiguredSubscribers,
  Sscd,
  Subscriber,
} from '../../src/registry/subscriber.ts';
import { isPhone, type PhoneShapes } from './configuration.ts';
import { createPhones, type PhoneNumber } from './phones.ts';

/** The number of the sandbox for which everybody may enrol a phone. Digits without plus. */
export const sandboxPhoneNumber = '41700092600';

/** The device of a number for which no phone is enrolled yet. */
const plainApp: Sscd = {
  kind: 'app',
  id: 'app-0',
  state: 'ACTIVE',
  suspended: false,
  pinBlocked: false,
  algorithm: 'EC',
  certificateState: 'ACTIVE',
  certificateExpired: false,
  device: { kind: 'phone' },
};

/**
 * All phones of a number are one SSCD: it is blocked, over, or revoked when all of them are.
 *
 * @param good Those of the phones whose certificate is not revoked.
 */
const appOf = (
  app: Sscd,
  phones: PhoneNumber['phones'],
  good: PhoneNumber['phones'],
  now: number,
): Sscd => {
  if (phones.length === 0)
    return { ...app, state: app.state === 'ACTIVE' ? 'REGISTERED' : app.state, certificates: [] };
  return {
    ...app,
    pinBlocked: app.pinBlocked || phones.every(({ isBlocked }) => isBlocked),
    certificateExpired:
      app.certificateExpired || phones.every(({ certificateEndsAt }) => certificateEndsAt <= now),
    certificateState: good.length === 0 ? 'INACTIVE' : app.certificateState,
    certificates: (good.length === 0 ? phones : good).map(({ chain }) => chain),
  };
};

const plainSubscriber = (msisdn: string, language: string | undefined): Subscriber => ({
  msisdn,
  language,
  sim: undefined,
  apps: [plainApp],
  carrier: undefined,
  location: {},
  autoActivation: false,
  recoveryCodeCreated: false,
});

/** Whether a phone can be enrolled for the number. */
export const mayHavePhone = (
  configured: Pick<ConfiguredSubscribers, 'find'>,
  msisdn: string,
): boolean => {
  const known = configured.find(msisdn);
  return known === undefined || known.apps.some(isPhone);
};

export const openPhoneSubscribers = ({
  settings: { sandbox, phone },
  now,
  revocationOf,
  ...common
}: SubscriberRooms<PhoneShapes>): CompleteSubscriber => {
  const phones = createPhones({ ...common, pinTries: phone.pinTries });
  const withPhones = async (
    msisdn: string,
    known: Subscriber | undefined,
  ): Promise<Subscriber | undefined> => {
    if (!/^\d{1,15}$/.test(msisdn)) return known;
    const number = await phones.read(msisdn);
    const isOpen = sandbox && msisdn === sandboxPhoneNumber;
    if (known === undefined && number === undefined && !isOpen) return undefined;
    const subscriber = known ?? plainSubscriber(msisdn, number?.language);
    const enrolled = number?.phones ?? [];
    const standings = await Promise.all(enrolled.map(({ serial }) => revocationOf(serial)));
    const good = enrolled.filter((_, index) => standings[index] === undefined);
    return {
      ...subscriber,
      language: subscriber.language ?? number?.language ?? enrolled.at(-1)?.language,
      apps: subscriber.apps.map((app) => (isPhone(app) ? appOf(app, enrolled, good, now()) : app)),
      recoveryCodeCreated:
        subscriber.recoveryCodeCreated || enrolled.some(({ gate: { kind } }) => kind === 'pin'),
    };
  };
  return (msisdn, known) =>
    known !== undefined && !known.apps.some(isPhone) ? known : withPhones(msisdn, known);
};
