/**
 * A good token has exactly one spelling: whatever is changed about its text, it is no longer
 * accepted. That includes the changes which a lenient decoder does not see.
 */
import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateIdToken } from '../src/index.ts';
import { cacheOf, clientId, forge, issuer, keySet, nonce, now } from './forge.ts';

const jwks = cacheOf(keySet);
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const isAccepted = async (token: string): Promise<boolean> =>
  (await validateIdToken(token, { issuer, clientId, jwks, nonce, now, algorithms })).ok;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const tokens = new Map(algorithms.map((algorithm) => [algorithm, forge({ algorithm })]));
const tokenOf = (algorithm: string): string => tokens.get(algorithm) ?? '';

describe.each(algorithms)('a good token with %s', (algorithm) => {
  const token = tokenOf(algorithm);

  it('is accepted as it stands', async () => {
    expect(await isAccepted(token)).toBe(true);
  });

  it('is refused when any character is another one', async () => {
    const anyCharacter = fc.oneof(
      fc.constantFrom(...alphabet, '.', '=', '+', '/', ' ', '\n'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const change = fc.tuple(fc.nat(token.length - 1), anyCharacter);
    await fc.assert(
      fc.asyncProperty(change, async ([at, character]) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        fc.pre(changed !== token);
        expect(await isAccepted(changed)).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  it('is refused when any bit of any segment is another one', async () => {
    const change = fc.tuple(fc.nat(2), fc.nat(), fc.nat(7));
    await fc.assert(
      fc.asyncProperty(change, async ([segment, place, bit]) => {
        const segments = token.split('.').map((each) => Buffer.from(each, 'base64url'));
        const bytes = segments[segment] ?? Buffer.alloc(1);
        const at = place % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
        expect(await isAccepted(segments.map((each) => each.toString('base64url')).join('.'))).toBe(
          false,
        );
      }),
      { numRuns: 400 },
    );
  });

  it('is refused when a segment ends in any other character', async () => {
    const segments = token.split('.');
    for (const [index, segment] of segments.entries()) {
      for (const character of alphabet) {
        const changed = segments.with(index, segment.slice(0, -1) + character).join('.');
        expect(await isAccepted(changed)).toBe(changed === token);
      }
    }
  });

  it('is refused when something is cut off or added anywhere', async () => {
    const cut = fc.tuple(fc.nat(token.length), fc.nat(4), fc.string({ maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(cut, async ([at, length, added]) => {
        const changed = token.slice(0, at) + added + token.slice(at + length);
        fc.pre(changed !== token);
        expect(await isAccepted(changed)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the validation', () => {
  it('answers with a result for any text, and for any claims and header that were signed', async () => {
    const anything = fc.oneof(
      fc.string().map((text): unknown => text),
      fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()).map(([header, claims]) =>
        forge({
          header: { ...header, alg: 'RS256', kid: 'rsa' },
          rawClaims: JSON.stringify(claims),
        }),
      ),
      fc
        .record(
          {
            iss: fc.jsonValue(),
            sub: fc.jsonValue(),
            aud: fc.jsonValue(),
            exp: fc.jsonValue(),
            events: fc.jsonValue(),
          },
          { requiredKeys: [] },
        )
        .map((claims) => forge({ claims })),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (token) => {
        const result = await validateIdToken(token as string, {
          issuer,
          clientId,
          jwks,
          nonce,
          now,
        });
        expect(typeof result.ok).toBe('boolean');
      }),
      { numRuns: 300 },
    );
  });
});
