/**
 * Health for machines. `/livez` says that the process answers; `/readyz` that it can do its work, and if not, why.
 */
import { Hono } from 'hono';

export const createHealthRoutes = (ready: () => Promise<void>): Hono => {
  const routes = new Hono();
  routes.get('/livez', (c) => c.json({ status: 'alive' }));
  routes.get('/readyz', async (c) => {
    try {
      await ready();
      return c.json({ status: 'ready' });
    } catch {
      return c.json({ status: 'unavailable', reasons: ['Redis does not answer'] }, 503);
    }
  });
  return routes;
};
