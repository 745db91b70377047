import { describe, expect, it } from 'vitest';
import { idTokenFailures } from '../../src/relying-party/failure.ts';
import { createJwksCache, type IdTokenResult, validateIdToken } from '../../src/relying-party/index.ts';
import { bindings, parties, times, types } from './bad-claims.ts';
import { form, headers, signatures } from './bad-form.ts';
import type { Row } from './bad-token.ts';
import { accessToken, cacheOf, clientId, forge, goodClaims, issuer, keySet, nonce, now } from './forge.ts';

const jwks = cacheOf(keySet);
const validate = (token: unknown, options: Row[3] = {}): Promise<IdTokenResult> =>
  // Callers without types send anything.
  validateIdToken(token as string, { issuer, clientId, jwks, nonce, now, ...options });

const groups: Readonly<Record<string, readonly Row[]>> = {
  form,
  headers,
  signatures,
  types,
  parties,
  times,
  bindings,
};
const rows = Object.values(groups).flat();

describe.each(Object.entries(groups))('a bad ID token (%s)', (_, group) => {
  for (const [name, token, reason, options] of group) {
    it(`is refused with ${name}`, async () => {
      expect(await validate(token, options)).toMatchObject({ ok: false, reason });
    });
  }
});

describe('a refusal', () => {
  it('comes before any fetch for a token that its header or its unproven claims give away', async () => {
    let fetches = 0;
    const counting = createJwksCache({
      jwksUri: `${issuer}/jwks.json`,
      fetch: async () => {
        fetches += 1;
        return Response.json(keySet);
      },
      now,
    });
    for (const [, token, , options] of [...form, ...headers, ...types, ...parties, ...times]) {
      expect(await validate(token, { ...options, jwks: counting })).toMatchObject({ ok: false });
    }
    expect(fetches).toBe(0);
    expect(await validate(forge(), { jwks: counting })).toMatchObject({ ok: true });
    expect(fetches).toBe(1);
  });

  it('holds no value of the token or of the caller', async () => {
    const values = [issuer, `"${clientId}`, nonce, accessToken, goodClaims.sub, 'evil', 'unheard-of'];
    for (const [, token, , options] of rows) {
      const text = JSON.stringify(await validate(token, options));
      for (const value of values) expect(text).not.toContain(value);
    }
  });

  it('is shown here for every reason but the one that needs a provider which is away', () => {
    const shown = new Set(rows.map(([, , reason]) => reason));
    expect(idTokenFailures.filter((reason) => !shown.has(reason))).toEqual(['keys-unavailable']);
  });
});
