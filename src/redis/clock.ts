/**
 * What time it is by the clock of Redis.
 *
 * Redis is what all processes of a service have in common, so what several of them must agree on is said in its time. A
 * process's own clock may be wrong, and may be set while it runs; so the difference is kept to the monotonic clock, which
 * only goes on. Redis is asked when a connection is ready, every minute, and when somebody has a reason to doubt.
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

/** Half the round trip is how wrong a reading may be: one that took longer is repeated. */
const quickMs = 20;
const readings = 3;

/** @param wall The process's own clock, milliseconds since the epoch. */
export const createRedisClock = (redis: Redis | Cluster, wall: () => number = Date.now): RedisClock => {
  /** What is to be added to the monotonic clock. */
  const differences = new Map<Redis, number>();
  const looking = new Map<Redis, Promise<void>>();
  let last: number | undefined;
  let answered: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    answered = resolve;
  });

  const read = async (node: Redis): Promise<void> => {
    let best = Number.POSITIVE_INFINITY;
    for (let count = 0; count < readings && best > quickMs; count += 1) {
      const askedAt = performance.now();
      const [seconds, microseconds] = await node.time();
      const roundTripMs = performance.now() - askedAt;
      if (roundTripMs >= best) continue;
      best = roundTripMs;
      last = Number(seconds) * 1000 + Number(microseconds) / 1000 - askedAt - roundTripMs / 2;
      differences.set(node, last);
      answered();
    }
  };

  const look = (node: Redis): Promise<void> => {
    const begun =
      looking.get(node) ??
      read(node)
        .catch((error) => {
          // What is known stays. A refusal (the user's rights) is an answer as well.
          if (error instanceof ReplyError) answered();
        })
        .finally(() => looking.delete(node));
    looking.set(node, begun);
    return begun;
  };

  const follow = (node: Redis): void => {
    let timer: NodeJS.Timeout | undefined;
    const begin = (): void => {
      void look(node);
      clearInterval(timer);
      timer = setInterval(look, refreshEveryMs, node).unref();
    };
    if (node.status === 'ready') begin();
    node.on('ready', begin);
    node.on('close', () => clearInterval(timer));
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
