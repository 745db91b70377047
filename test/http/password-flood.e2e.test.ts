/** A flood of wrong passwords, and applications whose passwords are right. */
import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { decoyPassword, hashPassword } from '../../src/registry/passwords.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import type { WireAnswer } from './wire.ts';

const redis = testRedis();
const password = 'right-and-long-enough';
const good = 'http://good.example';
const late = 'http://late.example';
const later = 'http://later.example';
const others = Array.from({ length: 11 }, (_, index) => `http://other-${index}.example`);
/** Less than the default, so that a flood is over in seconds. */
const cost = { ln: 12, r: 8, p: 1 };
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
    { id: later, passwordHash: await hashPassword(password, cost) },
    // Nobody needs to know theirs.
    ...others.map((id) => ({ id, passwordHash: decoyPassword(passwordHash) })),
  ];
  product = await startTestProduct(redis, {
    listen: true,
    workers: false,
    configuration: { applicationProviders, trustedProxy: { addresses: ['127.0.0.1'] } },
  });
});
afterAll(async () => {
  elsewhere.destroy();
  await product.stop();
});

const elsewhere = new Agent({ keepAlive: true, localAddress: '127.0.0.2' });

/** From an address that is not trusted, so that the header says what the caller has invented. */
const signFromElsewhere = (apId: string, apPassword: string, from: string): Promise<WireAnswer> =>
  new Promise((resolve, reject) => {
    const sent = request(`${product.url}/rest/service/sign`, {
      method: 'POST',
      agent: elsewhere,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      json(response).then(
        (body) => resolve({ status: response.statusCode, body } as WireAnswer),
        reject,
      );
    });
    sent.end(JSON.stringify(asynch(apId, apPassword)));
  });

const notNow = 'Request rate exceeded';

/**
 * Goes on until it is stopped: each connection sends the next password when the last one is
 * answered.
 */
const startFlood = (
  connections: number,
  sendWrong: (index: number, wrong: string) => Promise<WireAnswer>,
): { readonly isRefused: () => boolean; readonly stop: () => Promise<readonly WireAnswer[]> } => {
  const answers: WireAnswer[] = [];
  let isOver = false;
  let sent = 0;
  const ended = Promise.all(
    Array.from({ length: connections }, async () => {
      while (!isOver) {
        sent += 1;
        answers.push(await sendWrong(sent, `wrong-${sent}`));
      }
    }),
  );
  return {
    // What is turned away shows that everything that may wait is waiting.
    isRefused: () => answers.some((answer) => JSON.stringify(answer.body).includes(notNow)),
    stop: async () => {
      isOver = true;
      await ended;
      return answers;
    },
  };
};

/** @returns A sender of wrong passwords for each of the names in turn. */
const inNamesOf =
  (names: readonly string[], from: string) =>
  (index: number, wrong: string): Promise<WireAnswer> =>
    sign(names[index % names.length] ?? '', wrong, from);

const untilRefused = (flood: ReturnType<typeof startFlood>): Promise<void> =>
  vi.waitFor(() => expect(flood.isRefused()).toBe(true), { timeout: 30_000 });

describe('a flood of wrong passwords', () => {
  it('of many names refuses no application whose password was right before, and is answered 104', async () => {
    expect((await sign(good, password, '192.0.2.1')).status).toBe(200);
    const flood = startFlood(40, inNamesOf([...others, good], '192.0.2.66'));
    await untilRefused(flood);
    const answers = [];
    for (let turn = 0; turn < 5; turn += 1) {
      answers.push(...(await Promise.all([1, 2, 3].map(() => sign(good, password, '192.0.2.66')))));
    }
    const flooded = await flood.stop();
    expect(answers.map(({ status }) => status)).toEqual(Array(15).fill(200));
    for (const answer of flooded) {
      expect(answer).toMatchObject({ body: { Fault: { Code: { SubCode: { Value: '_104' } } } } });
    }
  });

  it('in the name of an application lets it in from its own address, though its password is new to the process', async () => {
    const flood = startFlood(40, inNamesOf([...others, late], '192.0.2.66'));
    await untilRefused(flood);
    const answer = await sign(late, password, '192.0.2.1');
    await flood.stop();
    expect(answer.status).toBe(200);
  });

  it('in the name of an application lets it in however many addresses one caller invents', async () => {
    const flood = startFlood(60, (index, wrong) =>
      signFromElsewhere(
        later,
        wrong,
        `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
      ),
    );
    await untilRefused(flood);
    const answer = await sign(later, password, '192.0.2.1');
    await flood.stop();
    expect(answer.status).toBe(200);
  });
});
