/**
 * Recognises the keys of one service in a Redis. docs/storage.md lists them, and a test compares.
 */

export interface Service {
  /** `queue.prefix`: letters, digits, `_`, `.` and `-`. */
  readonly prefix: string;
  /** The slots of parts: names behind `<prefix>-`. */
  readonly slots: readonly string[];
}

/**
 * Names behind `<prefix>-` between braces, beside the numbers of shards and the slots of parts.
 */
const coreSlots = ['replays', 'processes', 'refused'];
/**
 * Names behind `{<prefix>}:`. They are listed, because the prefix of another service may end with
 * the number of a shard.
 */
const ownRooms = ['audit', 'operators'];

/** Whether a key is one of the service. */
export const createOwns = ({ prefix, slots }: Service): ((key: string) => boolean) => {
  const name = prefix.replaceAll('.', '\\.');
  const rooms = ownRooms.join('|');
  const pattern = new RegExp(
    `^(?:${name}:|\\{${name}-(?:${[...coreSlots, ...slots].join('|')})\\}|\\{${name}\\}:(?:${rooms})\\b|\\{${name}-\\d+\\}:(?!(?:${rooms})\\b))`,
  );
  return (key) => pattern.test(key);
};

/** Whether a backup has a key: all but the list of running processes, useless after a restore. */
export const createKeeps = (service: Service): ((key: string) => boolean) => {
  const owns = createOwns(service);
  return (key) => key !== `{${service.prefix}-processes}` && owns(key);
};

/** Every key of the service begins with one of these; keys of another service may, too. */
export const beginningsOf = (prefix: string): readonly string[] => [`{${prefix}`, `${prefix}:`];

/** The key of the audit log. Keys of its parts continue with a colon. */
export const auditKeyOf = (prefix: string): string => `{${prefix}}:audit`;

/** The phones in browsers of a number (parts/phone/phones.ts). */
export const phoneKeyOf = (prefix: string, msisdn: string): string => `${prefix}:phone:${msisdn}`;
