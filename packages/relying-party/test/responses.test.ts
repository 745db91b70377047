/** State, issuer and scopes of the answers to a login (interface section 5.4). */
import { describe, expect, it } from 'vitest';
import { checkGrantedScope, readAuthorizationResponse } from '../src/index.ts';

const expected = { state: 'the-state', issuer: 'https://sign.example.com/oidc' };
const iss = encodeURIComponent(expected.issuer);
const evil = 'https://evil.example';
const refused = (why: string) => ({ kind: 'refused', why });

describe('an authorisation response', () => {
  it.each([
    ['a code', `state=the-state&iss=${iss}&code=abc`, { kind: 'code', code: 'abc' }],
    [
      'an error',
      `state=the-state&iss=${iss}&error=access_denied&error_description=no`,
      { kind: 'error', error: 'access_denied', description: 'no' },
    ],
    ['another state', `state=other&iss=${iss}&code=abc`, refused('state')],
    ['no state', `iss=${iss}&code=abc`, refused('state')],
    ['another issuer', `state=the-state&iss=${evil}&code=abc`, refused('issuer')],
    ['no issuer', 'state=the-state&code=abc', refused('issuer')],
    ['a parameter twice', `state=the-state&iss=${iss}&code=a&code=b`, refused('malformed')],
    ['neither code nor error', `state=the-state&iss=${iss}`, refused('malformed')],
  ])('is judged: %s', (_words, query, verdict) => {
    expect(readAuthorizationResponse(new URLSearchParams(query), expected)).toEqual(verdict);
  });

  it('may come without iss from a provider that sends none, and never with another one', () => {
    const read = (query: string) =>
      readAuthorizationResponse(new URLSearchParams(query), { ...expected, issuerOptional: true });
    expect(read('state=the-state&code=abc')).toEqual({ kind: 'code', code: 'abc' });
    expect(read(`state=the-state&iss=${evil}&code=abc`)).toEqual(refused('issuer'));
  });

  it.each(['state', 'issuer'])(
    'is not compared with an empty %s, which a link could have',
    (name) => {
      const read = () =>
        readAuthorizationResponse(new URLSearchParams('code=a'), { ...expected, [name]: '' });
      expect(read).toThrow(new TypeError(`${name} must be a string with content`));
    },
  );
});

describe('the scopes of a token response', () => {
  it.each([
    ['the same', 'openid phone', true, [], []],
    ['the same in another order', 'phone openid', true, [], []],
    ['fewer', 'openid', false, ['phone'], []],
    ['more', 'openid phone mid_cms', false, [], ['mid_cms']],
    ['none', '', false, ['openid', 'phone'], []],
    ['no text', ['openid', 'phone'], false, ['openid', 'phone'], []],
    ['nothing about them', undefined, true, [], []],
  ])('are compared with those asked for: %s', (_words, scope, ok, missing, unexpected) => {
    const response = scope === undefined ? {} : { scope };
    expect(checkGrantedScope(response, 'openid phone')).toMatchObject({ ok, missing, unexpected });
  });
});
