/**
 * Checks whether Redis can do what signing needs: run scripts that write, in the slot of each shard
 * and outside the shards, and answer the commands of BullMQ at the start of a worker.
 *
 * PING is not enough: a replica, a full Redis and a node of a broken cluster answer it, too.
 * Reasons are our own sentences, because messages of Redis name users, addresses and keys.
 */
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../redis/connect.ts';

export interface RedisError {
  /** `right`: the user lacks a right, which only an operator can change. */
  readonly kind: 'right' | 'writes';
  /** A sentence without a full stop. */
  readonly says: string;
}

/** Longer than a command to Redis may take, shorter than a health check waits. */
const timeoutMs = 1000;

/** Time for which a result is reused. */
const freshMs = 250;

const markerLifeMs = 10_000;

/**
 * The kinds of writes that adding and taking a job need, on a marker key. The first one must need
 * memory, because a full Redis lets a script go on that has begun to write. The marker is a number,
 * or does not exist.
 *
 * @returns The refused command and the error; empty when all work.
 */
const writeScript = `
local calls = {
  {'INCR'}, {'DEL'}, {'HSET', 'a', '1'}, {'DEL'}, {'LPUSH', 'a'}, {'DEL'}, {'ZADD', '1', 'a'}, {'DEL'}, {'XADD', '*', 'a', '1'},
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

const lacks = (right: string): RedisError => ({
  kind: 'right',
  says: `The Redis user lacks a right that the service needs: ${right}`,
});

/** @param command The refused command, used when Redis does not name it. */
const rightIn = (message: string, command: string): string | undefined => {
  if (/to access|can't access/i.test(message)) return 'on its keys';
  if (!/NOPERM|can't run this command|ACL failure/i.test(message)) return undefined;
  return `+${/run the '([a-z]+)/.exec(message)?.[1] ?? command}`;
};

/** The result at one place: undefined when writes work there. */
type Finding = { readonly right: string } | { readonly cause: string } | undefined;

const silence: Finding = { cause: 'it does not answer' };

const findingOf = (message: string, command: string): Finding => {
  const right = rightIn(message, command);
  if (right !== undefined) return { right };
  const cause = causes.find(([pattern]) => pattern.test(message))?.[1];
  return cause === undefined ? silence : { cause };
};

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Makes a question that is not repeated before it is answered, because a waiting connection keeps
 * its commands. While an answer is late, the last error counts.
 */
const createQuestion = (ask: () => Promise<Finding>, late: Finding): (() => Promise<Finding>) => {
  let open: Promise<void> | undefined;
  let found: Finding;
  return async () => {
    open ??= ask().then((finding) => {
      found = finding;
      open = undefined;
    });
    const inTime = await settlesWithin(open, timeoutMs);
    return inTime ? found : (found ?? late);
  };
};

const writesAt = (redis: RedisClient, key: string) =>
  createQuestion(async () => {
    try {
      // `eval` sends a hash; the right to send a text is needed after a restart of Redis.
      await redis.call('EVAL', writeScript, 1, key, markerLifeMs);
      const [refused, why] = (await redis.eval(
        writeScript,
        1,
        key,
        markerLifeMs,
      )) as readonly string[];
      return refused === undefined ? undefined : findingOf(why ?? '', refused);
    } catch (error) {
      return findingOf(messageOf(error), 'eval');
    }
  }, silence);

/** Asks for the version of Redis, like BullMQ's workers at their start. */
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

/** The most shards that a sentence names. */
const maxNamed = 5;

const namesOf = (failed: readonly number[]): string => {
  const named = failed.slice(0, maxNamed).join(', ');
  const more = failed.length > maxNamed ? ` and ${failed.length - maxNamed} more` : '';
  return `shard${failed.length === 1 ? '' : 's'} ${named}${more}`;
};

const findError = (findings: readonly Finding[], shards: number): RedisError | undefined => {
  const right = findings.find((finding) => finding !== undefined && 'right' in finding);
  if (right !== undefined && 'right' in right) return lacks(right.right);
  const failed = findings.flatMap((finding, place) =>
    finding !== undefined && 'cause' in finding ? [{ place, cause: finding.cause }] : [],
  );
  const [first] = failed;
  if (first === undefined) return undefined;
  const { cause } = first;
  const inShards = failed.map(({ place }) => place).filter((place) => place < shards);
  const where =
    inShards.length === 0 || inShards.length === shards ? '' : ` for ${namesOf(inShards)}`;
  return { kind: 'writes', says: `Redis takes no writes${where}: ${cause}` };
};

export const createRedisProbe = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  /** A prefix of keys in each shard. */
  readonly shardPrefixes: readonly string[];
}) => {
  const { redis, prefix, shardPrefixes } = options;
  const questions = [
    ...shardPrefixes.map((shard) => writesAt(redis, `${shard}:readiness`)),
    // Outside the shards: keys and certificates, limits, sessions.
    writesAt(redis, `${prefix}:readiness`),
    tellsVersion(redis),
  ];
  let last: { readonly at: number; readonly error: Promise<RedisError | undefined> } | undefined;

  return {
    /** @returns Undefined without an error. Takes a second at most, and never rejects. */
    look: (): Promise<RedisError | undefined> => {
      const at = performance.now();
      if (last === undefined || at - last.at >= freshMs) {
        const error = Promise.all(questions.map((ask) => ask())).then((found) =>
          findError(found, shardPrefixes.length),
        );
        last = { at, error };
      }
      return last.error;
    },
  };
};

export type RedisProbe = ReturnType<typeof createRedisProbe>;
