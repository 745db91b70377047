import { createRangeIndex, findOverlaps, type NumberRange } from './number-ranges.ts';
import type { Subscriber, SubscriberRegistry } from './subscriber.ts';
import { testUsers } from './test-users.ts';

/**
 * The subscribers of a configuration file and, in a sandbox, the test users.
 *
 * A configured number hides the test user of the same number, so that a sandbox can give it another behaviour; between
 * two configured ones there is no such order, and an overlap is an error when the file is read.
 */
export interface SubscriberTemplate extends NumberRange {
  /** What every number of the range gets; its own `msisdn` is replaced by the number that was looked up. */
  readonly subscriber: Omit<Subscriber, 'msisdn'>;
}

/** @throws RangeError when two templates overlap, which the configuration's schema refuses before it comes here. */
export const createSubscriberRegistry = ({
  subscribers,
  sandbox,
}: {
  readonly subscribers: readonly SubscriberTemplate[];
  readonly sandbox: boolean;
}): SubscriberRegistry => {
  const [overlap] = findOverlaps(subscribers);
  if (overlap !== undefined) throw new RangeError(`subscribers ${overlap.indexes.join(' and ')} overlap`);
  const findConfigured = createRangeIndex(subscribers);
  const users = new Map(sandbox ? testUsers.map((user) => [user.msisdn, user]) : []);

  return {
    find: (msisdn) => {
      const template = findConfigured(msisdn);
      return template === undefined ? users.get(msisdn) : { ...template.subscriber, msisdn };
    },
    isTestNumber: (msisdn) => users.has(msisdn) && findConfigured(msisdn) === undefined,
  };
};
