/**
 * Connections to Redis: up or not, how often they had to come back, and how long commands take.
 *
 * Commands are the hottest path there is, so one in {@link every} is timed and the others cost an increment. Commands
 * that were given up are counted where somebody heard of it (event-metrics.ts).
 */
import type { Command } from 'ioredis';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RedisClock } from '../redis/clock.ts';
import { prefix } from './registry.ts';

/** A power of two. */
const every = 64;

const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** As much of a connection as is watched; one node or a cluster. */
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
  const up = new Gauge({
    name: `${prefix}redis_up`,
    help: '1 while the connection can be used.',
    labelNames: ['connection'] as const,
    registers: [registry],
    collect: () => {
      for (const [connection, { status }] of watched) up.set({ connection }, status === 'ready' ? 1 : 0);
    },
  });
  const reconnects = new Counter({
    name: `${prefix}redis_reconnects_total`,
    help: 'Attempts to connect again.',
    labelNames: ['connection'] as const,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: `${prefix}redis_command_duration_seconds`,
    help: `Commands, one in ${every}, from when they were issued to their answer.`,
    labelNames: ['connection'] as const,
    buckets,
    registers: [registry],
  });
  return (connection, client) => {
    watched.set(connection, client);
    reconnects.inc({ connection }, 0);
    client.on('reconnecting', () => reconnects.inc({ connection }));
    const send = client.sendCommand.bind(client);
    let sent = 0;
    client.sendCommand = (command, ...more) => {
      sent = (sent + 1) % every;
      // The first of each round, so that a quiet process has something to show as well.
      if (sent !== 1) return send(command, ...more);
      const since = performance.now();
      const answered = (): void => seconds.observe({ connection }, (performance.now() - since) / 1000);
      command.promise.then(answered, answered);
      return send(command, ...more);
    };
  };
};

/** By how much the clock of the process differs from that of Redis. Absent until it has been measured. */
export const createClockMetrics = (registry: Registry): ((clock: Pick<RedisClock, 'offsetMs'>) => void) => {
  let watched: Pick<RedisClock, 'offsetMs'> | undefined;
  const offset: Gauge = new Gauge({
    name: `${prefix}clock_offset_seconds`,
    help: 'By how much the clock of this process is ahead of that of Redis; negative when it is behind.',
    registers: [registry],
    collect: () => {
      const offsetMs = watched?.offsetMs();
      if (offsetMs === undefined) offset.remove();
      else offset.set(Math.round(offsetMs) / 1000);
    },
  });
  return (clock) => {
    watched = clock;
  };
};
