/**
 * Health for machines. `/livez` says that the process answers, and looks at nothing else: who restarts a process because
 * Redis is away has two things that are away. `/readyz` says whether it can do its work, look by look, and why not.
 *
 * Anybody may ask. So a reason is one of our own sentences, never an error's: those name addresses.
 */
import { setTimeout } from 'node:timers/promises';
import { Hono } from 'hono';

export interface HealthCheck {
  readonly name: string;
  /** Resolves with what is to be said, if anything. @throws When the check has failed in a way that is not known better. */
  readonly look: () => Promise<Finding>;
  /** What is said when the look throws. */
  readonly trouble: string;
}

/** `ok: true` with a reason is for information: it changes nothing. */
export interface Finding {
  readonly ok: boolean;
  readonly reason?: string;
}

interface CheckResult extends Finding {
  readonly name: string;
  readonly ms: number;
}

const fine: Finding = { ok: true };
const tooLate: Finding = { ok: false, reason: 'No answer in time' };

/** Longer than a command to Redis may take, shorter than whoever asks will wait. */
const patienceMs = 1500;

const resultOf = async ({ name, look, trouble }: HealthCheck): Promise<CheckResult> => {
  const since = performance.now();
  const finding = await Promise.race([
    look().catch((): Finding => ({ ok: false, reason: trouble })),
    setTimeout(patienceMs, tooLate, { ref: false }),
  ]);
  return { name, ...finding, ms: Math.round(performance.now() - since) };
};

/** A check that passes unless it throws. */
export const passes = (name: string, trouble: string, look: () => Promise<unknown>): HealthCheck => ({
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
    const results = await Promise.all(checks.map(resultOf));
    const failed = results.filter(({ ok }) => !ok);
    if (failed.length === 0) return c.json({ status: 'ready', checks: results });
    const reasons = failed.map(({ name, reason }) => reason ?? name);
    return c.json({ status: 'unavailable', reasons, checks: results }, 503);
  });
  return routes;
};
