/** Guessing passwords, and whose passwords there are to guess. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createPasswordVerifier } from '../../src/registry/password-verifier.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import { testRedis } from '../support/redis.ts';
import { admin, type Stage, startStage } from './stage.ts';

const test = testRedis();
const redis = test.client();
const password = 'correct horse battery';
let prefix = '';
let stage: Stage;
let count = 0;

beforeEach(() => {
  prefix = `${test.prefix}-${++count}`;
  stage = startStage(redis, prefix);
});

const logIn = (name: string, given: string) =>
  stage.operators.logInByPassword({ name, password: given, address: { caller: '192.0.2.7' } });

describe('a login by password', () => {
  describe('that fails', () => {
    const few = (requests: number) => ({ requests, perSeconds: 86_400 });
    const tryFrom = async (from: string, name: string, given = 'wrong but long') =>
      (await stage.operators.logInByPassword({ name, password: given, address: { caller: from } })).kind;

    beforeEach(async () => {
      const logins = { perAddress: few(5), perNameAndAddress: few(2), perName: few(4) };
      // A cheap one, and decoys cost as much.
      const passwordHash = await hashPassword(password, { ln: 10, r: 1, p: 1 });
      stage = startStage(redis, prefix, { logins, users: [{ name: 'vera', role: 'viewer', passwordHash }] });
    });

    it('counts for the name from this address, then for the address', async () => {
      const kinds = [];
      for (const name of ['vera', 'vera', 'vera', 'nora', 'otto', 'paul', 'rosa']) {
        kinds.push(await tryFrom('192.0.2.1', name));
      }
      const refused = ['refused', 'refused', 'refused'];
      expect(kinds).toEqual(['refused', 'refused', 'too-many', ...refused, 'too-many']);
      expect(await tryFrom('192.0.2.1', 'vera', password)).toBe('too-many');
      expect(await tryFrom('192.0.2.2', 'vera', password)).toBe('in');
    });

    it('counts for the name from all addresses, and no further than an address may', async () => {
      const kinds = [];
      for (const from of ['1', '1', '1', '1', '2', '2', '2', '3']) kinds.push(await tryFrom(from, 'vera'));
      expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(4);
      expect(await tryFrom('4', 'vera', password)).toBe('too-many');
      expect(await tryFrom('4', 'nora')).toBe('refused');
    });

    it('counts also when many are made at once', async () => {
      const kinds = await Promise.all(
        Array.from({ length: 12 }, (_, each) => tryFrom('192.0.2.1', 'vera', `wrong but long ${each}`)),
      );
      expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(2);
    });

    it('is the only one that counts', async () => {
      for (let each = 0; each < 7; each += 1) expect(await tryFrom('192.0.2.1', 'vera', password)).toBe('in');
    });
  });

  it('is compared with something of its own, and waits in the lane of its name, whether there is such a user or not', async () => {
    const asked: { readonly stored: string; readonly lane: string | undefined }[] = [];
    const verifier = createPasswordVerifier();
    const passwordHash = await hashPassword(password, { ln: 10, r: 1, p: 1 });
    const users = [{ name: 'cheap', role: 'viewer', passwordHash } as const];
    stage = startStage(redis, prefix, { users }, stage.serviceKey, {
      verify: (stored, given, lane) => {
        asked.push({ stored, lane });
        return verifier.verify(stored, given, lane);
      },
    });
    for (const name of ['vera', 'vera', 'nora']) await logIn(name, 'wrong but long');
    await stage.operators.users.add(admin, { name: 'vera', role: 'viewer', password });
    await logIn('vera', 'wrong but long');
    const [first, second, other, known] = asked;
    expect(second).toEqual(first);
    expect(other?.stored).not.toBe(first?.stored);
    expect(known?.stored).not.toBe(first?.stored);
    expect(known?.lane).toBe(first?.lane);
    // Anybody may try names, so there are not as many lanes as names.
    expect(Number(known?.lane)).toBeLessThan(64);
  });
});
