/** A flood of wrong passwords, and applications whose passwords are right. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decoyPassword, hashPassword } from '../../src/registry/passwords.ts';
import { changed } from '../protocol/samples.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import type { WireAnswer } from './wire.ts';

const redis = testRedis();
const password = 'right-and-long-enough';
const good = 'http://good.example';
const late = 'http://late.example';
const others = Array.from({ length: 11 }, (_, index) => `http://other-${index}.example`);
/** Less than the default, so that a flood is over in seconds. */
const cost = { ln: 14, r: 8, p: 1 };
let product: TestProduct;

const asynch = (apId: string, apPassword: string) =>
  changed(signRequest({ mode: 'asynch', apId }), 'MSS_SignatureReq.AP_Info.AP_PWD', apPassword);

/** Through a proxy that is trusted, so that each request may come from where it says. */
const sign = async (apId: string, apPassword: string, from: string): Promise<WireAnswer> => {
  const response = await fetch(`${product.url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify(asynch(apId, apPassword)),
  });
  return { status: response.status, body: await response.json() } as WireAnswer;
};

beforeAll(async () => {
  const passwordHash = await hashPassword(password, cost);
  const applicationProviders = [
    { id: good, passwordHash },
    { id: late, passwordHash: await hashPassword(password, cost) },
    // Nobody needs to know theirs.
    ...others.map((id) => ({ id, passwordHash: decoyPassword(passwordHash) })),
  ];
  product = await startTestProduct(redis, {
    listen: true,
    workers: false,
    configuration: { applicationProviders, trustedProxy: { addresses: ['127.0.0.1'] } },
  });
}, 60_000);
afterAll(() => product.stop());

/** As many as 190 connections can send. @returns How many are unanswered, and what ends when all are answered. */
const startFlood = (names: readonly string[], from: string) => {
  let open = 0;
  const answers = Array.from({ length: 190 }, async (_, index) => {
    open += 1;
    try {
      return await sign(names[index % names.length] ?? '', `wrong-${index}`, from);
    } finally {
      open -= 1;
    }
  });
  return { open: () => open, ended: Promise.allSettled(answers) };
};

describe('a flood of wrong passwords', () => {
  it('of many names refuses no application whose password was right before, and is answered 104', async () => {
    expect((await sign(good, password, '192.0.2.1')).status).toBe(200);
    const flood = startFlood([...others, good], '192.0.2.66');
    const answers = [];
    for (let turn = 0; turn < 5; turn += 1) {
      answers.push(...(await Promise.all([1, 2, 3].map(() => sign(good, password, '192.0.2.66')))));
    }
    expect(answers.map(({ status }) => status)).toEqual(Array(15).fill(200));
    // Not because it was over.
    expect(flood.open()).toBeGreaterThan(10);
    for (const answer of await flood.ended) {
      expect(answer).toMatchObject({
        status: 'fulfilled',
        value: { body: { Fault: { Code: { SubCode: { Value: '_104' } } } } },
      });
    }
  }, 60_000);

  it('in the name of an application lets it in from its own address, though its password is new to the process', async () => {
    const flood = startFlood([...others, late], '192.0.2.66');
    await vi.waitFor(() => expect(flood.open()).toBeGreaterThan(10));
    expect((await sign(late, password, '192.0.2.1')).status).toBe(200);
    expect(flood.open()).toBeGreaterThan(0);
    await flood.ended;
  }, 60_000);
});
