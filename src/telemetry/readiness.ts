/** The checks of `/readyz`. */
import { type HealthCheck, passes } from '../http/health.route.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisProbe } from './redis-probe.ts';

export const redisCheck = (probe: RedisProbe): HealthCheck => ({
  name: 'redis',
  trouble: 'Redis takes no writes',
  look: async () => {
    const trouble = await probe.look();
    return trouble === undefined ? { ok: true } : { ok: false, reason: trouble.says };
  },
});

/** For information only: without events, synchronous answers come up to a second late. */
export const eventsCheck = (reading: () => boolean): HealthCheck => ({
  name: 'events',
  trouble: 'It is not known whether events are read',
  look: async () =>
    reading() ? { ok: true } : { ok: true, reason: 'Events are not read: ends are told late' },
});

/**
 * For information only: deadlines use the clock of Redis, so nothing is lost. And when that clock
 * is wrong, all processes would leave the rotation at once.
 */
export const clockCheck = (
  { offsetMs }: Pick<RedisClock, 'offsetMs'>,
  toleratedOffsetMs: number,
): HealthCheck => ({
  name: 'clock',
  trouble: 'The clock has not been compared with that of Redis',
  look: async () => {
    const offset = offsetMs() ?? 0;
    if (Math.abs(offset) <= toleratedOffsetMs) return { ok: true };
    const seconds = (Math.abs(offset) / 1000).toFixed(1);
    return {
      ok: true,
      reason: `The clock is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} that of Redis`,
    };
  },
});

/** @param trouble The reason when `isSo` is false. */
const unless = (name: string, trouble: string, isSo: () => boolean): HealthCheck => ({
  name,
  trouble,
  look: async () => (isSo() ? { ok: true } : { ok: false, reason: trouble }),
});

/** A stopping process finishes its work and wants no new requests. */
export const stoppingCheck = (stopping: () => boolean): HealthCheck =>
  unless('running', 'The process is stopping', () => !stopping());

export const workersCheck = (running: () => boolean): HealthCheck =>
  unless('workers', 'The workers take no jobs', running);

/** For information only: without this process, others would get its load, and they are as full. */
export const backlogCheck = (backlog: { size(): number }, limit: number): HealthCheck => ({
  name: 'backlog',
  trouble: 'The backlog is not known',
  look: async () => {
    const size = backlog.size();
    return { ok: true, reason: size < limit ? `${size} waiting` : `Full: ${size} waiting` };
  },
});

export const keysCheck = (load: () => Promise<unknown>): HealthCheck =>
  passes('keys', 'The keys of the OpenID provider cannot be read', load);
