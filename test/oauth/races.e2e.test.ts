/**
 * What may be used once is used once, however many try at the same moment at two processes: six
 * times. With a store that looks first and then writes, nearly every round is lost, so that more
 * rounds show no more.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser } from './browser-client.ts';
import {
  clientEntry,
  keyOfClient,
  offline,
  type RelyingParty,
  relyingParty,
  roomyLimits,
  secret,
} from './interoperability/stage.ts';

const redis = testRedis();
const key = keyOfClient('one');
const publicUrl = 'https://sign.example.com';
const rounds = 6;
const rivals = 8;
/** Rounds at a time. */
const atOnce = 3;
/** Of 48 logins, some wait for others. */
const timeoutMs = 120_000;
/** Two processes of one service. */
let products: readonly TestProduct[] = [];

beforeAll(async () => {
  const clients = [
    clientEntry('shop'),
    clientEntry('bound', { dpopRequired: true }),
    clientEntry('keyed', { authentication: 'private_key_jwt', keys: [key.publicJwk] }),
  ];
  const configuration = {
    publicUrl,
    oidc: { limits: roomyLimits, tenants: [{ id: 'main', name: 'Main', clients }] },
  };
  const masterKey = randomBytes(32);
  const first = await startTestProduct(redis, { configuration, masterKey, listen: true });
  const second = await startTestProduct(redis, {
    configuration,
    masterKey,
    listen: true,
    workers: false,
  });
  products = [first, second];
});
afterAll(() => Promise.all(products.map((product) => product.stop())));

/** @param place Of a rival: it decides at which process it tries. */
const productOf = (place: number): TestProduct => {
  const product = products[place % products.length];
  if (product === undefined) throw new Error('There is no process');
  return product;
};

const client = (place: number, id = 'shop'): RelyingParty =>
  relyingParty(productOf(place), { id, ...(id === 'keyed' ? {} : { secret }), origin: publicUrl });

/** @returns What each round came to. */
const inRounds = async <Result>(round: () => Promise<Result>): Promise<readonly Result[]> => {
  const results: Result[] = [];
  const run = async (): Promise<void> => {
    while (results.length < rounds) {
      const place = results.length;
      results.length += 1;
      results[place] = await round();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  return results;
};

const all = <Result>(attempt: (place: number) => Promise<Result>): Promise<readonly Result[]> =>
  Promise.all(Array.from({ length: rivals }, (_, place) => attempt(place)));

const everyRound = (counts: Readonly<Record<string, number>>) =>
  Array.from({ length: rounds }, () => counts);

const counted = (texts: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
};

describe('of eight at the same moment exactly one', () => {
  it(
    'redeems a code',
    async () => {
      const results = await inRounds(async () => {
        const login = await client(0).logIn();
        const answers = await all((place) => client(place).redeem(login));
        return counted(answers.map(({ status, body }) => `${status} ${body.error ?? 'tokens'}`));
      });
      expect(results).toEqual(everyRound({ '200 tokens': 1, '400 invalid_grant': rivals - 1 }));
    },
    timeoutMs,
  );

  it(
    'renews tokens with a refresh token',
    async () => {
      const results = await inRounds(async () => {
        const tokens = await client(0).tokens(undefined, offline);
        const answers = await all((place) => client(place).refresh(tokens.refresh_token));
        return counted(answers.map(({ status, body }) => `${status} ${body.error ?? 'tokens'}`));
      });
      expect(results).toEqual(everyRound({ '200 tokens': 1, '400 invalid_grant': rivals - 1 }));
    },
    timeoutMs,
  );

  it(
    'gets a code for a pushed request, when eight browsers have logged in with it',
    async () => {
      const results = await inRounds(async () => {
        const request = await client(0).request();
        const visits = await all((place) =>
          client(place).follow(
            request,
            createBrowser({ origin: publicUrl, server: () => productOf(place).url }),
          ),
        );
        // All of them are there before one has finished: a second visit works as long as the first
        // is on its way.
        expect(visits.map(({ page }) => page.status)).toEqual(visits.map(() => 200));
        const ends = await Promise.all(visits.map((visit) => client(0).confirm(visit)));
        return counted(
          ends.map(({ left, status }) => {
            if (left === undefined) return `stays: ${status}`;
            return left.searchParams.has('code')
              ? 'code'
              : `error: ${left.searchParams.get('error')}`;
          }),
        );
      });
      // The others' clients hear of it at the address that they have pushed.
      expect(results).toEqual(everyRound({ code: 1, 'error: invalid_request_uri': rivals - 1 }));
    },
    timeoutMs,
  );

  it.each(['/par', '/token/introspection', '/token/revocation'])(
    'is authenticated by an assertion, at %s',
    async (path) => {
      const results = await inRounds(async () => {
        const claims = { sub: 'keyed', jti: randomUUID() };
        const assertion = await key.sign('keyed', client(0).issuer, claims);
        const fields = {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
          token: 'whatever',
          response_type: 'code',
          scope: 'openid',
          redirect_uri: 'https://client.example/callback',
        };
        const answers = await all((place) => client(place, 'keyed').send(path, fields));
        return answers.filter(({ status }) => status < 300).length;
      });
      expect(results).toEqual(Array.from({ length: rounds }, () => 1));
    },
    timeoutMs,
  );

  it(
    'is answered for a DPoP proof',
    async () => {
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      const jwk = await exportJWK(publicKey);
      const results = await inRounds(async () => {
        const proof = await new SignJWT({
          htm: 'POST',
          htu: `${publicUrl}/oidc/par`,
          jti: randomUUID(),
        })
          .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
          .setIssuedAt()
          .sign(privateKey);
        const fields = { dpop_jkt: await calculateJwkThumbprint(jwk) };
        const answers = await all((place) => client(place, 'bound').push(fields, { dpop: proof }));
        return answers.filter(({ status }) => status < 300).length;
      });
      expect(results).toEqual(Array.from({ length: rounds }, () => 1));
    },
    timeoutMs,
  );
});
