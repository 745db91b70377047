import { beforeAll, describe, expect, it } from 'vitest';
import { createPasswordVerifier } from '../../src/registry/password-verifier.ts';
import { hashPassword } from '../../src/registry/passwords.ts';

const cheap = { ln: 10, r: 1, p: 1 };
let stored: string;
let other: string;
beforeAll(async () => {
  [stored, other] = await Promise.all([
    hashPassword('secret', cheap),
    hashPassword('secret', cheap),
  ]);
});

/**
 * A verifier that has no room for any computation but the first: what it still answers, it
 * remembers. Two different wrong passwords fill it: one runs, one would have to wait.
 */
const withoutRoom = () => createPasswordVerifier({ maxConcurrent: 1, maxWaitingPerLane: 0 });

describe('the password verifier', () => {
  it('tells right from wrong', async () => {
    const { verify } = createPasswordVerifier();
    expect(await verify(stored, 'secret')).toBe('right');
    expect(await verify(stored, 'Secret')).toBe('wrong');
    expect(await verify(stored, '')).toBe('wrong');
    expect(await verify('not a stored password', 'secret')).toBe('wrong');
  });

  it('remembers what was right, even while every place is taken', async () => {
    const { verify } = withoutRoom();
    expect(await verify(stored, 'secret')).toBe('right');
    const taken = verify(stored, 'guess 1');
    expect(await verify(stored, 'guess 2')).toBe('busy');
    expect(await verify(stored, 'secret')).toBe('right');
    expect(await taken).toBe('wrong');
  });

  it('does not remember what was wrong, nor a right password for another stored form', async () => {
    const { verify } = withoutRoom();
    await verify(stored, 'secret');
    await verify(stored, 'guess');
    const taken = [verify(stored, 'guess 1'), verify(other, 'guess 1')];
    expect(await verify(stored, 'guess')).toBe('busy');
    expect(await verify(other, 'secret')).toBe('busy');
    await Promise.all(taken);
  });

  it('forgets the least recently used beyond its bound', async () => {
    const { verify } = createPasswordVerifier({
      maxConcurrent: 1,
      maxWaitingPerLane: 0,
      maxRemembered: 1,
    });
    await verify(stored, 'secret');
    await verify(other, 'secret');
    const taken = [verify(stored, 'guess'), verify(other, 'guess')];
    expect(await verify(other, 'secret')).toBe('right');
    expect(await verify(stored, 'secret')).toBe('busy');
    await Promise.all(taken);
  });

  it('says at once what needs no computation, so that nobody waits for it', async () => {
    const { verify } = withoutRoom();
    expect(verify(stored, '')).toBe('wrong');
    await verify(stored, 'secret');
    const taken = verify(other, 'guess 1');
    expect(taken).toBeInstanceOf(Promise);
    expect(verify(stored, 'secret')).toBe('right');
    expect(verify(other, 'guess 2')).toBe('busy');
    await taken;
  });

  it('lets few wait in all lanes together', async () => {
    const { verify } = createPasswordVerifier({ maxConcurrent: 1, maxWaiting: 3 });
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        verify(stored, 'guess', `lane ${index}`, `from ${index}`),
      ),
    );
    expect(verdicts).toEqual(Array(20).fill('wrong'));
    const guesses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => verify(stored, `guess ${index}`, `lane ${index}`)),
    );
    expect(guesses.filter((verdict) => verdict === 'busy')).toHaveLength(16);
  });

  it('computes the same pair once, however many ask at the same time', async () => {
    const { verify } = withoutRoom();
    const answers = await Promise.all(Array.from({ length: 100 }, () => verify(stored, 'secret')));
    expect(new Set(answers)).toEqual(new Set(['right']));
  });

  it('keeps a flood against one stored form away from another', async () => {
    const { verify } = createPasswordVerifier({ maxConcurrent: 1, maxWaitingPerLane: 2 });
    const flood = Array.from({ length: 20 }, (_, index) => verify(stored, `guess ${index}`));
    expect(await verify(other, 'secret')).toBe('right');
    const answers = await Promise.all(flood);
    expect(answers.filter((answer) => answer === 'wrong')).toHaveLength(3);
    expect(answers.filter((answer) => answer === 'busy')).toHaveLength(17);
  });

  it('has those wait behind each other whose lane is the same', async () => {
    const { verify } = withoutRoom();
    const taken = verify(stored, 'guess', 'lane');
    expect(await verify(other, 'guess', 'lane')).toBe('busy');
    const elsewhere = verify(other, 'guess', 'other lane');
    expect(await Promise.all([taken, elsewhere])).toEqual(['wrong', 'wrong']);
  });

  it('refuses an overlong password without asking for a place', async () => {
    const { verify } = withoutRoom();
    const taken = verify(stored, 'guess');
    expect(await verify(stored, 'x'.repeat(1025))).toBe('wrong');
    await taken;
  });
});
