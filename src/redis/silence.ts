/**
 * Gives up connections on which Redis is silent, and sends commands in batches.
 *
 * A host that is gone, a firewall or a stopped process closes no connection, and the system would
 * wait for minutes.
 */
import type { Redis } from 'ioredis';
import { atEndOfTurn } from './end-of-turn.ts';

/**
 * The longest silence of Redis after a command, by the purpose of the connection. A command on a
 * `waiting` connection may ask Redis to wait: BullMQ's longest are BZPOPMIN and XREAD for ten
 * seconds.
 */
const silentMs = { commands: 2000, blocking: 5000, waiting: 12_000 } as const;

/** The interval of reports: all connections to a silent host become silent within seconds. */
const reportEveryMs = 15_000;
let reportedAt = Number.NEGATIVE_INFINITY;

export const isSilence = ({ name }: Error): boolean => name === 'SilentRedis';

const silence = (): Error | undefined => {
  const time = performance.now();
  if (time - reportedAt < reportEveryMs) return undefined;
  reportedAt = time;
  const error = new Error(
    'Redis has been silent for seconds: connections to it are given up and made anew',
  );
  error.name = 'SilentRedis';
  return error;
};

/** Lateness of a timer that shows that the process was busy or stopped. Then it waits once more. */
const busyMs = 500;
const graceMs = 1000;

/**
 * Destroys the stream when no data has come for `afterMs` after a command. Before that, the process
 * reads the data that has come while it was short of CPU or stopped.
 *
 * @returns A function to be called when commands were sent.
 */
const giveUpSilent = (client: Redis, afterMs: number): (() => void) => {
  const { stream } = client;
  let askedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let graced = false;
  const look = (): void => {
    timer = undefined;
    if (askedAt === undefined || stream.destroyed) return;
    const time = performance.now();
    const leftMs = askedAt + afterMs - time;
    if (leftMs > 0) watch(leftMs);
    else if (time - dueAt > busyMs && !graced) {
      graced = true;
      watch(graceMs);
    } else stream.destroy(silence());
  };
  const watch = (ms: number): void => {
    dueAt = performance.now() + ms;
    timer = setTimeout(setImmediate, ms, look).unref();
  };
  // The library handles the data first, so answered commands have left its queue.
  stream.on('data', () => {
    askedAt = client.commandQueue.length === 0 ? undefined : performance.now();
    graced = false;
  });
  return () => {
    askedAt ??= performance.now();
    if (timer === undefined) watch(afterMs);
  };
};

/**
 * Sends all that is written within one turn of the event loop as one packet. A system call for each
 * command costs more than the command does, here and in Redis.
 */
export const prepareStream = (client: Redis, purpose: keyof typeof silentMs): Redis => {
  client.on('connect', () => {
    const { stream } = client;
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    const asked = giveUpSilent(client, silentMs[purpose]);
    // The library has greeted Redis already.
    asked();
    let corked = false;
    stream.write = ((...given: unknown[]): boolean => {
      if (!corked) {
        corked = true;
        stream.cork();
        atEndOfTurn(() => {
          corked = false;
          stream.uncork();
          asked();
        });
      }
      return write(...given);
    }) as typeof stream.write;
  });
  return client;
};
