import { describe, expect, it } from 'vitest';
import { createTurns } from '../../workers/fairness.ts';

const crowd = 'http://crowd.example';
const other = 'http://other.example';

/** Steps that end when they are told to. */
const stage = () => {
  let time = 0;
  const turns = createTurns(() => time);
  const running: { readonly apId: string; readonly end: () => void; readonly fail: () => void }[] =
    [];
  const results: Promise<unknown>[] = [];
  return {
    running,
    results,
    begin: (apId: string, count: number): void => {
      for (let index = 0; index < count; index += 1) {
        results.push(
          turns.run(
            apId,
            () =>
              new Promise<void>((resolve, reject) => {
                const leaveBy = (settle: () => void) => (): void => {
                  running.splice(running.indexOf(step), 1);
                  settle();
                };
                const step = {
                  apId,
                  end: leaveBy(resolve),
                  fail: leaveBy(() => reject(new Error('The step failed'))),
                };
                running.push(step);
              }),
          ),
        );
      }
    },
    countOf: (apId: string): number => running.filter((step) => step.apId === apId).length,
    pass: (ms: number): void => {
      time += ms;
    },
    /** Whatever has its turn now has begun. */
    settle: async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    },
  };
};

describe('the steps of a worker', () => {
  it('run all at once while only one application has some', async () => {
    const { begin, settle, countOf } = stage();
    begin(crowd, 50);
    await settle();
    expect(countOf(crowd)).toBe(50);
  });

  it('run eight of one application at a time while another has some, which has its turn at once', async () => {
    const { begin, settle, countOf, running, results } = stage();
    begin(other, 1);
    begin(crowd, 50);
    await settle();
    expect([countOf(crowd), countOf(other)]).toEqual([8, 1]);
    begin(other, 1);
    await settle();
    expect([countOf(crowd), countOf(other)]).toEqual([8, 2]);
    for (let ended = 0; ended < 52; ended += 1) {
      expect(countOf(crowd)).toBeLessThanOrEqual(8);
      running[0]?.end();
      await settle();
    }
    await Promise.all(results);
    expect(running).toEqual([]);
  });

  it('begin one after the other, of each application in turn, so that the process reads between two', async () => {
    const { begin, running, countOf, settle } = stage();
    begin(other, 1);
    begin(crowd, 4);
    begin(other, 2);
    const begun: string[] = [];
    for (let turn = 0; running.length < 7; turn += 1) {
      expect(turn).toBeLessThan(20);
      await new Promise(setImmediate);
      expect(running.length - begun.length).toBeLessThanOrEqual(1 + Number(turn === 0));
      begun.push(...running.slice(begun.length).map(({ apId }) => apId));
    }
    expect(begun).toEqual([other, crowd, other, crowd, other, crowd, crowd]);
    await settle();
    expect([countOf(crowd), countOf(other)]).toEqual([4, 3]);
  });

  it('free their turn when they fail', async () => {
    const { begin, settle, countOf, running, results } = stage();
    begin(other, 1);
    begin(crowd, 9);
    const failed = expect(results[1]).rejects.toThrow('The step failed');
    await settle();
    running.find(({ apId }) => apId === crowd)?.fail();
    await failed;
    await settle();
    expect(countOf(crowd)).toBe(8);
  });

  it('run all at once again when the other has had none for ten seconds', async () => {
    const { begin, settle, countOf, running, pass } = stage();
    begin(other, 1);
    running[0]?.end();
    begin(crowd, 50);
    await settle();
    expect(countOf(crowd)).toBe(8);
    pass(10_000);
    running[0]?.end();
    await settle();
    expect(countOf(crowd)).toBe(49);
  });
});
