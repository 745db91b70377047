/**
 * Whether Redis does what signing needs of it: runs scripts that write, in the slot of each shard and beside the shards,
 * and answers what BullMQ asks when a worker starts.
 *
 * A PING proves none of this: a replica, a full Redis and a node of a cluster that has lost its neighbour answer it as
 * cheerfully as any. What is said about a failure is one of our own sentences, since Redis names users, addresses and keys.
 */
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/timeout.ts';
import { shardPrefix } from '../transactions/contract.ts';

export interface RedisTrouble {
  /** The user lacks a right: nothing but an operator will change that. */
  readonly kind: 'right' | 'writes';
  /** A sentence without a full stop. */
  readonly says: string;
}

export interface RedisProbe {
  /** @returns Undefined when nothing is wrong. Takes a second at most, and never rejects. */
  look(): Promise<RedisTrouble | undefined>;
}

/** Longer than a command to Redis may take, shorter than a health check waits. */
const patienceMs = 1000;

/** Whoever asks more often is told again what was found. */
const freshMs = 250;

const markerLifeMs = 10_000;

/**
 * The kinds of writes that adding and taking a job consist of, on a marker of our own.
 *
 * @returns What was refused, and why; nothing when all is well.
 */
const writeScript = `
local calls = {
  {'DEL'}, {'HSET', 'a', '1'}, {'DEL'}, {'LPUSH', 'a'}, {'DEL'}, {'ZADD', '1', 'a'}, {'DEL'}, {'XADD', '*', 'a', '1'},
  {'DEL'}, {'INCR'}, {'PEXPIRE', ARGV[1]},
}
for _, call in ipairs(calls) do
  local answer = redis.pcall(call[1], KEYS[1], unpack(call, 2))
  if type(answer) == 'table' and answer.err then return {string.lower(call[1]), answer.err} end
end
return {}`;

const causes: readonly (readonly [RegExp, string])[] = [
  [/OOM/, 'it has reached its memory limit'],
  [/READONLY/, 'it is a replica'],
  [/MISCONF/, 'it cannot write to its disk'],
  [/NOREPLICAS/, 'it has too few replicas'],
  [/CLUSTERDOWN/, 'the cluster has lost a part of its slots'],
  [/LOADING/, 'it is still loading its data'],
  [/WRONGPASS|NOAUTH/, 'it does not accept user or password'],
];

const lacks = (right: string): RedisTrouble => ({
  kind: 'right',
  says: `The Redis user lacks a right that the service needs: ${right}`,
});

/** @param command The one that was refused, where Redis does not say. */
const rightIn = (message: string, command: string): string | undefined => {
  if (/to access|can't access/i.test(message)) return 'on its keys';
  if (!/NOPERM|can't run this command|ACL failure/i.test(message)) return undefined;
  return `+${/run the '([a-z]+)/.exec(message)?.[1] ?? command}`;
};

/** What one of the places says: undefined when it takes writes. */
type Finding = { readonly right: string } | { readonly cause: string } | undefined;

const silence: Finding = { cause: 'it does not answer' };

const findingOf = (message: string, command: string): Finding => {
  const right = rightIn(message, command);
  if (right !== undefined) return { right };
  const cause = causes.find(([pattern]) => pattern.test(message))?.[1];
  return cause === undefined ? silence : { cause };
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * A question that is not asked again before it is answered: a connection that waits for Redis keeps its questions. While
 * an answer is late, what the last one said against the place counts.
 */
const createQuestion = (ask: () => Promise<Finding>, late: Finding): (() => Promise<Finding>) => {
  let open: Promise<void> | undefined;
  let found: Finding;
  return async () => {
    open ??= ask().then((finding) => {
      found = finding;
      open = undefined;
    });
    const inTime = await settlesWithin(open, patienceMs);
    return inTime ? found : (found ?? late);
  };
};

const writesAt = (redis: RedisClient, key: string) =>
  createQuestion(async () => {
    try {
      const [refused, why] = (await redis.eval(writeScript, 1, key, markerLifeMs)) as readonly string[];
      return refused === undefined ? undefined : findingOf(why ?? '', refused);
    } catch (error) {
      return findingOf(messageOf(error), 'eval');
    }
  }, silence);

/** BullMQ's workers ask for the version, once, when they start. Whether Redis is there at all is found elsewhere. */
const tellsVersion = (redis: RedisClient) =>
  createQuestion(async () => {
    try {
      await redis.info('server');
      return undefined;
    } catch (error) {
      const right = rightIn(messageOf(error), 'info');
      return right === undefined ? undefined : { right };
    }
  }, undefined);

/** How many shards a sentence names. */
const maxNamed = 5;

const namesOf = (failed: readonly number[]): string => {
  const named = failed.slice(0, maxNamed).join(', ');
  const more = failed.length > maxNamed ? ` and ${failed.length - maxNamed} more` : '';
  return `shard${failed.length === 1 ? '' : 's'} ${named}${more}`;
};

const troubleIn = (findings: readonly Finding[], everywhere: number): RedisTrouble | undefined => {
  const right = findings.find((finding) => finding !== undefined && 'right' in finding);
  if (right !== undefined && 'right' in right) return lacks(right.right);
  const failed = findings.flatMap((finding, place) =>
    finding !== undefined && 'cause' in finding ? [{ place, cause: finding.cause }] : [],
  );
  const [first] = failed;
  if (first === undefined) return undefined;
  const { cause } = first;
  const inShards = failed.map(({ place }) => place).filter((place) => place < everywhere);
  const where = inShards.length === 0 || inShards.length === everywhere ? '' : ` for ${namesOf(inShards)}`;
  return { kind: 'writes', says: `Redis takes no writes${where}: ${cause}` };
};

export const createRedisProbe = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: number;
}): RedisProbe => {
  const { redis, prefix, shards } = options;
  const questions = [
    ...Array.from({ length: shards }, (_, shard) =>
      writesAt(redis, `${shardPrefix(prefix, shard)}:readiness`),
    ),
    // What belongs to no shard: keys and certificates, limits, sessions.
    writesAt(redis, `${prefix}:readiness`),
    tellsVersion(redis),
  ];
  let last: { readonly at: number; readonly trouble: Promise<RedisTrouble | undefined> } | undefined;

  return {
    look: () => {
      const at = performance.now();
      if (last === undefined || at - last.at >= freshMs) {
        const trouble = Promise.all(questions.map((ask) => ask())).then((findings) =>
          troubleIn(findings, shards),
        );
        last = { at, trouble };
      }
      return last.trouble;
    },
  };
};
