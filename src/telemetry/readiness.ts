/**
 * What a process must have to do its work; for `/readyz`.
 */
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

/**
 * For information only: without the streams of events, synchronous callers hear of the end of their transaction up to a second
 * late, which is no reason to refuse them.
 */
export const eventsCheck = (reading: () => boolean): HealthCheck => ({
  name: 'events',
  trouble: 'It is not known whether events are read',
  look: async () =>
    reading() ? { ok: true } : { ok: true, reason: 'Events are not read: ends are told late' },
});

/**
 * For information only: deadlines go by the clock of Redis, so nothing is lost; and when it is that clock that is wrong, all
 * processes would be out of rotation at once.
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

/** @param trouble What is said unless it is so. */
const unless = (name: string, trouble: string, isSo: () => boolean): HealthCheck => ({
  name,
  trouble,
  look: async () => (isSo() ? { ok: true } : { ok: false, reason: trouble }),
});

/** A process that has been told to stop finishes what it has and wants nothing new. */
export const stoppingCheck = (stopping: () => boolean): HealthCheck =>
  unless('running', 'The process is stopping', () => !stopping());

export const workersCheck = (running: () => boolean): HealthCheck =>
  unless('workers', 'The workers take no jobs', running);

/** For information only: a process out of rotation would hand its load to others, which are as full. */
export const backlogCheck = (backlog: { size(): number }, limit: number): HealthCheck => ({
  name: 'backlog',
  trouble: 'The backlog is not known',
  look: async () => {
    const size = backlog.size();
    return { ok: true, reason: size < limit ? `${size} waiting` : `Full: ${size} waiting` };
  },
});

/** Keys that cannot be read cannot sign, whatever else works. */
export const keysCheck = (load: () => Promise<unknown>): HealthCheck =>
  passes('keys', 'The keys of the OpenID provider cannot be read', load);
