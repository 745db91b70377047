/**
 * Who is yet to be pinged: a sorted set in Redis, `<prefix>:oidc:pings`.
 *
 * A member is a login that a process waits for; its score is the instant until which that process holds it. A process renews
 * what it holds, and one that has died does not, so the member becomes due and another process takes it. Taking is atomic, and
 * the clock is Redis's own. A process that stalls for longer than its hold may come back and find that another has taken its
 * place: then the client is pinged twice, which it must bear (a ping only says that asking makes sense).
 */
import type { RedisClient } from '../../redis/connect.ts';

/** Nothing in it is secret: whoever reads it can find neither the request nor the client. */
export interface PingMember {
  readonly tenantId: string;
  readonly reference: string;
  /** When the request expires; milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface PingQueue {
  /** Adds a member that the caller holds. */
  add(member: PingMember): Promise<void>;
  /** Keeps what the caller holds. */
  renew(members: readonly PingMember[]): Promise<void>;
  /** @returns Members that nobody holds; the caller does from now on. */
  take(most: number): Promise<readonly PingMember[]>;
  /** Lets others take it at once. */
  release(members: readonly PingMember[]): Promise<void>;
  remove(member: PingMember): Promise<void>;
}

const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** ARGV: hold in milliseconds; `NX` to add or `XX` to change; members. */
const holdScript = `${clock}
for index = 3, #ARGV do redis.call('ZADD', KEYS[1], ARGV[2], now + ARGV[1], ARGV[index]) end`;

/** ARGV: hold in milliseconds; how many. */
const takeScript = `${clock}
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, member in ipairs(due) do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], member) end
return due`;

const write = ({ tenantId, reference, expiresAt }: PingMember): string =>
  `${tenantId} ${reference} ${expiresAt}`;

const read = (member: string): PingMember => {
  const [tenantId = '', reference = '', expiresAt = '0'] = member.split(' ');
  return { tenantId, reference, expiresAt: Number(expiresAt) };
};

export const createPingQueue = (redis: RedisClient, prefix: string, holdMs: number): PingQueue => {
  const key = `${prefix}:oidc:pings`;
  const hold = async (ms: number, mode: 'NX' | 'XX', members: readonly PingMember[]): Promise<void> => {
    if (members.length > 0) await redis.eval(holdScript, 1, key, ms, mode, ...members.map(write));
  };
  return {
    add: (member) => hold(holdMs, 'NX', [member]),
    renew: (members) => hold(holdMs, 'XX', members),
    take: async (most) => ((await redis.eval(takeScript, 1, key, holdMs, most)) as string[]).map(read),
    release: (members) => hold(0, 'XX', members),
    remove: async (member) => {
      await redis.zrem(key, write(member));
    },
  };
};
