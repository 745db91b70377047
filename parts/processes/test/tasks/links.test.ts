import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTaskLinks } from '../../tasks/links.ts';

const links = createTaskLinks(randomBytes(32));
const link = { instance: 'abcdefghijkl-process--contract-4711.signer0.3', version: 1 };

describe('a link to the page of a signer', () => {
  it('gives back the signer and the version that it was made for', () => {
    expect(links.read(links.tokenFor(link))).toEqual(link);
  });

  it('can be written into an address, and does not show what it names', () => {
    const token = links.tokenFor(link);
    expect(token).toMatch(/^[\w-]{60,200}$/);
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('4711');
  });

  it('is read by nobody with another master key', () => {
    expect(createTaskLinks(randomBytes(32)).read(links.tokenFor(link))).toBeUndefined();
  });

  it('cannot be changed or guessed', () => {
    const token = links.tokenFor(link);
    const bytes = Buffer.from(token, 'base64url');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        expect(links.read(changed.toString('base64url'))).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(links.read(text)).toBeUndefined();
      }),
    );
    expect(links.read('a'.repeat(100_000))).toBeUndefined();
  });

  it('has a token for its forms, which fits no other link', () => {
    const token = links.formToken(link);
    expect(links.isFormToken(link, token)).toBe(true);
    for (const other of [
      { ...link, version: 2 },
      { ...link, instance: `${link.instance}0` },
    ]) {
      expect(links.isFormToken(other, token)).toBe(false);
    }
    expect(links.isFormToken(link, '')).toBe(false);
  });
});
