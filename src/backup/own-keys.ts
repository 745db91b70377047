/** Which keys of a Redis are those of one service. docs/storage.md lists them, and a test compares. */

/** What stands behind `<prefix>-` between braces, beside the number of a shard. */
const ownSlots = ['replays', 'callbacks', 'processes', 'refused'];
/** What stands behind `{<prefix>}:`. It is no name in a shard: the prefix of another service may end with a number. */
const ownRooms = ['audit', 'operators'];

/** @param prefix `queue.prefix`: letters, digits, `_`, `.` and `-`. */
export const createOwns = (prefix: string): ((key: string) => boolean) => {
  const name = prefix.replaceAll('.', '\\.');
  const rooms = ownRooms.join('|');
  const pattern = new RegExp(
    `^(?:${name}:|\\{${name}-(?:${ownSlots.join('|')})\\}|\\{${name}\\}:(?:${rooms})\\b|\\{${name}-\\d+\\}:(?!(?:${rooms})\\b))`,
  );
  return (key) => pattern.test(key);
};

/** What a backup holds: all but which processes run, because that says nothing after a restore. */
export const createKeeps = (prefix: string): ((key: string) => boolean) => {
  const owns = createOwns(prefix);
  return (key) => key !== `{${prefix}-processes}` && owns(key);
};

/** Every key of the service begins with one of these; keys of another service may, too. */
export const beginningsOf = (prefix: string): readonly string[] => [`{${prefix}`, `${prefix}:`];

/** The version of the store, or {@link restoring}. */
export const storeKeyOf = (prefix: string): string => `${prefix}:store`;

/** In place of the version, until all keys of a backup are there. No process starts on it. */
export const restoring = 'restoring';

/** Keys of the key custody begin so. */
export const custodyBeginning = (prefix: string): string => `${prefix}:custody:`;

/** The audit log; keys of parts of it go on with a colon. */
export const auditKeyOf = (prefix: string): string => `{${prefix}}:audit`;

/** The phones in browsers of a number (src/phone/phones.ts). */
export const phoneKeyOf = (prefix: string, msisdn: string): string => `${prefix}:phone:${msisdn}`;
