/**
 * Definitions of processes that cannot be used, over HTTP and by `paraph/queue`: one error that
 * names the place, never the value, and nothing begun.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkflowQueue, type WorkflowQueue } from '../../../../src/app/package/queue.ts';
import { callerOf } from '../../../../test/support/caller.ts';
import { startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';

/** Stands in every bad value, or beside it. */
const canary = 'kanarienvogel';
const apId = 'mid://bad.example';
const redis = testRedis();
const client = redis.client();

let product: TestProduct;
let queue: WorkflowQueue;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    workers: false,
    // So that the size of the body is not what is refused.
    configuration: {
      http: { maxBodyBytes: 2_000_000 },
      subscribers: [
        { msisdn: '41789000000', through: '41789000999', sim: { device: { kind: 'robot' } } },
      ],
      sandbox: false,
      applicationProviders: [{ id: apId }],
    },
  });
  queue = createWorkflowQueue({
    redisUrl: redis.url,
    prefix: product.configuration.queue.prefix,
    apId,
  });
  await queue.start('process', []);
  await call('POST', 'process', { apId, body: { input: {} } });
});
afterAll(async () => {
  await queue.close();
  await product.stop();
});

const { call } = callerOf(() => product);

const person = (index: number) => ({
  name: canary,
  msisdn: `+4178900${String(index).padStart(4, '0')}`,
});
const people = (count: number) => Array.from({ length: count }, (_, index) => person(index % 1000));
const one = { name: 'one', signers: [person(1)] };
const two = { name: 'two', signers: [person(2)] };
const withStep = (more: object) => ({ text: 'I agree', steps: [{ ...one, ...more }] });
const withSecond = (more: object) => ({ text: 'I agree', steps: [one, { ...two, ...more }] });
const inHours = (more: object) =>
  withStep({ ask: { from: '08:00', to: '18:00', timeZone: 'UTC', ...more } });
const deep = (depth: number): unknown => {
  let nested: unknown = canary;
  for (let at = 0; at < depth; at += 1) nested = { not: nested };
  return nested;
};
const huge = canary.repeat(20_000);

const durationWords = 'must be an ISO 8601 duration';
const hopeless = 'must be able to hold: the step would never begin';
type BadDefinition = readonly [what: string, problem: string, definition: unknown];
const bad: readonly BadDefinition[] = [
  ['nothing', 'input must be of type object', null],
  ['a list', 'input must be of type object', [one, canary]],
  ['a text', 'input must be of type object', canary],
  ['an unknown member of a step', 'steps[0].stepz is not known', withStep({ stepz: canary })],
  [
    'an unreachable step',
    `steps[1].if ${hopeless}`,
    withSecond({ if: { step: 'one', is: 'skipped' } }),
  ],
  ['n > m', 'steps[0].need must not be more than the signers', withStep({ need: 2 })],
  ['n = 0', 'steps[0].need must be all, first, or a number from 1', withStep({ need: 0 })],
  ['n < 0', 'steps[0].need must be all, first, or a number from 1', withStep({ need: -1 })],
  [
    'n that is no whole number',
    'steps[0].need must be all, first, or a number from 1',
    withStep({ need: 0.5 }),
  ],
  [
    'a condition about itself',
    'steps[1].if.step must name an earlier step',
    withSecond({ if: { step: 'two', is: 'done' } }),
  ],
  [
    'two conditions about each other',
    'steps[0].if.step must name an earlier step',
    {
      text: 'I',
      steps: [
        { ...one, if: { step: 'two', is: 'done' } },
        { ...two, if: { step: 'one', is: 'done' } },
      ],
    },
  ],
  [
    'a deadline in the past',
    'deadline must not be in the past',
    { ...withStep({}), deadline: '2020-01-01T00:00:00Z' },
  ],
  [
    'a text too long for a phone',
    'steps[0].signers[0].text may have 239 characters at most',
    withStep({ signers: [{ ...person(1), text: canary.repeat(20) }] }),
  ],
  [
    'a text too long for a phone because of its alphabet',
    'steps[0].signers[0].text may have 119 characters at most',
    withStep({ text: `ы${canary.repeat(10)}` }),
  ],
  [
    'Unicode tags in a text, which nobody sees',
    'text must not have Unicode tags',
    { ...withStep({}), text: `Pay${canary}\u{e0041}` },
  ],
  [
    'Unicode tags in the text of a signer',
    'steps[0].signers[0].text must not have Unicode tags',
    withStep({ signers: [{ ...person(1), text: `${canary}\u{e0000}` }] }),
  ],
  [
    'Unicode tags in a name',
    'steps[0].signers[0].name must not have Unicode tags',
    withStep({ signers: [{ ...person(1), name: `${canary}\u{e0041}` }] }),
  ],
  [
    '10 000 signers',
    'steps[0].signers must not bring more than 100',
    withStep({ signers: people(10_000) }),
  ],
  [
    'a step named as a prototype',
    'steps[1].if.step must name an earlier step',
    withSecond({ if: { step: '__proto__', is: 'done' } }),
  ],
  [
    'a signer named as a prototype',
    'steps[1].if.signer must be the key of a signer of that step',
    withSecond({ if: { step: 'one', signer: 'constructor' } }),
  ],
  ['a condition that is nested deeply', 'input is nested too deeply', withSecond({ if: deep(26) })],
  [
    'very many wrong conditions',
    'steps[1].if.all[0].all[0] must be a comparison, or one of all, any and not',
    withSecond({ if: { all: Array.from({ length: 18 }, () => ({ all: Array(200).fill({}) })) } }),
  ],
  [
    'very many members',
    'input has too many parts',
    Object.fromEntries(people(5000).map((each, index) => [`${canary}${index}`, each])),
  ],
  ['a huge text', 'text may have 239 characters at most', { ...withStep({}), text: huge }],
  ['a huge name', 'steps[0].name may have 64 characters at most', withStep({ name: huge })],
  [
    'a huge number',
    'steps[0].signers[0].msisdn must be an E.164',
    withStep({ signers: [{ ...person(1), msisdn: huge }] }),
  ],
  [
    'a huge address',
    'steps[0].signers[0].email must be',
    withStep({ signers: [{ ...person(1), email: `a@${huge}` }] }),
  ],
  [
    'a huge duration',
    `steps[0].remind[0] ${durationWords}`,
    withStep({ remind: [`PT${'1'.repeat(300_000)}S`] }),
  ],
  [
    'a time zone that does not exist',
    'steps[0].ask.timeZone must be',
    inHours({ timeZone: `Europe/${canary}` }),
  ],
  ['a time zone that is none', 'steps[0].ask.timeZone', inHours({ timeZone: huge })],
  ['a duration in years', `steps[0].remind[0] ${durationWords}`, withStep({ remind: ['P1000Y'] })],
  ['a thousand years in weeks', `steps[0].deadline`, withStep({ deadline: 'P9999W' })],
  ['a negative duration', `steps[0].remind[0] ${durationWords}`, withStep({ remind: ['-P1D'] })],
  [
    'a negative part',
    `steps[0].askAgain.every ${durationWords}`,
    withStep({ askAgain: { times: 1, every: 'PT-1H' } }),
  ],
  ['no time', `steps[0].remind[0] ${durationWords}`, withStep({ remind: ['PT0S'] })],
  [
    'a date that does not exist',
    'deadline must be',
    { ...withStep({}), deadline: '2030-02-30T25:00:00Z' },
  ],
  [
    'infinite tries',
    'steps[0].askAgain.times',
    withStep({ askAgain: { times: 1e308, every: 'PT1H' } }),
  ],
];

