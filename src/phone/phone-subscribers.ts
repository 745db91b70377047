/**
 * Subscribers with phones: numbers that were invited, and numbers of the configuration with an App
 * of the kind `phone`. Their phones lie in Redis, so that an enrolment counts in all processes at
 * once. All other numbers of the configuration are found without Redis. Where another
 * service takes all other numbers, a number that is neither is there.
 */
import type {
  ConfiguredSubscribers,
  Sscd,
  Subscriber,
  SubscriberRegistry,
} from '../registry/subscriber.ts';
import type { PhoneNumber, Phones } from './phones.ts';

/** Of the sandbox: everybody may enrol a phone for it. Without a plus. */
export const sandboxPhoneNumber = '41700092600';

const isPhone = ({ device: { kind } }: Pick<Sscd, 'device'>): boolean => kind === 'phone';

/** Before anybody has enrolled. */
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

export const createPhoneSubscribers = ({
  configured,
  phones,
  sandbox,
  findElsewhere,
  revocationOf,
  now,
}: {
  readonly configured: ConfiguredSubscribers;
  readonly phones: Pick<Phones, 'read'>;
  readonly sandbox: boolean;
  /** A number at another service. */
  readonly findElsewhere: (msisdn: string) => Subscriber | undefined;
  /** Of a certificate, by its serial number; of the key custody. */
  readonly revocationOf: (serial: string) => Promise<unknown>;
  readonly now: () => number;
}): SubscriberRegistry => {
  const withPhones = async (
    msisdn: string,
    known: Subscriber | undefined,
  ): Promise<Subscriber | undefined> => {
    if (!/^\d{1,15}$/.test(msisdn)) return known ?? findElsewhere(msisdn);
    const number = await phones.read(msisdn);
    const isOpen = sandbox && msisdn === sandboxPhoneNumber;
    if (known === undefined && number === undefined && !isOpen) return findElsewhere(msisdn);
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
  return {
    isTestNumber: configured.isTestNumber,
    find: (msisdn) => {
      const known = configured.find(msisdn);
      return known !== undefined && !known.apps.some(isPhone) ? known : withPhones(msisdn, known);
    },
  };
};
