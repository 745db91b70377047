/**
 * How many requests an application provider may make: a token bucket in Redis, shared by all processes.
 *
 * A bucket holds `requests` tokens and refills evenly in `perSeconds`, so an application may spend all of them at once
 * and then goes on at the steady rate; a counter per calendar window would let twice as many through around its edge.
 *
 * One script, one key: reading and taking is atomic without a lock, and a Redis Cluster serves it from one slot. The
 * clock is Redis's own, because the processes that share a bucket need one clock, not one each. A bucket that nobody touches
 * for `perSeconds` is full, which is what an absent key means, so it simply expires.
 */
export interface RateLimit {
  readonly requests: number;
  readonly perSeconds: number;
}

export interface RateLimiter {
  /**
   * Takes one token of the bucket `key`.
   *
   * @returns False when there is none.
   * @throws When Redis is unreachable.
   */
  take(key: string, limit: RateLimit): Promise<boolean>;
  /**
   * Puts back a token that was taken for what turned out not to count; a bucket that is full then is no key any more. Taking first and putting back holds for any number of
   * callers at once; looking first and taking later would let all of them through.
   */
  putBack(key: string, limit: RateLimit): Promise<void>;
}

/** Where a request comes from, for limits. */
export interface Source {
  /**
   * What counts as one caller: an IPv4 address or an IPv6 network. Undefined where many come from one address and nothing tells
   * them apart.
   */
  readonly caller: string | undefined;
  /**
   * The address that many may share: of a proxy that is not trusted. Anybody may pretend to be behind such a proxy and then
   * writes a part of `caller`, so calls are counted by this address as well, in all and for the name that they are about.
   */
  readonly sharedBy?: string;
}

/**
 * For turns. An address that is shared has one turn, whoever it names: names can be invented, a new one for each request, and at
 * the bound whoever comes from elsewhere would be turned away instead of the flood.
 */
export const originOf = ({ caller, sharedBy }: Source): string => sharedBy ?? caller ?? '';

/** A bucket and its size. */
export type NamedLimit = readonly [key: string, limit: RateLimit];

const times = (factor: number, { requests, perSeconds }: RateLimit): RateLimit => ({
  requests: requests * factor,
  perSeconds,
});

/** The bucket of a name at an address that is shared; undefined at others. */
export const sharedKeyOf = ({ sharedBy }: Source, name: string): string | undefined =>
  sharedBy === undefined ? undefined : `${sharedBy} as ${name}`;

/** The bucket of everybody at an address that is shared; undefined at others. */
export const everybodyKeyOf = ({ sharedBy }: Source): string | undefined =>
  sharedBy === undefined ? undefined : `${sharedBy} as anybody`;

/**
 * The buckets of one caller. Where the address is shared, nobody is counted as its one caller: a caller that the proxy names
 * has the limit, the name that is called about five times as much, and everybody together ten times. So one name alone
 * leaves something for the others, and a proxy that is only pretended gets no more than ten addresses would.
 *
 * @param name What the call is about, such as a client; not a free text of the caller's. Undefined where that has a limit of
 *   its own.
 */
export const limitsFrom = (
  source: Source,
  limit: RateLimit,
  name: string | undefined,
): readonly NamedLimit[] => {
  const everybody = everybodyKeyOf(source);
  const shared = name === undefined ? undefined : sharedKeyOf(source, name);
  return [
    ...(everybody === undefined ? [] : [[everybody, times(10, limit)] as const]),
    ...(shared === undefined ? [] : [[shared, times(5, limit)] as const]),
    ...(source.caller === undefined ? [] : [[source.caller, limit] as const]),
  ];
};

/**
 * Takes a token of each bucket, or of none: who is over a limit of his own must not use up what others share with him, nor
 * fill Redis with buckets of callers that he invents.
 *
 * @returns The key of the one that is empty; undefined when there was enough.
 */
export const takeAll = async (
  limiter: RateLimiter,
  buckets: readonly NamedLimit[],
): Promise<string | undefined> => {
  for (const [index, [key, limit]] of buckets.entries()) {
    if (await limiter.take(key, limit)) continue;
    for (const [taken, itsLimit] of buckets.slice(0, index)) await limiter.putBack(taken, itsLimit);
    return key;
  }
  return undefined;
};

/** The little of a Redis client that this needs; an ioredis client fits. */
export interface ScriptRunner {
  eval(script: string, numberOfKeys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/**
 * KEYS[1] bucket; ARGV[1] its size; ARGV[2] microseconds in which it refills; ARGV[3] how many tokens to take, -1 to put one
 * back. 1 when that was done. A full bucket is an absent key.
 */
const moveTokens = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size, refill = tonumber(ARGV[1]), tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or size, tonumber(bucket[2]) or now
tokens = math.min(size, tokens + math.max(0, now - at) * size / refill)
local wanted = tonumber(ARGV[3])
local moved = 0
if tokens >= wanted then
  tokens = tokens - wanted
  moved = 1
end
if tokens >= size then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil(refill / 1000))
end
return moved
`;

/** @param prefix Stands before every key: `<prefix>:rate:<key>`. */
export const createRateLimiter = ({
  redis,
  prefix,
}: {
  readonly redis: ScriptRunner;
  readonly prefix: string;
}): RateLimiter => {
  const move = async (key: string, { requests, perSeconds }: RateLimit, tokens: 1 | -1): Promise<boolean> =>
    (await redis.eval(moveTokens, 1, `${prefix}:rate:${key}`, requests, perSeconds * 1_000_000, tokens)) ===
    1;
  return {
    take: (key, limit) => move(key, limit, 1),
    putBack: async (key, limit) => {
      await move(key, limit, -1);
    },
  };
};
