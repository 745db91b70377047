/**
 * Which keys of a Redis are those of one service. docs/storage.md lists them, and a test compares.
 */

export interface Service {
  /** `queue.prefix`: letters, digits, `_`, `.` and `-`. */
  readonly prefix: string;
  /** Of parts. */
  readonly slots: readonly string[];
}

/**
 * What stands behind `<prefix>-` between braces, beside the number of a shard and the slots of
 * parts.
 */
const coreSlots = ['replays', 'processes', 'refused'];
/**
 * What stands behind `{<prefix>}:`. It is no name in a shard: the prefix of another service may end
 * with a number.
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

/** What a backup holds: all but which processes run, because that says nothing after a restore. */
export const createKeeps = (service: Service): ((key: string) => boolean) => {
  const owns = createOwns(service);
  return (key) => key !== `{${service.prefix}-processes}` && owns(key);
};

/** Every key of the service begins with one of these; keys of another service may, too. */
export const beginningsOf = (prefix: string): readonly string[] => [`{${prefix}`, `${prefix}:`];

/** The audit log; keys of parts of it go on with a colon. */
export const auditKeyOf = (prefix: string): string => `{${prefix}}:audit`;

/** The phones in browsers of a number (parts/phone/phones.ts). */
export const phoneKeyOf = (prefix: string, msisdn: string): string => `${prefix}:phone:${msisdn}`;
