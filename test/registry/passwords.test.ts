import { describe, expect, it } from 'vitest';
import {
  decoyPassword,
  hashPassword,
  parseStoredPassword,
  verifyPassword,
} from '../../src/registry/passwords.ts';

/** The least cost that is accepted: these tests are about correctness. */
const cheap = { ln: 10, r: 1, p: 1 };
const salt = 'AAAAAAAAAAAAAAAAAAAAAA';
const digest = 'A'.repeat(43);

describe('a stored password', () => {
  it('verifies its own password and no other', async () => {
    const stored = await hashPassword('correct horse', cheap);
    expect(await verifyPassword(stored, 'correct horse')).toBe(true);
    expect(await verifyPassword(stored, 'correct horse ')).toBe(false);
    expect(await verifyPassword(stored, '')).toBe(false);
  });

  it('says how it was made, and never the password', async () => {
    const stored = await hashPassword('secret', cheap);
    expect(stored).toMatch(/^\$scrypt\$ln=10,r=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(stored).not.toContain('secret');
  });

  it('differs every time, because of its salt', async () => {
    expect(await hashPassword('secret', cheap)).not.toBe(await hashPassword('secret', cheap));
  });

  it('by default costs 32 MiB and three passes', async () => {
    const stored = await hashPassword('secret');
    expect(parseStoredPassword(stored)?.cost).toEqual({ ln: 15, r: 8, p: 3 });
    expect(await verifyPassword(stored, 'secret')).toBe(true);
  });

  it('verifies the test vector of RFC 7914 section 12', async () => {
    // scrypt("pleaseletmein", "SodiumChloride", 16384, 8, 1), 64 bytes.
    const hex =
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
      'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
    const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$scrypt$ln=14,r=8,p=1$${unpadded(Buffer.from('SodiumChloride'))}$${unpadded(Buffer.from(hex, 'hex'))}`;
    expect(await verifyPassword(stored, 'pleaseletmein')).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['another scheme', `$argon2id$v=19$m=65536,t=2,p=1$${salt}$${digest}`],
    ['a plain password', 'secret'],
    ['a huge N', `$scrypt$ln=30,r=8,p=1$${salt}$${digest}`],
    ['an N and r that need too much memory together', `$scrypt$ln=17,r=16,p=1$${salt}$${digest}`],
    ['a trivial N', `$scrypt$ln=1,r=8,p=1$${salt}$${digest}`],
    ['a huge r', `$scrypt$ln=10,r=99,p=1$${salt}$${digest}`],
    ['r zero', `$scrypt$ln=10,r=0,p=1$${salt}$${digest}`],
    ['a huge p', `$scrypt$ln=10,r=8,p=99$${salt}$${digest}`],
    ['no salt', `$scrypt$ln=10,r=8,p=1$$${digest}`],
    ['a short hash', `$scrypt$ln=10,r=8,p=1$${salt}$AAAA`],
    ['an endless hash', `$scrypt$ln=10,r=8,p=1$${salt}$${'A'.repeat(5000)}`],
    ['a trailing line feed', `$scrypt$ln=10,r=8,p=1$${salt}$${digest}\n`],
  ])('with %s is refused before any work', async (_, stored) => {
    expect(parseStoredPassword(stored)).toBeUndefined();
    expect(await verifyPassword(stored, 'secret')).toBe(false);
  });

  it('is not made from an empty password or one over 1024 bytes', async () => {
    await expect(hashPassword('', cheap)).rejects.toThrow(RangeError);
    await expect(hashPassword('é'.repeat(513), cheap)).rejects.toThrow(RangeError);
    expect(await hashPassword('é'.repeat(512), cheap)).toMatch(/^\$scrypt/);
  });

  it('is not made at a cost that would be refused later', async () => {
    await expect(hashPassword('secret', { ln: 20, r: 8, p: 1 })).rejects.toThrow(RangeError);
  });

  it('has a decoy of the same cost', async () => {
    const stored = await hashPassword('secret', cheap);
    expect(parseStoredPassword(decoyPassword(stored))?.cost).toEqual(cheap);
    expect(await verifyPassword(decoyPassword(stored), 'secret')).toBe(false);
  });
});
