/**
 * Keys of the configuration file that an earlier release knew, each with what to do now. A start
 * refuses a key that it does not know; for these it also says what takes their place.
 */

const passwords =
  'was removed: operators have no passwords any more. Take the key out. People log in at the OpenID provider of your organisation (operations.openidProvider), with their phone (oidcSubject), or by a link that `paraph users link <name>` prints';

/** What to do instead, by the path of the removed key. `[]` stands for any place in a list. */
const removedKeys: ReadonlyMap<string, string> = new Map([
  ['operations.users[].passwordHash', passwords],
  ['operations.logins.perNameAndAddress', passwords],
  ['operations.logins.perName', passwords],
  [
    'operations.alerts',
    'was removed: let Prometheus and its Alertmanager watch the fault rates, with the rules of ops/alerts.yml. Take the key out',
  ],
  [
    'operations.replay.automatic',
    'was removed: the service no longer replays by itself. Take the key out, and order a bulk replay by filter in the console or with `paraph replay`, which a scheduled job with a token may run, too',
  ],
]);

/** @param path The path of the key as errors spell it, with numbers in its brackets. */
export const describeUnknownKey = (path: string): string =>
  removedKeys.get(path.replace(/\[\d+\]/g, '[]')) ?? 'unknown key';
