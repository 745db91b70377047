/** Logins without a browser: the client asks for one, and polls. */
import { randomBytes } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import type { BackchannelLogin } from '../records.ts';
import {
  answered,
  configurationFor,
  createCibaClient,
  issuerOf,
  loginOf,
  transactionOf,
} from './ciba-client.ts';

const redis = testRedis();
const robot = '+41700092501';
/** Signs a second later. */
const slow = '+41790000002';
/** Does not sign before the prompt has ended. */
const silent = '+41790000001';
const till = createCibaClient('till');
const texts = createCibaClient('texts', { dtbdAllowed: true, strictParameters: false });
const noHints = createCibaClient('no-hints', { loginHintAllowed: false });

/** Two processes of one service; the second has no workers. */
let one: TestProduct;
let other: TestProduct;
beforeAll(async () => {
  const options = {
    listen: true,
    masterKey: randomBytes(32),
    configuration: { publicUrl: 'http://127.0.0.1:9', ...configurationFor([till, texts, noHints]) },
  };
  one = await startTestProduct(redis, options);
  other = await startTestProduct(redis, { ...options, workers: false });
});
afterAll(async () => {
  await other.stop();
  await one.stop();
});

const begin = async (parameters: Record<string, string> = {}, client = till): Promise<string> => {
  const { status, body } = await client.ask(one, { login_hint: robot, ...parameters });
  expect([status, body]).toMatchObject([200, { auth_req_id: expect.any(String) }]);
  return body.auth_req_id;
};

describe('a backchannel request', () => {
  it('is acknowledged with its lifetime and the interval for polls', async () => {
    const { status, headers, body } = await till.ask(one, { login_hint: robot });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      auth_req_id: expect.stringMatching(/^[\w-]{22,}$/),
      expires_in: one.configuration.oidc.interactionSeconds,
      interval: 5,
    });
  });

  it('gives tokens about the person who has signed', async () => {
    const authReqId = await begin({
      scope: 'openid phone',
      acr_values: 'mid_al3_simcard mid_al3_any',
    });
    const { status, body } = await till.outcome(one, authReqId);
    expect([status, body]).toMatchObject([200, { token_type: 'Bearer', scope: 'openid phone' }]);
    const keys = createRemoteJWKSet(new URL(`${one.url}/oidc/jwks.json`));
    const { payload } = await jwtVerify(body.id_token, keys, {
      issuer: issuerOf(one),
      audience: 'till',
    });
    expect(payload).toMatchObject({
      acr: 'mid_al3_simcard',
      amr: ['mid_sim'],
      auth_time: expect.any(Number),
    });
    expect(payload.sub).toMatch(/^[\w-]{43}$/);
    const userinfo: Json = await (
      await fetch(`${one.url}/oidc/userinfo`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      })
    ).json();
    expect(userinfo).toMatchObject({ sub: payload.sub, phone_number: robot });
  });

  it('shows the binding message on the phone, and the name of the client', async () => {
    const authReqId = await begin({ binding_message: 'Till 7, CHF 12.50' });
    const { request } = await transactionOf(one, authReqId);
    expect(request.data).toMatchObject({
      text: expect.stringMatching(/Till 7\?[\s\S]*Till 7, CHF 12\.50/),
    });
  });

  it('shows no code on the phone when there is no message that the client could show, too', async () => {
    const { request } = await transactionOf(one, await begin());
    expect(request.data).toMatchObject({ text: 'Log in to Till 7?' });
  });

  it('shows the text of a client that may bring one', async () => {
    const authReqId = await begin({ dtbd: 'Pay 12 francs?' }, texts);
    expect((await transactionOf(one, authReqId)).request.data).toMatchObject({
      text: 'Pay 12 francs?',
    });
  });

  it('takes the default one of several numbers', async () => {
    const hints = [{ msisdn: '+41700092502' }, { msisdn: robot, default: true }];
    const authReqId = await begin({
      login_hint: JSON.stringify({ enableManualInput: false, hints }),
    });
    expect((await loginOf(one, authReqId)).msisdn).toBe(robot.slice(1));
  });

  it('leaves out what it does not know when the client is not a strict one', async () => {
    const authReqId = await begin(
      { scope: 'openid groups', acr_values: 'gold mid_al2_any' },
      texts,
    );
    const { body } = await texts.outcome(one, authReqId);
    expect(body.scope).toBe('openid');
    expect((await loginOf(one, authReqId)).acrValues).toEqual(['mid_al2_any']);
  });

  it('ends the prompt when the request expires', async () => {
    const authReqId = await begin({ login_hint: silent, requested_expiry: '20' });
    expect((await transactionOf(one, authReqId)).request.timeoutSeconds).toBe(20);
  });
});

