/**
 * Token buckets in Redis, shared by all processes. A bucket holds `requests` tokens and refills
 * evenly in `perSeconds`. A counter for each period would let twice as many through around its
 * edge.
 *
 * One script with one key is atomic without a lock and works in a Redis Cluster. The time is
 * Redis's own, because all processes need the same clock. An unused bucket becomes full and
 * expires: an absent key is a full bucket.
 */
export interface RateLimit {
  readonly requests: number;
  readonly perSeconds: number;
}

export interface RateLimiter {
  /**
   * Takes one token.
   *
   * @returns False when there is none.
   * @throws When Redis is unreachable.
   */
  take(key: string, limit: RateLimit): Promise<boolean>;
  /** Takes one token. @returns 0 when it was taken, otherwise the seconds until there is one. */
  takeOrWait(key: string, limit: RateLimit): Promise<number>;
  /**
   * Puts back a token that did not count. Taking it only after a check would let all parallel
   * callers through.
   */
  putBack(key: string, limit: RateLimit): Promise<void>;
}

/** The source of a request, for limits. */
export interface Source {
  /**
   * One caller: an IPv4 address or an IPv6 network. Undefined when many share an address and cannot
   * be distinguished.
   */
  readonly caller: string | undefined;
  /**
   * The address of a proxy that is not trusted, which many callers may share. Anyone can pretend to
   * be behind such a proxy, so calls are also counted by this address.
   */
  readonly sharedBy?: string;
}

/** The origin for turns. A shared address is one origin: callers behind it may be invented. */
export const originOf = ({ caller, sharedBy }: Source): string => sharedBy ?? caller ?? '';

/** A bucket and its size. */
export type NamedLimit = readonly [key: string, limit: RateLimit];

const times = (factor: number, { requests, perSeconds }: RateLimit): RateLimit => ({
  requests: requests * factor,
  perSeconds,
});

/** The bucket of a name at a shared address. */
export const sharedKeyOf = ({ sharedBy }: Source, name: string): string | undefined =>
  sharedBy === undefined ? undefined : `${sharedBy} as ${name}`;

/** The bucket of all callers at a shared address. */
export const everybodyKeyOf = ({ sharedBy }: Source): string | undefined =>
  sharedBy === undefined ? undefined : `${sharedBy} as anybody`;

/**
 * The buckets of a call. At a shared address the named caller has the limit, the subject of the
 * call (`name`) has five times as much, and all calls together have ten times. So a pretended proxy
 * gets no more than ten addresses would.
 *
 * @param name The subject of the call, such as a client; never a text of the caller.
 * @param keyOf Makes the key of a bucket from an address, which may have to be hidden.
 */
export const limitsFrom = (
  source: Source,
  limit: RateLimit,
  name: string | undefined,
  keyOf = (bucket: string): string => bucket,
): readonly NamedLimit[] => {
  const everybody = everybodyKeyOf(source);
  const shared = name === undefined ? undefined : sharedKeyOf(source, name);
  return [
    ...(everybody === undefined ? [] : [[keyOf(everybody), times(10, limit)] as const]),
    ...(shared === undefined ? [] : [[keyOf(shared), times(5, limit)] as const]),
    ...(source.caller === undefined ? [] : [[keyOf(source.caller), limit] as const]),
  ];
};

/**
 * Takes a token from each bucket, or from none. So a caller over its own limit uses up no shared
 * bucket, and invented callers do not fill Redis.
 *
 * @returns The key of the empty bucket, and the seconds until it has a token; undefined when all
 *   tokens were taken.
 */
export const takeAll = async (
  limiter: RateLimiter,
  buckets: readonly NamedLimit[],
): Promise<{ readonly key: string; readonly seconds: number } | undefined> => {
  for (const [index, [key, limit]] of buckets.entries()) {
    const seconds = await limiter.takeOrWait(key, limit);
    if (seconds === 0) continue;
    for (const [taken, itsLimit] of buckets.slice(0, index)) await limiter.putBack(taken, itsLimit);
    return { key, seconds };
  }
  return undefined;
};

/** The part of an ioredis client that is used. */
export interface ScriptRunner {
  eval(
    script: string,
    numberOfKeys: number,
    ...keysAndArguments: (string | number)[]
  ): Promise<unknown>;
}

/**
 * KEYS[1] bucket; ARGV[1] its size; ARGV[2] microseconds to refill; ARGV[3] tokens to take, -1 to
 * put one back. Returns 0 when that was done, else the microseconds until it is possible.
 */
const moveTokens = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size, refill = tonumber(ARGV[1]), tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or size, tonumber(bucket[2]) or now
tokens = math.min(size, tokens + math.max(0, now - at) * size / refill)
local wanted = tonumber(ARGV[3])
local wait = 0
if tokens >= wanted then
  tokens = tokens - wanted
else
  wait = math.ceil((wanted - tokens) * refill / size)
end
if tokens >= size then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil(refill / 1000))
end
return wait
`;

/** @param prefix Keys are `<prefix>:rate:<key>`. */
export const createRateLimiter = ({
  redis,
  prefix,
}: {
  readonly redis: ScriptRunner;
  readonly prefix: string;
}): RateLimiter => {
  const move = async (
    key: string,
    { requests, perSeconds }: RateLimit,
    tokens: 1 | -1,
  ): Promise<number> =>
    Number(
      await redis.eval(
        moveTokens,
        1,
        `${prefix}:rate:${key}`,
        requests,
        perSeconds * 1_000_000,
        tokens,
      ),
    );
  return {
    take: async (key, limit) => (await move(key, limit, 1)) === 0,
    takeOrWait: async (key, limit) => Math.ceil((await move(key, limit, 1)) / 1_000_000),
    putBack: async (key, limit) => {
      await move(key, limit, -1);
    },
  };
};
