/**
 * Health for machines. `/livez` says that the process answers and checks nothing else: restarting a
 * process because Redis is away helps nobody. `/readyz` says whether the process can work, check by
 * check, with reasons.
 *
 * Anyone may ask. So reasons are our own sentences, never those of errors, which name addresses.
 */
import { setTimeout } from 'node:timers/promises';
import { Hono } from 'hono';

export interface HealthCheck {
  readonly name: string;
  /** @throws When the check fails for another reason; then `trouble` is the reason. */
  readonly look: () => Promise<Finding>;
  readonly trouble: string;
}

/** `ok: true` with a reason is for information and changes nothing. */
export interface Finding {
  readonly ok: boolean;
  readonly reason?: string;
}

const fine: Finding = { ok: true };
const tooLate: Finding = { ok: false, reason: 'No answer in time' };

/** Longer than a command to Redis may take, shorter than usual health checks wait. */
const timeoutMs = 1500;

const runCheck = async ({ name, look, trouble }: HealthCheck) => {
  const since = performance.now();
  const finding = await Promise.race([
    look().catch((): Finding => ({ ok: false, reason: trouble })),
    setTimeout(timeoutMs, tooLate, { ref: false }),
  ]);
  return { name, ...finding, ms: Math.round(performance.now() - since) };
};

/** A check that passes unless it throws. */
export const passes = (
  name: string,
  trouble: string,
  look: () => Promise<unknown>,
): HealthCheck => ({
  name,
  trouble,
  look: async () => {
    await look();
    return fine;
  },
});

/** @param checks Those that make up readiness. */
export const createHealthRoutes = (checks: readonly HealthCheck[]): Hono => {
  const routes = new Hono();
  routes.get('/livez', (c) => c.json({ status: 'alive' }));
  routes.get('/readyz', async (c) => {
    const results = await Promise.all(checks.map(runCheck));
    const failed = results.filter(({ ok }) => !ok);
    if (failed.length === 0) return c.json({ status: 'ready', checks: results });
    const reasons = failed.map(({ name, reason }) => reason ?? name);
    return c.json({ status: 'unavailable', reasons, checks: results }, 503);
  });
  return routes;
};
