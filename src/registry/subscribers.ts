import { createRangeIndex } from './number-ranges.ts';
import { type SubscriberRegistry, type SubscriberTemplate, subscriberList } from './subscriber.ts';
import { healthCheck, testUsers } from './test-users.ts';

/** What a number may have that only the gateway knows: the gateway chooses among them. */
const behind = (upstream: string): SubscriberTemplate['subscriber'] | undefined => {
  const sscd = { device: { kind: 'gateway' as const, upstream } };
  return subscriberList.parse([{ msisdn: '1000000', sim: sscd, apps: [sscd] }])[0]?.subscriber;
};

/**
 * The subscribers of a configuration file and, in a sandbox, the test users. A configured number
 * hides the test user of the same number, but for the health check, which is always there. Where a
 * gateway is the default, all other numbers are behind it.
 *
 * @param subscribers Must not overlap; the schema of the configuration sees to that.
 */
export const createSubscriberRegistry = ({
  subscribers,
  sandbox,
  defaultGateway,
}: {
  readonly subscribers: readonly SubscriberTemplate[];
  readonly sandbox: boolean;
  /** Name of a gateway. */
  readonly defaultGateway?: string | undefined;
}): SubscriberRegistry => {
  const findConfigured = createRangeIndex(subscribers);
  const users = new Map(sandbox ? testUsers.map((user) => [user.msisdn, user]) : []);

  const [monitored] = healthCheck;
  const others = defaultGateway === undefined ? undefined : behind(defaultGateway);

  return {
    find: (msisdn) => {
      if (msisdn === monitored?.msisdn) return monitored;
      const template = findConfigured(msisdn);
      if (template !== undefined) return { ...template.subscriber, msisdn };
      return users.get(msisdn) ?? (others && { ...others, msisdn });
    },
    isTestNumber: (msisdn) => users.has(msisdn) && findConfigured(msisdn) === undefined,
  };
};
