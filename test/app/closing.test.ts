/** What was opened is closed, the latest first, whatever happens on the way. */
import { describe, expect, it } from 'vitest';
import { createClosing } from '../../src/app/closing.ts';

const failing = async (): Promise<never> => {
  throw new Error('it does not close');
};

describe('what was opened', () => {
  it('is closed once, the latest first, by a stop that may be in a hurry', async () => {
    const { add, close } = createClosing();
    const closed: unknown[] = [];
    add(async (hurry) => void closed.push(['first', hurry?.aborted]));
    add(async (hurry) => void closed.push(['second', hurry?.aborted]));
    await close(AbortSignal.abort());
    await close();
    expect(closed).toEqual([
      ['second', true],
      ['first', true],
    ]);
  });

  it('is closed although something later does not close, whose error is told', async () => {
    const { add, close } = createClosing();
    let isClosed = false;
    add(async () => {
      isClosed = true;
    });
    add(failing);
    await expect(close()).rejects.toThrow('it does not close');
    expect(isClosed).toBe(true);
  });

  it('is closed in a hurry when something cannot open, whose error is told', async () => {
    const { add, orClose } = createClosing();
    let wasHurried: boolean | undefined;
    add(async (hurry) => {
      wasHurried = hurry?.aborted;
    });
    add(failing);
    const opening = orClose(async () => {
      throw new Error('it does not open');
    });
    await expect(opening).rejects.toThrow('it does not open');
    expect(wasHurried).toBe(true);
  });
});