/** Without the bounded counts of refused requests, which have buckets of minutes. */
const keysNow = async (): Promise<readonly string[]> =>
  (await client.keys(`*${redis.prefix.slice(-10)}*`))
    .filter((key) => !key.includes('-refused}'))
    .sort();

describe('a definition that cannot be used is refused by its place, and nothing begins', () => {
  it.each(bad)('%s', async (_, problem, definition) => {
    const before = await keysNow();
    const id = 'bad';
    const { status, body } = await call('POST', 'process', {
      apId,
      body: { id, input: definition },
    });
    expect({ status, ...body }).toMatchObject({ status: 400, error: 'bad-request' });
    expect(body.message).toContain(problem);
    expect(await queue.start('process', [{ id, input: definition }])).toEqual([
      { kind: 'refused', problem: body.message },
    ]);
    expect(JSON.stringify(body)).not.toContain(canary);
    expect((await call('GET', 'process/bad', { apId })).status).toBe(404);
    expect(await keysNow()).toEqual(before);
  });

  it('a number that is not known, which only the service can say', async () => {
    const before = await keysNow();
    const input = withStep({ signers: [{ ...person(1), msisdn: '+41799999999' }] });
    const { status, body } = await call('POST', 'process', { apId, body: { id: 'bad', input } });
    expect([status, body.message]).toEqual([400, 'steps[0].signers[0].msisdn is not known']);
    expect(await keysNow()).toEqual(before);
  });
});

describe('a body that is no JSON of ours is refused, and nothing begins', () => {
  const good = JSON.stringify({ id: 'bad', input: withStep({}) });
  const spoil = (from: string, to: string): string => good.replace(from, to);
  const bytes = Buffer.from(good);
  const at = bytes.indexOf('I agree');
  it.each<readonly [string, string | Uint8Array]>([
    [
      'invalid UTF-8',
      Buffer.concat([bytes.subarray(0, at), Buffer.from([0xc3, 0x28]), bytes.subarray(at)]),
    ],
    ['a lone surrogate', spoil('I agree', '\\ud83d')],
    ['__proto__', spoil('"text"', `"__proto__":{"deadline":"${canary}"},"text"`)],
    ['__proto__ of a signer', spoil('"msisdn"', `"__proto__":{"email":"${canary}"},"msisdn"`)],
    ['constructor', spoil('"text"', `"constructor":{"prototype":{"${canary}":1}},"text"`)],
    ['a member twice', spoil('"text"', `"text":"${canary}","text"`)],
    ['very deep arrays', spoil('"I agree"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
    ['very deep objects', spoil('"I agree"', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ])('%s', async (_, body) => {
    const before = await keysNow();
    const answer = await call('POST', 'process', { apId, body });
    expect({ status: answer.status, ...answer.body }).toMatchObject({
      status: 400,
      error: 'bad-request',
    });
    expect(JSON.stringify(answer.body)).not.toContain(canary);
    expect(await keysNow()).toEqual(before);
    expect(Object.prototype).not.toHaveProperty(canary);
    expect(Object.prototype).not.toHaveProperty('email');
  });
});
