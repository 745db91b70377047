/** Workers that cannot start leave nothing open. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { parts } from '../../parts/parts.ts';
import { startWorkerSide } from '../../src/app/worker-side.ts';
import { definePart, type Part } from '../../src/part/part.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();

const refuses = async (): Promise<never> => {
  throw new Error('not like this');
};

describe('workers of which a part cannot', () => {
  it.each(['openDevices', 'openWork', 'startWorkers'] as const)(
    'do its %s close what the parts before it have opened',
    async (step) => {
      const closed: string[] = [];
      const close = (what: string) => async (): Promise<void> => void closed.push(what);
      const opening = definePart({
        name: 'opening',
        openDevices: async () => ({ make: () => undefined, close: close('devices') }),
        startWorkers: async () => ({ close: close('workers') }),
      });
      const refusing: Part = definePart({ name: 'refusing', [step]: refuses });
      const product = await startTestProduct(redis, {
        workers: false,
        parts: [...parts, opening, refusing],
      });
      onTestFinished(product.stop);
      await expect(startWorkerSide(product.core)).rejects.toThrow('not like this');
      expect(closed).toEqual(step === 'startWorkers' ? ['workers', 'devices'] : ['devices']);
    },
  );
});
