/** Circuit breakers of upstreams, as the workers tell of them. */
import { Gauge, type Registry } from 'prom-client';
import type { UpstreamLog } from '../../workers/log.ts';
import { prefix } from './registry.ts';

/** @returns A log that shows what it is told, and tells it to the inner one. */
export const createUpstreamMetrics = (registry: Registry): ((inner: UpstreamLog) => UpstreamLog) => {
  const down = new Gauge({
    name: `${prefix}upstream_down`,
    help: '1 while the circuit breaker of an upstream keeps jobs from it, 0 since it is back; absent before.',
    labelNames: ['upstream'] as const,
    registers: [registry],
  });
  return (inner) => ({
    down: (upstream) => {
      down.set({ upstream }, 1);
      inner.down(upstream);
    },
    back: (upstream) => {
      down.set({ upstream }, 0);
      inner.back(upstream);
    },
  });
};
