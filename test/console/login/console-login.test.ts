/**
 * What the console believes of its provider: here one that answers whatever a test says, with a
 * good signature.
 */
import { createHash, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClientKey } from '../../../src/console/login/client-key.ts';
import { type ConsoleLogin, createConsoleLogin } from '../../../src/console/login/console-login.ts';
import { problemIn } from '../../../src/console/login/login-problem.ts';
import { createSubjects } from '../../../src/console/login/subjects.ts';
import { errorCodes } from '../../../src/oauth/error-codes.ts';

const issuer = 'https://sign.example/oidc';
const accessToken = 'an-access-token';
const start = 1_800_000_000_000;
const serviceKey = randomBytes(32);

let signer: Awaited<ReturnType<typeof generateKeyPair>>;
let jwks: object;
let now = start;
let troubles: Error[] = [];
let sent: Record<string, URLSearchParams> = {};
let claims: JWTPayload = {};
let tokenAnswer: (() => Promise<Response>) | undefined;
let pushAnswer: (() => Promise<Response>) | undefined;

beforeAll(async () => {
  signer = await generateKeyPair('RS256');
  jwks = {
    keys: [{ ...(await exportJWK(signer.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }],
  };
});

const tokens = async (): Promise<Response> =>
  Response.json({
    access_token: accessToken,
    id_token: await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(signer.privateKey),
  });

const login = (): ConsoleLogin => {
  now = start;
  troubles = [];
  sent = {};
  tokenAnswer = undefined;
  pushAnswer = undefined;
  return createConsoleLogin({
    key: createClientKey(serviceKey, () => now),
    subjectOf: createSubjects(serviceKey, 'default', () => ({ version: 1, since: 0 })),
    provider: () => ({ issuer, path: '/oidc' }),
    publicUrl: () => 'https://sign.example',
    acrValues: ['mid_al4_any'],
    sampleNumber: undefined,
    fetch: async (path, init) => {
      if (path === '/oidc/jwks.json') return Response.json(jwks);
      sent[path] = new URLSearchParams(String(init?.body));
      if (path === '/oidc/par') {
        return pushAnswer?.() ?? Response.json({ request_uri: 'urn:request' }, { status: 201 });
      }
      return tokenAnswer?.() ?? tokens();
    },
    now: () => now,
    log: { trouble: (error) => void troubles.push(error) },
  });
};

/**
 * From the beginning to what the console makes of the answer; half a minute passes at the provider.
 */
const finishWith = async (changes: JWTPayload, console = login()) => {
  const begun = await console.begin();
  if (begun === undefined) throw new Error('not begun');
  const { state, nonce } = begun.secrets;
  now += 30_000;
  const seconds = now / 1000;
  claims = {
    iss: issuer,
    sub: 'somebody',
    aud: 'paraph-console',
    iat: seconds,
    exp: seconds + 60,
    auth_time: seconds - 5,
    acr: 'mid_al4_any',
    nonce,
    at_hash: createHash('sha256')
      .update(accessToken)
      .digest()
      .subarray(0, 16)
      .toString('base64url'),
    ...changes,
  };
  const query = new URLSearchParams({ state, iss: issuer, code: 'a-code' });
  const returned = console.readReturned(query, begun.secrets);
  if (returned.kind !== 'answered') throw new Error(returned.kind);
  return { finished: await returned.finish(), secrets: begun.secrets };
};

const failed = { ok: false, problem: 'failed' };

describe('a login of the console', () => {
  it('asks for a fresh proof of the demanded level, bound to this browser', async () => {
    const { finished, secrets } = await finishWith({});
    expect(finished).toMatchObject({ ok: true, claims: { sub: 'somebody' } });
    const challenge = createHash('sha256').update(secrets.codeVerifier).digest('base64url');
    expect(Object.fromEntries(sent['/oidc/par'] ?? [])).toMatchObject({
      client_id: 'paraph-console',
      response_type: 'code',
      redirect_uri: 'https://sign.example/admin/login/oidc/callback',
      scope: 'openid',
      prompt: 'login',
      acr_values: 'mid_al4_any',
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    expect(Object.fromEntries(sent['/oidc/token'] ?? [])).toMatchObject({
      grant_type: 'authorization_code',
      code: 'a-code',
      code_verifier: secrets.codeVerifier,
    });
    expect(new Set([secrets.state, secrets.nonce, secrets.codeVerifier]).size).toBe(3);
    expect(troubles).toEqual([]);
  });

  it.each<[string, JWTPayload]>([
    ['of an earlier login of the person', { auth_time: start / 1000 - 60 }],
    ['that does not say when the person was asked', { auth_time: undefined }],
    ['of a lower level', { acr: 'mid_al2_any' }],
    ['of another login', { nonce: 'another' }],
    ['for another client', { aud: 'shop' }],
    ['for others as well', { aud: ['paraph-console', 'shop'], azp: 'paraph-console' }],
    ['of another issuer', { iss: 'https://sign.example/oidc/t/shop' }],
    ['that another access token came with', { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    ['that is over', { exp: start / 1000 }],
  ])('does not count by an ID token %s', async (_, changes) => {
    expect((await finishWith(changes)).finished).toEqual(failed);
    expect(troubles).toHaveLength(1);
  });

  it('says what the provider did not do, and quotes nothing of it', async () => {
    const console = login();
    tokenAnswer = async () => Response.json({ error: 'invalid_grant' }, { status: 400 });
    expect((await finishWith({}, console)).finished).toEqual(failed);
    tokenAnswer = () => Promise.reject(new Error('Redis is away'));
    expect((await finishWith({}, console)).finished).toEqual({ ok: false, problem: 'away' });
    pushAnswer = async () => new Response('<html>', { status: 502 });
    expect(await console.begin()).toBeUndefined();
    pushAnswer = () => Promise.reject(new Error('timed out'));
    expect(await console.begin()).toBeUndefined();
    expect(troubles.map(({ message }) => message.replace(/^.*: /, ''))).toEqual([
      'invalid_grant',
      'Redis is away',
      'status 502',
      'timed out',
    ]);
  });

  it('proves who the console is with a key that every process derives, once for each request', async () => {
    await finishWith({});
    const key = createClientKey(serviceKey, () => now).publicKey;
    const jtis: unknown[] = [];
    for (const form of Object.values(sent)) {
      const { payload } = await jwtVerify(
        form.get('client_assertion') ?? '',
        await importJWK({ ...key }),
        {
          issuer: 'paraph-console',
          subject: 'paraph-console',
          audience: issuer,
          currentDate: new Date(now),
        },
      );
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
      jtis.push(payload.jti);
    }
    expect(new Set(jtis).size).toBe(2);
    expect(key).not.toHaveProperty('d');
    expect(createClientKey(randomBytes(32), () => now).publicKey.x).not.toBe(key.x);
  });
});

it('has words for each way in which a person is not authenticated', () => {
  const told = Object.values(errorCodes).map(([group, code]) => [
    `${group}_${code}`,
    problemIn(`mid_${group}_${code}_abc - text`),
  ]);
  expect(told.filter(([, problem]) => problem !== 'failed')).toEqual([
    ['auth_3010', 'cancelled'],
    ['auth_3060', 'activation'],
    ['auth_3080', 'no-method'],
    ['auth_3300', 'no-answer'],
    ['auth_3310', 'phone-busy'],
    ['sys_9900', 'away'],
  ]);
  expect(problemIn('toString')).toBe('failed');
});
