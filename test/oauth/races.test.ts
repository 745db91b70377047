/**
 * What may be used once is used once, however many try at the same moment: fifty times, because a race that is lost rarely
 * is lost in the end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser } from './browser-client.ts';
import {
  clientEntry,
  offline,
  type RelyingParty,
  relyingParty,
  roomyLimits,
  secret,
} from './interoperability/stage.ts';

const redis = testRedis();
const rounds = 50;
const rivals = 8;
/** Rounds at a time. */
const atOnce = 5;
/** Of 400 logins, some wait for others. */
const patienceMs = 120_000;
let product: TestProduct;
let client: RelyingParty;

beforeAll(async () => {
  const tenants = [{ id: 'main', name: 'Main', clients: [clientEntry('shop')] }];
  product = await startTestProduct(redis, {
    configuration: { oidc: { limits: roomyLimits, tenants } },
    listen: true,
  });
  client = relyingParty(product, { id: 'shop', secret });
});
afterAll(() => product.stop());

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

const all = <Result>(attempt: () => Promise<Result>): Promise<readonly Result[]> =>
  Promise.all(Array.from({ length: rivals }, attempt));

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
        const login = await client.logIn();
        const answers = await all(() => client.redeem(login));
        return counted(answers.map(({ status, body }) => `${status} ${body.error ?? 'tokens'}`));
      });
      expect(results).toEqual(
        Array.from({ length: rounds }, () => ({ '200 tokens': 1, '400 invalid_grant': rivals - 1 })),
      );
    },
    patienceMs,
  );

  it(
    'renews tokens with a refresh token',
    async () => {
      const results = await inRounds(async () => {
        const tokens = await client.tokens(undefined, offline);
        const answers = await all(() => client.refresh(tokens.refresh_token));
        return counted(answers.map(({ status, body }) => `${status} ${body.error ?? 'tokens'}`));
      });
      expect(results).toEqual(
        Array.from({ length: rounds }, () => ({ '200 tokens': 1, '400 invalid_grant': rivals - 1 })),
      );
    },
    patienceMs,
  );

  it(
    'gets a code for a pushed request, when eight browsers have logged in with it',
    async () => {
      const results = await inRounds(async () => {
        const request = await client.request();
        const visits = await all(() => client.follow(request, createBrowser({ origin: product.url })));
        // All of them are there before one has finished: a second visit works as long as the first is on its way.
        expect(visits.map(({ page }) => page.status)).toEqual(visits.map(() => 200));
        const ends = await Promise.all(visits.map((visit) => client.confirm(visit)));
        return counted(
          ends.map(({ left, status }) => {
            if (left === undefined) return `stays: ${status}`;
            return left.searchParams.has('code') ? 'code' : `error: ${left.searchParams.get('error')}`;
          }),
        );
      });
      // The others' clients hear of it at the address that they have pushed.
      expect(results).toEqual(
        Array.from({ length: rounds }, () => ({ code: 1, 'error: invalid_request_uri': rivals - 1 })),
      );
    },
    patienceMs,
  );
});
