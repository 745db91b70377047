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

/** A check that never fails and only informs. @param look Gives the remark, if there is one. */
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

/** Fails while the authority is lost, because then nothing is accepted and nothing is signed. */
export const authorityCheck = (isLost: () => boolean): HealthCheck =>
  unless('authority', lostAuthority, () => !isLost());

/** Fails when Redis may evict keys, because each could be a transaction. */
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

/** Tells when events are not read: then synchronous answers come up to a second late. */
export const eventsCheck = (reading: () => boolean): HealthCheck =>
  remark('events', 'It is not known whether events are read', () =>
    reading() ? undefined : 'Events are not read: ends are told late',
  );

/**
 * Tells when the clock is wrong, and does not fail: deadlines use the clock of Redis, so nothing is
 * lost; and if that clock were wrong, all processes would leave the rotation at once.
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

/** Fails in a stopping process, which finishes its work and takes no new requests. */
export const stoppingCheck = (stopping: () => boolean): HealthCheck =>
  unless('running', 'The process is stopping', () => !stopping());

export const workersCheck = (running: () => boolean): HealthCheck =>
  unless('workers', 'The workers take no jobs', running);

/** Tells when the backlog is full. It does not fail: the load would go to processes as full. */
export const backlogCheck = (backlog: { size(): number }, limit: number): HealthCheck =>
  remark('backlog', 'The backlog is not known', () =>
    // The number would show how much a service is used. It is in /metrics, which needs a token.
    backlog.size() < limit ? undefined : 'Full: new requests are refused',
  );

export const keysCheck = (load: () => Promise<unknown>): HealthCheck =>
  passes('keys', 'The keys of the OpenID provider cannot be read', load);
