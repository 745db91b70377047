import { Gauge, type Registry } from 'prom-client';
import type { RedisClock } from '../redis/clock.ts';
import { prefix } from './registry.ts';

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