const tooManyNumbers = JSON.stringify({ hints: [{ msisdn: robot }, { msisdn: '+41700092502' }] });

it.each<[string, Record<string, string>, number, string, RegExp]>([
  ['names nobody', { login_hint: '' }, 400, 'invalid_request', /login_hint/],
  [
    'names an unknown number',
    { login_hint: '+41791110000' },
    400,
    'unknown_user_id',
    /^mid_auth_3080_/,
  ],
  ['names no number', { login_hint: 'somebody' }, 400, 'invalid_request', /^mid_req_\d{4}_/],
  ['names two numbers', { login_hint: tooManyNumbers }, 400, 'invalid_request', /^mid_req_1100_/],
  [
    'has a token as hint',
    { login_hint: '', login_hint_token: 'x' },
    400,
    'invalid_request',
    /login_hint_token/,
  ],
  [
    'has an ID token as hint',
    { login_hint: '', id_token_hint: 'x' },
    400,
    'invalid_request',
    /id_token_hint/,
  ],
  [
    'has a long message',
    { binding_message: 'x'.repeat(61) },
    400,
    'invalid_binding_message',
    /binding_message/,
  ],
  [
    'has a message of two lines',
    { binding_message: 'a\nb' },
    400,
    'invalid_binding_message',
    /binding_message/,
  ],
  [
    'has a context that is no JSON',
    { request_context: '{' },
    400,
    'invalid_request',
    /request_context/,
  ],
  ['has an unknown acr', { acr_values: 'gold' }, 400, 'invalid_request', /^mid_req_1010_/],
  ['has a malformed acr', { acr_values: ' x' }, 400, 'invalid_request', /^mid_req_1020_/],
  ['has a text it may not have', { dtbd: 'Pay?' }, 400, 'invalid_request', /^mid_sec_2030_/],
  [
    'asks a number without a method',
    { login_hint: '+41000092105' },
    403,
    'access_denied',
    /^mid_auth_3080_/,
  ],
  [
    'asks for another method',
    { acr_values: 'mid_al3_mobileapp' },
    403,
    'access_denied',
    /^mid_auth_3080_/,
  ],
  ['meets a fault of ours', { login_hint: '+41000092900' }, 500, 'server_error', /^mid_sys_9900_/],
])('a request that %s is refused at once', async (_, parameters, status, error, description) => {
  const answer = await till.ask(one, { login_hint: robot, ...parameters });
  expect([answer.status, answer.body]).toEqual([
    status,
    { error, error_description: expect.stringMatching(description) },
  ]);
});

it('a client without the right to name numbers is refused, whatever the number', async () => {
  for (const login_hint of [robot, '+41791110000']) {
    const { status, body } = await noHints.ask(one, { login_hint });
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  }
});

it.each([
  [401, 'access_denied', 3010],
  [402, 'access_denied', 3900],
  [403, 'access_denied', 3900],
  [404, 'access_denied', 3060],
  [406, 'access_denied', 3310],
  [208, 'access_denied', 3300],
])('fault %i is told as %s with the code %i', async (fault, error, code) => {
  const authReqId = await begin({ login_hint: `+41000092${fault}` });
  const { status, body } = await till.outcome(one, authReqId);
  expect([status, body.error]).toEqual([400, error]);
  expect(body.error_description).toMatch(new RegExp(`^mid_auth_${code}_[\\w-]{8} - `));
});

