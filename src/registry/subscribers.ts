import { createRangeIndex } from './number-ranges.ts';
import type { SubscriberRegistry, SubscriberTemplate } from './subscriber.ts';
import { healthCheck, testUsers } from './test-users.ts';

/**
 * The subscribers of a configuration file and, in a sandbox, the test users. A configured number
 * hides the test user of the same number, but for the health check, which is always there.
 *
 * @param subscribers Must not overlap; the schema of the configuration sees to that.
 */
export const createSubscriberRegistry = ({
  subscribers,
  sandbox,
}: {
  readonly subscribers: readonly SubscriberTemplate[];
  readonly sandbox: boolean;
}): SubscriberRegistry => {
  const findConfigured = createRangeIndex(subscribers);
  const users = new Map(sandbox ? testUsers.map((user) => [user.msisdn, user]) : []);

  const [monitored] = healthCheck;

  return {
    find: (msisdn) => {
      if (msisdn === monitored?.msisdn) return monitored;
      const template = findConfigured(msisdn);
      return template === undefined ? users.get(msisdn) : { ...template.subscriber, msisdn };
    },
    isTestNumber: (msisdn) => users.has(msisdn) && findConfigured(msisdn) === undefined,
  };
};
