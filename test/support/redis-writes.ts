/**
 * What is written to a Redis, as the Redis itself tells it (MONITOR): also by scripts, also to keys
 * that live for a millisecond only.
 *
 * For a Redis of a test's own: it tells of everybody's commands, and costs each of them.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

export interface Written {
  /**
   * As TYPE names it: by the commands that make such a key. More than one where it was removed in
   * between.
   */
  readonly types: ReadonlySet<string>;
  /** Of a hash. */
  readonly fields: ReadonlySet<string>;
  /** Whether it was ever given a time to live. */
  readonly expires: boolean;
}

export interface RedisWrites {
  /**
   * All that was written until now, by key.
   * @throws For a command that writes and is not known here.
   */
  read(): Promise<ReadonlyMap<string, Written>>;
  close(): void;
}

const makes: Readonly<Record<string, readonly string[]>> = {
  string: ['set', 'setnx', 'incr', 'setrange'],
  hash: ['hset', 'hmset', 'hsetnx', 'hincrby'],
  list: ['lpush', 'rpush'],
  set: ['sadd'],
  zset: ['zadd'],
  stream: ['xadd'],
};
const typeMadeBy = new Map(
  Object.entries(makes).flatMap(([type, commands]) =>
    commands.map((command) => [command, type] as const),
  ),
);
const expiring = ['expire', 'pexpire'];
/** Of keys that something has made before. */
const changing = [
  'persist',
  'hdel',
  'srem',
  'zrem',
  'zremrangebyscore',
  'zpopmin',
  'bzpopmin',
  'lrem',
  'ltrim',
  'lpop',
  'rpop',
  'xtrim',
];
const removing = ['del', 'unlink', 'getdel'];
/** Keys from the first argument to the last. */
const ofManyKeys = ['del', 'unlink'];

const fieldsOf = (command: string, given: readonly string[]): readonly string[] => {
  if (command === 'hsetnx' || command === 'hincrby') return given.slice(0, 1);
  return command === 'hset' || command === 'hmset'
    ? given.filter((_, index) => index % 2 === 0)
    : [];
};

const isExpiringSet = (command: string, options: readonly string[]): boolean =>
  command === 'set' && options.some((option) => /^(?:PX|EX|PXAT|EXAT)$/i.test(option));

/** @param redis Any client of that Redis. */
export const watchWrites = async (redis: Redis): Promise<RedisWrites> => {
  const writing = new Set((await redis.call('ACL', 'CAT', 'write')) as string[]);
  const keys = new Map<string, { types: Set<string>; fields: Set<string>; expires: boolean }>();
  const unknown = new Set<string>();
  const ends = new Map<string, () => void>();
  const of = (key: string) => {
    const known = keys.get(key) ?? { types: new Set(), fields: new Set(), expires: false };
    keys.set(key, known);
    return known;
  };

  const take = ([name = '', key = '', ...more]: readonly string[]): void => {
    const command = name.toLowerCase();
    if (command === 'echo') ends.get(key)?.();
    if (!writing.has(command)) return;
    const type = typeMadeBy.get(command);
    if (type !== undefined) {
      const written = of(key);
      written.types.add(type);
      written.expires ||= isExpiringSet(command, more.slice(1));
      for (const field of fieldsOf(command, more)) written.fields.add(field);
    } else if (expiring.includes(command)) of(key).expires = true;
    else if (changing.includes(command)) of(key);
    else if (removing.includes(command))
      for (const each of ofManyKeys.includes(command) ? [key, ...more] : [key]) of(each);
    else if (command === 'rpoplpush' || command === 'lmove') of(more[0] ?? '').types.add('list');
    else unknown.add(command);
  };

  const monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, command: string[]) => take(command));

  return {
    read: async () => {
      const end = randomUUID();
      const told = new Promise<void>((resolve) => ends.set(end, resolve));
      await redis.echo(end);
      await told;
      if (unknown.size > 0)
        throw new Error(`redis-writes.ts must learn ${[...unknown].join(', ')}`);
      return keys;
    },
    close: () => monitor.disconnect(),
  };
};
