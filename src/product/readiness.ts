/** The checks of `/readyz`. */
import type { RedisClock } from '../../packages/engine/src/redis/clock.ts';
import { type Finding, type HealthCheck, passes } from '../http/health.route.ts';
import type { RedisMemoryProbe } from '../telemetry/redis-memory.ts';
import type { RedisProbe } from '../telemetry/redis-probe.ts';

const lostAuthority =
  'Redis has lost the certificate authority of this service: its data is gone, or it is another Redis';
const mayRemove = 'Redis may remove what was accepted: its maxmemory-policy must be noeviction';

/** @param trouble The reason when `look` throws. */
const check = (
  name: string,
  trouble: string,
  look: () => Finding | Promise<Finding>,
): HealthCheck => ({
  name,
  trouble,
  look: async () => look(),
});

/** For information only: it never fails. @param look Says what there is to say. */
const remark = (name: string, trouble: string, look: () => string | undefined): HealthCheck =>
  check(name, trouble, () => {
    const reason = look();
    return { ok: true, ...(reason !== undefined && { reason }) };
  });

/** @param trouble The reason when `isSo` is false. */
const unless = (name: string, trouble: string, isSo: () => boolean): HealthCheck =>
  check(name, trouble, () => (isSo() ? { ok: true } : { ok: false, reason: trouble }));

export const redisCheck = (probe: RedisProbe): HealthCheck =>
  check('redis', 'Redis takes no writes', async () => {
    const error = await probe.look();
    return error === undefined ? { ok: true } : { ok: false, reason: error.says };
  });

/** Nothing is accepted and nothing is signed while it is lost. */
export const authorityCheck = (isLost: () => boolean): HealthCheck =>
  unless('authority', lostAuthority, () => !isLost());

/** What is evicted is a lost transaction. Without a limit of memory nothing is. */
export const memoryCheck = ({ read }: RedisMemoryProbe): HealthCheck =>
  check('memory', 'It is not known whether Redis removes keys', async () => {
    const memory = await read();
    if (memory === undefined)
      return { ok: true, reason: 'It is not known whether Redis removes keys' };
    const { mayEvict, evictedKeys } = memory;
    if (mayEvict) return { ok: false, reason: mayRemove };
    if (evictedKeys === 0) return { ok: true };
    return {
      ok: true,
      reason: `Redis has removed ${evictedKeys} keys to free memory: what was accepted may be lost`,
    };
  });

/** Without events, synchronous answers come up to a second late. */
export const eventsCheck = (reading: () => boolean): HealthCheck =>
  remark('events', 'It is not known whether events are read', () =>
    reading() ? undefined : 'Events are not read: ends are told late',
  );

/**
 * Deadlines use the clock of Redis, so nothing is lost. And when that clock is wrong, all processes
 * would leave the rotation at once.
 */
export const clockCheck = (
  { offsetMs }: Pick<RedisClock, 'offsetMs'>,
  toleratedOffsetMs: number,
): HealthCheck =>
  remark('clock', 'The clock has not been compared with that of Redis', () => {
    const offset = offsetMs() ?? 0;
    if (Math.abs(offset) <= toleratedOffsetMs) return undefined;
    const seconds = (Math.abs(offset) / 1000).toFixed(1);
    const side = offset > 0 ? 'ahead of' : 'behind';
    return `The clock is ${seconds} s ${side} that of Redis`;
  });

/** A stopping process finishes its work and wants no new requests. */
export const stoppingCheck = (stopping: () => boolean): HealthCheck =>
  unless('running', 'The process is stopping', () => !stopping());

export const workersCheck = (running: () => boolean): HealthCheck =>
  unless('workers', 'The workers take no jobs', running);

/** Without this process, others would get its load, and they are as full. */
export const backlogCheck = (backlog: { size(): number }, limit: number): HealthCheck =>
  remark('backlog', 'The backlog is not known', () =>
    // Without the number, which says how much a service is used: it is in /metrics, with a token.
    backlog.size() < limit ? undefined : 'Full: new requests are refused',
  );

export const keysCheck = (load: () => Promise<unknown>): HealthCheck =>
  passes('keys', 'The keys of the OpenID provider cannot be read', load);
