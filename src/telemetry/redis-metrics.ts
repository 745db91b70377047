/**
 * Metrics of connections to Redis: their state, the number of reconnects, the time of commands.
 *
 * Commands are the hottest path, so one in {@link every} is timed and the others cost an increment.
 * Commands that timed out are counted as errors (troubles.ts).
 */
import type { Command } from 'ioredis';
import type { Gauge, Registry } from 'prom-client';
import type { RedisClock } from '../../packages/engine/src/redis/clock.ts';
import type { RedisMemoryProbe } from './redis-memory.ts';
import { counter, gauge, histogram } from './registry.ts';

/** The number of commands of which one is timed; a power of two. */
const every = 64;

const buckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

/** The watched part of a connection: one node or a cluster. */
export interface Watched {
  readonly status: string;
  sendCommand(command: Command, ...more: never[]): unknown;
  on(event: 'reconnecting', listener: () => void): unknown;
}

export type ConnectionName = 'commands' | 'blocking' | 'console';

export const createRedisMetrics = (
  registry: Registry,
): ((connection: ConnectionName, client: Watched) => void) => {
  const watched = new Map<ConnectionName, Watched>();
  const up = gauge(
    registry,
    'redis_up',
    '1 while the connection can be used.',
    ['connection'],
    () => {
      for (const [connection, { status }] of watched)
        up.set({ connection }, status === 'ready' ? 1 : 0);
    },
  );
  const reconnects = counter(registry, 'redis_reconnects_total', 'Attempts to connect again.', [
    'connection',
  ]);
  const seconds = histogram(
    registry,
    'redis_command_duration_seconds',
    'Commands, one in 64, from their issue to their answer.',
    ['connection'],
    buckets,
  );
  return (connection, client) => {
    watched.set(connection, client);
    reconnects.inc({ connection }, 0);
    client.on('reconnecting', () => reconnects.inc({ connection }));
    const send = client.sendCommand.bind(client);
    let sent = 0;
    client.sendCommand = (command, ...more) => {
      sent = (sent + 1) % every;
      // The first command of each round is timed, so that a quiet process has values, too.
      if (sent !== 1) return send(command, ...more);
      const since = performance.now();
      const answered = (): void =>
        seconds.observe({ connection }, (performance.now() - since) / 1000);
      command.promise.then(answered, answered);
      return send(command, ...more);
    };
  };
};

/** Metrics of memory, absent while Redis does not answer. Redis itself counts removed keys. */
export const createMemoryMetrics = (registry: Registry): ((probe: RedisMemoryProbe) => void) => {
  let watched: RedisMemoryProbe | undefined;
  const mayEvict: Gauge = gauge(
    registry,
    'redis_may_evict',
    '1 while Redis has a limit of memory and a maxmemory-policy other than noeviction: what was accepted may be lost.',
    [],
    async () => {
      const memory = await watched?.read();
      if (memory === undefined) mayEvict.remove();
      else mayEvict.set(memory.mayEvict ? 1 : 0);
    },
  );
  const evicted: Gauge = gauge(
    registry,
    'redis_evicted_keys',
    'Keys that Redis has removed to free memory, since it started.',
    [],
    async () => {
      const memory = await watched?.read();
      if (memory === undefined) evicted.remove();
      else evicted.set(memory.evictedKeys);
    },
  );
  return (probe) => {
    watched = probe;
  };
};

/** The metric of the difference to the clock of Redis; absent until it has been measured. */
export const createClockMetrics = (
  registry: Registry,
): ((clock: Pick<RedisClock, 'offsetMs'>) => void) => {
  let watched: Pick<RedisClock, 'offsetMs'> | undefined;
  const offset: Gauge = gauge(
    registry,
    'clock_offset_seconds',
    'How far the clock of this process is ahead of that of Redis; negative when behind.',
    [],
    () => {
      const offsetMs = watched?.offsetMs();
      if (offsetMs === undefined) offset.remove();
      else offset.set(Math.round(offsetMs) / 1000);
    },
  );
  return (clock) => {
    watched = clock;
  };
};
