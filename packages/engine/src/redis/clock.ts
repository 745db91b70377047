/**
 * The time by the clock of Redis, which all processes of a service share.
 *
 * A process's own clock may be wrong, and may be set while it runs; so this keeps the difference to
 * the monotonic clock. It asks Redis when a connection is ready, every second until Redis answers,
 * every minute afterwards, and on demand.
 */
import { Cluster, type Redis, ReplyError } from 'ioredis';

const refreshEveryMs = 60_000;

/** A reading may be wrong by half its round trip: one that took longer than this is repeated. */
const quickMs = 20;
const maxReadings = 3;

export interface OwnClocks {
  /** The process's own clock, milliseconds since the epoch. */
  readonly wall?: () => number;
  /** A monotonic clock in milliseconds, which setting the wall clock does not change. */
  readonly monotonic?: () => number;
  /** The pause after a question that Redis has not answered. */
  readonly retryAfterMs?: number;
}

export const createRedisClock = (
  redis: Redis | Cluster,
  { wall = Date.now, monotonic = () => performance.now(), retryAfterMs = 1000 }: OwnClocks = {},
) => {
  /** The difference of each node's clock to the monotonic clock, and the error of the reading. */
  const readings = new Map<Redis, { readonly difference: number; readonly errorMs: number }>();
  const looking = new Map<Redis, Promise<boolean>>();
  let last: number | undefined;
  let answered: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    answered = resolve;
  });

  /** Keeps the more exact of two readings, unless they contradict each other. */
  const learn = (node: Redis, difference: number, errorMs: number): void => {
    const known = readings.get(node);
    const isConsistent =
      known !== undefined && Math.abs(known.difference - difference) <= known.errorMs + errorMs;
    const kept = isConsistent && known.errorMs <= errorMs ? known : { difference, errorMs };
    readings.set(node, kept);
    last = kept.difference;
    answered();
  };

  const read = async (node: Redis): Promise<void> => {
    let best = Number.POSITIVE_INFINITY;
    for (let count = 0; count < maxReadings && best > quickMs; count += 1) {
      const askedAt = monotonic();
      const [seconds, microseconds] = await node.time();
      const roundTripMs = monotonic() - askedAt;
      if (roundTripMs >= best) continue;
      best = roundTripMs;
      const errorMs = roundTripMs / 2;
      learn(
        node,
        Number(seconds) * 1000 + Number(microseconds) / 1000 - askedAt - errorMs,
        errorMs,
      );
    }
  };

  /** @returns Whether Redis answered. A refusal, for want of rights, is an answer. */
  const tryRead = async (node: Redis): Promise<boolean> => {
    try {
      await read(node);
      return true;
    } catch (error) {
      const isAnswer = error instanceof ReplyError;
      if (isAnswer) answered();
      return isAnswer;
    } finally {
      looking.delete(node);
    }
  };

  const look = (node: Redis): Promise<boolean> => {
    const begun = looking.get(node) ?? tryRead(node);
    looking.set(node, begun);
    return begun;
  };

  const follow = (node: Redis): void => {
    let timer: NodeJS.Timeout | undefined;
    let retry: NodeJS.Timeout | undefined;
    // Adding jobs waits for the first answer.
    const ask = async (): Promise<void> => {
      const isAnswered = await look(node);
      if (isAnswered || readings.has(node) || node.status !== 'ready') return;
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
    node.on('end', () => readings.delete(node));
  };
  if (redis instanceof Cluster) {
    for (const node of redis.nodes()) follow(node);
    redis.on('+node', follow);
  } else follow(redis);

  return {
    /** Resolves when Redis has told its time for the first time, or has refused to. */
    asked,
    /** Milliseconds since the epoch; by the process's own clock until Redis has told its time. */
    now: (): number => (last === undefined ? wall() : monotonic() + last),
    /** The time by the clock of a node, else of the node that answered last; undefined before. */
    nowAt: (node: Redis): number | undefined => {
      const difference = readings.get(node)?.difference ?? last;
      return difference === undefined ? undefined : monotonic() + difference;
    },
    /**
     * Milliseconds by which this process is ahead of the node that differs most; undefined if
     * unknown.
     */
    offsetMs: (): number | undefined => {
      const ahead = wall() - monotonic();
      const offsets = [...readings.values()].map(({ difference }) => ahead - difference);
      return offsets.sort((one, other) => Math.abs(other) - Math.abs(one))[0];
    },
    /**
     * Asks again. Nodes that do not answer keep what is known. A node of a cluster has no
     * connection before its first command: it is asked as well, and connects.
     */
    refresh: async (): Promise<void> => {
      const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
      const canAnswer = ({ status }: Redis): boolean =>
        status === 'ready' || (redis instanceof Cluster && status === 'wait');
      await Promise.all(nodes.filter(canAnswer).map(look));
    },
  };
};

export type RedisClock = ReturnType<typeof createRedisClock>;