describe('polling', () => {
  it('is answered authorization_pending, and slow_down before the interval has passed', async () => {
    const authReqId = await begin({ login_hint: silent });
    const errors = [];
    for (let poll = 0; poll < 3; poll += 1)
      errors.push((await till.poll(one, authReqId)).body.error);
    expect(errors).toEqual(['authorization_pending', 'slow_down', 'slow_down']);
    expect((await till.poll(other, authReqId)).body.error).toBe('slow_down');
  });

  it('gets a result that is there, however fast it is', async () => {
    const authReqId = await begin({ login_hint: slow });
    expect((await till.poll(one, authReqId)).body.error).toBe('authorization_pending');
    await answered(one, authReqId);
    expect((await till.poll(one, authReqId)).status).toBe(200);
  });

  it('is told that a request has expired', async () => {
    const authReqId = await begin({ login_hint: silent, requested_expiry: '1' });
    await new Promise((resolve) => setTimeout(resolve, 2100));
    expect((await till.poll(one, authReqId)).body.error).toBe('expired_token');
  });

  it('gives tokens once', async () => {
    const authReqId = await begin();
    expect((await till.outcome(one, authReqId)).status).toBe(200);
    expect((await till.poll(one, authReqId)).body.error).toBe('invalid_grant');
  });

  it('finds nothing of another client', async () => {
    const authReqId = await begin();
    await answered(one, authReqId);
    expect((await texts.poll(one, authReqId)).body.error).toBe('invalid_grant');
    expect((await till.poll(one, authReqId)).status).toBe(200);
  });

  it('gives tokens to one of eight polls at the same time, at two processes, in each of 50 rounds', async () => {
    for (let round = 0; round < 50; round += 1) {
      const authReqId = await begin();
      await answered(one, authReqId);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          till.poll(index % 2 === 0 ? one : other, authReqId),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const { started } = await loginOf(one, authReqId);
      const ends = [...one.logged, ...other.logged].filter(
        (line) => line.includes('login ended') && line.includes(started?.msspTransId ?? ''),
      );
      expect(ends).toHaveLength(1);
      for (const { status, body } of answers) {
        if (status !== 200)
          expect(body.error).toMatch(/^(invalid_grant|authorization_pending|slow_down)$/);
      }
    }
  });
});

describe('when processes come and go', () => {
  it('a login that one has begun is ended by another', async () => {
    const authReqId = await begin();
    expect((await till.outcome(other, authReqId)).status).toBe(200);
  });

  it('one that died after starting the transaction leaves no second prompt', async () => {
    const authReqId = await begin({ login_hint: silent });
    const { started, ...login } = await loginOf(one, authReqId);
    const died: BackchannelLogin = { ...login, started: undefined };
    await one.api.oauth.tenants.main.store.put('backchannel', authReqId, died, 60);
    expect((await till.poll(other, authReqId)).body.error).toBe('authorization_pending');
    expect((await loginOf(one, authReqId)).started?.msspTransId).toBe(started?.msspTransId);
  });

  it('one that died after deciding how it has ended leaves the same result to the next', async () => {
    const authReqId = await begin();
    await answered(one, authReqId);
    const { store } = one.api.oauth.tenants.main;
    const error = { error: 'access_denied', description: 'mid_auth_3010_abcdefgh - decided' };
    await store.putOnce(
      'backchannel-end',
      authReqId,
      { how: 'failed', ...error, code: 'auth_3010', trace: 'abcdefgh' },
      60,
    );
    expect((await till.poll(other, authReqId)).body).toEqual({
      error: error.error,
      error_description: error.description,
    });
  });
});

it('neither keys nor jobs nor the log name the handle of a request', async () => {
  const authReqId = await begin();
  await till.outcome(one, authReqId);
  const client = redis.client();
  const keys = await client.keys(`*${redis.prefix.slice(-32)}*`);
  const values = await Promise.all(
    keys.map(async (key) => {
      const type = await client.type(key);
      if (type === 'string') return (await client.getBuffer(key))?.toString('latin1');
      return type === 'hash' ? JSON.stringify(await client.hgetall(key)) : '';
    }),
  );
  expect([...keys, ...values, ...one.logged].join('\n')).not.toContain(authReqId);
  expect(one.logged.join('\n')).toMatch(/login ended/);
});

it('too many prompts are refused with the time to wait', async () => {
  const limits = { promptsPerNumber: { requests: 1, perSeconds: 60 } };
  const product = await startTestProduct(redis, {
    listen: true,
    workers: false,
    configuration: {
      ...configurationFor([till], { limits }),
      queue: { prefix: `${redis.prefix.slice(-28)}-few` },
    },
  });
  try {
    expect((await till.ask(product, { login_hint: '+41790000001' })).status).toBe(200);
    const { status, headers, body } = await till.ask(product, { login_hint: '+41790000001' });
    expect([status, body.error]).toEqual([429, 'temporarily_unavailable']);
    // One prompt in sixty seconds, less the time of this test.
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(30);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
  } finally {
    await product.stop();
  }
});
