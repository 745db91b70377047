/** Tries to deliver callbacks, as they are counted. */
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createCallbackMetrics } from '../../src/telemetry/callback-metrics.ts';
import { readExposition } from './exposition.ts';

describe('callbacks', () => {
  it('are counted by how their tries went, from zero on, and told to the log', async () => {
    const registry = new Registry();
    const told: unknown[][] = [];
    const tell =
      (what: string) =>
      (...given: readonly unknown[]) =>
        void told.push([what, ...given]);
    const log = createCallbackMetrics(registry)({
      delivered: tell('delivered'),
      undelivered: tell('undelivered'),
      gaveUp: tell('gaveUp'),
    });
    const counted = async () => {
      const seen = readExposition(await registry.metrics());
      return ['delivered', 'undelivered', 'dead'].map((outcome) =>
        seen.valueOf('paraph_callbacks_total', { outcome }),
      );
    };
    expect(await counted()).toEqual([0, 0, 0]);
    log.undelivered('a', 1, 'HTTP 500');
    log.undelivered('a', 2, 'HTTP 500');
    log.gaveUp('a', 3, 'HTTP 500');
    log.delivered('b', 1, '204');
    expect(await counted()).toEqual([1, 2, 1]);
    expect(told.at(2)).toEqual(['gaveUp', 'a', 3, 'HTTP 500']);
    expect(told.map(([what]) => what)).toEqual(['undelivered', 'undelivered', 'gaveUp', 'delivered']);
  });
});
