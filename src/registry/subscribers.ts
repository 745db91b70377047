import { createRangeIndex } from './number-ranges.ts';
import type {
  CompleteSubscriber,
  ConfiguredSubscribers,
  Sscd,
  Subscriber,
  SubscriberRegistry,
  SubscriberTemplate,
} from './subscriber.ts';
import { healthCheck, testUsers } from './test-users.ts';

/**
 * The subscribers of the configuration with what parts keep of numbers.
 *
 * @param findElsewhere Finds a number that is not known here at another service.
 */
export const withParts = (
  configured: ConfiguredSubscribers,
  completes: readonly CompleteSubscriber[],
  findElsewhere: (msisdn: string) => Subscriber | undefined,
): SubscriberRegistry => ({
  isTestNumber: configured.isTestNumber,
  find: (msisdn) => {
    const orElsewhere = (found: Subscriber | undefined): Subscriber | undefined =>
      found ?? findElsewhere(msisdn);
    let found: ReturnType<CompleteSubscriber> = configured.find(msisdn);
    for (const complete of completes) {
      found =
        found instanceof Promise
          ? found.then((known) => complete(msisdn, known))
          : complete(msisdn, found);
    }
    return found instanceof Promise ? found.then(orElsewhere) : orElsewhere(found);
  },
});

/**
 * The same subscribers, but a device whose certificate is revoked has one that is not active.
 *
 * @param isRevoked Asks the key custody.
 */
export const withCertificateStates = (
  registry: SubscriberRegistry,
  isRevoked: (
    owner: Pick<Subscriber, 'msisdn'> & Pick<Sscd, 'algorithm'> & { sscdId: string },
  ) => boolean,
): SubscriberRegistry => {
  const withStates = (subscriber: Subscriber | undefined): Subscriber | undefined => {
    if (subscriber === undefined) return undefined;
    const { msisdn, sim, apps } = subscriber;
    const isGone = ({ id, algorithm }: Sscd): boolean =>
      isRevoked({ msisdn, sscdId: id, algorithm });
    if (!(sim !== undefined && isGone(sim)) && !apps.some(isGone)) return subscriber;
    const seen = (sscd: Sscd): Sscd =>
      isGone(sscd) ? { ...sscd, certificateState: 'INACTIVE' } : sscd;
    return { ...subscriber, sim: sim && seen(sim), apps: apps.map(seen) };
  };
  return {
    ...registry,
    find: (msisdn) => {
      const found = registry.find(msisdn);
      return found instanceof Promise ? found.then(withStates) : withStates(found);
    },
  };
};

/**
 * The subscribers of a configuration file and, in a sandbox, the test users. A configured number
 * hides the test user of the same number, except the health check, which always exists.
 *
 * @param subscribers Must not overlap; the schema of the configuration checks that.
 */
export const createSubscriberRegistry = ({
  subscribers,
  sandbox,
}: {
  readonly subscribers: readonly SubscriberTemplate[];
  readonly sandbox: boolean;
}): ConfiguredSubscribers => {
  const findConfigured = createRangeIndex(subscribers);
  const users = new Map(sandbox ? testUsers.map((user) => [user.msisdn, user]) : []);

  const [monitored] = healthCheck;
  const find = (msisdn: string): Subscriber | undefined => {
    if (msisdn === monitored?.msisdn) return monitored;
    const template = findConfigured(msisdn);
    return template === undefined ? users.get(msisdn) : { ...template.subscriber, msisdn };
  };

  return {
    find,
    isTestNumber: (msisdn) => users.has(msisdn) && findConfigured(msisdn) === undefined,
  };
};
