import { describe, expect, it } from 'vitest';
import { idTokenFailures } from '../src/failure.ts';
import {
  createJwksCache,
  type IdTokenResult,
  type ValidateIdTokenOptions,
  validateIdToken,
} from '../src/index.ts';
import * as groups from './bad-tokens.ts';
import {
  accessToken,
  cacheOf,
  clientId,
  forge,
  goodClaims,
  issuer,
  keySet,
  nonce,
  now,
} from './forge.ts';

const jwks = cacheOf(keySet);
const validate = (
  token: unknown,
  options: Partial<ValidateIdTokenOptions> = {},
): Promise<IdTokenResult> =>
  // Callers without types send anything.
  validateIdToken(token as string, { issuer, clientId, jwks, nonce, now, ...options });

type Group = (typeof groups)[keyof typeof groups];
const rowsOf = (group: Group) =>
  Object.entries(group).flatMap(([reason, rows]) => rows.map((row) => [reason, ...row] as const));
const rows = Object.values(groups).flatMap(rowsOf);

describe.each(Object.entries(groups))('a bad ID token (%s)', (_, group) => {
  for (const [reason, name, token, options] of rowsOf(group)) {
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
    const { form, headers, types, parties, times } = groups;
    for (const [, , token, options] of [form, headers, types, parties, times].flatMap(rowsOf)) {
      expect(await validate(token, { ...options, jwks: counting })).toMatchObject({ ok: false });
    }
    expect(fetches).toBe(0);
    expect(await validate(forge(), { jwks: counting })).toMatchObject({ ok: true });
    expect(fetches).toBe(1);
  });

  it('holds no value of the token or of the caller', async () => {
    const values = [
      issuer,
      `"${clientId}`,
      nonce,
      accessToken,
      goodClaims.sub,
      'evil',
      'unheard-of',
    ];
    for (const [, , token, options] of rows) {
      const text = JSON.stringify(await validate(token, options));
      for (const value of values) expect(text).not.toContain(value);
    }
  });

  it('is shown here for every reason but the one that needs a provider which is away', () => {
    const shown = new Set(rows.map(([reason]) => reason));
    expect(idTokenFailures.filter((reason) => !shown.has(reason))).toEqual(['keys-unavailable']);
  });
});
