/**
 * Everything that Redis holds under a prefix, of whatever type: what a backup, a replica or a thief
 * would have.
 */
import type { Redis } from 'ioredis';

const asBytes = (reply: unknown): Buffer =>
  Array.isArray(reply)
    ? Buffer.concat(reply.flatMap((part) => [asBytes(part), Buffer.from('\n')]))
    : Buffer.isBuffer(reply)
      ? reply
      : Buffer.from(String(reply));

const readValue = async (client: Redis, key: string): Promise<Buffer> => {
  const readers: Record<string, () => Promise<unknown>> = {
    string: () => client.callBuffer('GET', key),
    hash: () => client.callBuffer('HGETALL', key),
    list: () => client.callBuffer('LRANGE', key, 0, -1),
    set: () => client.callBuffer('SMEMBERS', key),
    zset: () => client.callBuffer('ZRANGE', key, 0, -1, 'WITHSCORES'),
    stream: () => client.callBuffer('XRANGE', key, '-', '+'),
  };
  const type = await client.type(key);
  // Gone between its discovery and now: a lock or a claim that lapsed.
  if (type === 'none') return Buffer.alloc(0);
  const read = readers[type];
  if (read === undefined) throw new Error(`${key} is a ${type}, which nobody searches`);
  return asBytes(await read());
};

/** @returns Values by key, bytes as they are stored. */
export const contentsOf = async (
  client: Redis,
  prefix: string,
): Promise<ReadonlyMap<string, Buffer>> => {
  const found = new Map<string, Buffer>();
  for await (const keys of client.scanStream({ match: `*${prefix}*`, count: 500 })) {
    for (const key of keys as string[]) found.set(key, await readValue(client, key));
  }
  return found;
};
