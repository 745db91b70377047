/**
 * What time it is by the clock of Redis.
 *
 * Redis is what all processes of a service have in common, so what several of them must agree on is said in its time. A
 * process's own clock may be wrong, and may be set while it runs; so the difference is kept to the monotonic clock, which
 * only goes on. Redis is asked when a connection is ready, every second until it answers, every minute from then on, and
 * when somebody has a reason to doubt.
 */
import { Cluster, type Redis, ReplyError } from 'ioredis';

export interface RedisClock {
  /** Milliseconds since the epoch by the clock of Redis; by the process's own until Redis has told it. */
  now(): number;
  /** The same by the clock of one node of a cluster, or else of the node that told it last; undefined until one has. */
  nowAt(node: Redis): number | undefined;
  /** How far the process's clock is ahead of that of Redis: of the node that differs most. Undefined until one has told. */
  offsetMs(): number | undefined;
  /** Asks again. What cannot be had stays as it was. */
  refresh(): Promise<void>;
  /** Resolves when Redis has told its time for the first time, or has refused to. */
  readonly asked: Promise<void>;
}

const refreshEveryMs = 60_000;
const retryAfterMs = 1000;

/** Half the round trip is how wrong a reading may be: one that took longer is repeated. */
const quickMs = 20;
const readings = 3;

/** @param wall The process's own clock, milliseconds since the epoch. */
export const createRedisClock = (redis: Redis | Cluster, wall: () => number = Date.now): RedisClock => {
  /** What is to be added to the monotonic clock. */
  const differences = new Map<Redis, number>();
  /** Whether there was an answer. */
  const looking = new Map<Redis, Promise<boolean>>();
  let last: number | undefined;
  let answered: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    answered = resolve;
  });

  /** What is known may be better than a slow reading: it stays unless it lies outside of what the reading allows. */
  const learn = (node: Redis, difference: number, errorMs: number): void => {
    const known = differences.get(node);
    last = known !== undefined && Math.abs(known - difference) <= errorMs ? known : difference;
    differences.set(node, last);
    answered();
  };

  const read = async (node: Redis): Promise<void> => {
    let best = Number.POSITIVE_INFINITY;
    for (let count = 0; count < readings && best > quickMs; count += 1) {
      const askedAt = performance.now();
      const [seconds, microseconds] = await node.time();
      const roundTripMs = performance.now() - askedAt;
      if (roundTripMs >= best) continue;
      best = roundTripMs;
      const errorMs = roundTripMs / 2;
      learn(node, Number(seconds) * 1000 + Number(microseconds) / 1000 - askedAt - errorMs, errorMs);
    }
  };

  const look = (node: Redis): Promise<boolean> => {
    const begun =
      looking.get(node) ??
      read(node)
        .then(
          () => true,
          (error) => {
            // What is known stays. A refusal (the user's rights) is an answer as well.
            const isAnswer = error instanceof ReplyError;
            if (isAnswer) answered();
            return isAnswer;
          },
        )
        .finally(() => looking.delete(node));
    looking.set(node, begun);
    return begun;
  };

  const follow = (node: Redis): void => {
    let timer: NodeJS.Timeout | undefined;
    let retry: NodeJS.Timeout | undefined;
    // Adding jobs waits for the first answer.
    const ask = async (): Promise<void> => {
      const isAnswered = await look(node);
      if (isAnswered || differences.has(node) || node.status !== 'ready') return;
      clearTimeout(retry);
      retry = setTimeout(ask, retryAfterMs).unref();
    };
    const begin = (): void => {
      void ask();
      clearInterval(timer);
      timer = setInterval(look, refreshEveryMs, node).unref();
    };
    if (node.status === 'ready') begin();
    node.on('ready', begin);
    node.on('close', () => {
      clearInterval(timer);
      clearTimeout(retry);
    });
    node.on('end', () => differences.delete(node));
  };
  if (redis instanceof Cluster) {
    for (const node of redis.nodes()) follow(node);
    redis.on('+node', follow);
  } else follow(redis);

  return {
    asked,
    now: () => (last === undefined ? wall() : performance.now() + last),
    nowAt: (node) => {
      const difference = differences.get(node) ?? last;
      return difference === undefined ? undefined : performance.now() + difference;
    },
    offsetMs: () => {
      const ahead = wall() - performance.now();
      const offsets = [...differences.values()].map((difference) => ahead - difference);
      const [most] = offsets.sort((one, other) => Math.abs(other) - Math.abs(one));
      return most;
    },
    refresh: async () => {
      const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
      await Promise.all(nodes.filter(({ status }) => status === 'ready').map(look));
    },
  };
};
