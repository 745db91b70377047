/** Alerts on fault rates, as their receiver hears of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AlertRule, createAlerts } from '../../src/callbacks/alerts.ts';
import { messageOf } from '../../src/callbacks/deliver.ts';
import { callbackSecret } from '../../src/callbacks/secret.ts';
import { parseConfiguration } from '../../src/configuration/load.ts';
import { createIndexer, type Indexer } from '../../src/history/indexer.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { type CallbackStage, type Receiver, soon, startCallbackStage, startReceiver } from './stage.ts';

const redis = testRedis();
let stage: CallbackStage;
let receiver: Receiver;
let indexer: Indexer;
let ahead = 0;
const now = (): number => Date.now() + ahead;

beforeAll(async () => {
  stage = await startCallbackStage(redis, { shards: 2 });
  receiver = await startReceiver();
  const { blocking, retention } = stage.product.core;
  const onError = (error: Error): void => {
    throw error;
  };
  indexer = createIndexer({
    ...{ redis: blocking, prefix: stage.prefix, shards: 2, retention, now: Date.now, onError, pollMs: 10 },
  });
  indexer.start();
});
afterAll(async () => {
  await indexer.close();
  await receiver.close();
  await stage.close();
  expect(stage.errors).toEqual([]);
});

const sign = async (msisdn: string): Promise<void> => {
  await stage.product.post('/rest/service/sign', signRequest({ msisdn }));
};
const rule = (changes: Partial<AlertRule>): AlertRule => ({
  name: 'cancelled',
  url: `${receiver.url}/alerts`,
  secretVersion: 1,
  faults: [401],
  percent: 50,
  windowMinutes: 5,
  minAttempts: 4,
  ...changes,
});
const told = () => receiver.received.map(({ body }) => JSON.parse(body));

it('tells once when the share of a fault reaches the threshold, and once when it is over', async () => {
  // The first try of each message fails.
  const tries = new Map<string, number>();
  receiver.answers((response, { headers }) => {
    const id = String(headers['webhook-id']);
    tries.set(id, (tries.get(id) ?? 0) + 1);
    response.writeHead(tries.get(id) === 1 ? 500 : 204).end();
  });
  const alerts = [
    rule({}),
    rule({ name: 'blocked', faults: [402] }),
    rule({ name: 'many', minAttempts: 100 }),
  ];
  const start = () => stage.start([], { alerts, now, lookEveryMs: 20, leaseMs: 300 });
  const sides = [await start(), await start()];
  await sign('+41700092501');
  for (let each = 0; each < 2; each += 1) await sign('+41000092401');
  await indexer.idle();
  expect(receiver.received).toEqual([]);
  await sign('+41000092401');
  await soon(() => expect(told()).toHaveLength(2));
  const [, second] = receiver.received;
  expect(second?.headers['webhook-id']).toBe('alert-cancelled-1-begun');
  const secret = callbackSecret(stage.serviceKey, 'cancelled', 1, 'alerts');
  new Webhook(secret).verify(second?.body ?? '', second?.headers as Record<string, string>);
  const [begun] = told();
  expect(begun).toEqual({
    type: 'alert.begun',
    timestamp: begun.data.since,
    data: {
      name: 'cancelled',
      since: begun.data.since,
      faults: [401],
      percent: 50,
      windowMinutes: 5,
      ended: 4,
      failures: 3,
    },
  });

  // A process that takes over goes on where the other was.
  await sides[0]?.close();
  ahead = 4 * 60_000;
  await sign('+41700092501');
  ahead = 20 * 60_000;
  await soon(() => expect(told()).toHaveLength(4));
  expect(told()[3]).toMatchObject({
    type: 'alert.ended',
    data: { name: 'cancelled', since: begun.data.since },
  });
  ahead = 0;
  await soon(() => expect([...tries]).toHaveLength(3));
  expect([...tries.keys()].at(-1)).toBe('alert-cancelled-2-begun');
  await sides[1]?.close();
});

/** A process that dies before so many of its writes. */
const startAlerts = (alerts: readonly AlertRule[], writes: number) => {
  const { shards, prefix, product } = stage;
  const seen = { reads: 0, looks: 0, isDead: false };
  let left = writes;
  const write = (of: object, name: string) => ({
    value: async (...given: readonly unknown[]): Promise<unknown> => {
      if (left === 0) seen.isDead = true;
      if (seen.isDead) throw new Error('died');
      left -= 1;
      return Reflect.apply(Reflect.get(of, name), of, given);
    },
  });
  const { blocking } = product.core;
  const watched = Object.create(blocking, {
    hset: write(blocking, 'hset'),
    hget: {
      value: async (key: string, field: string): Promise<string | null> => {
        seen[field === 'position' ? 'reads' : 'looks'] += 1;
        return blocking.hget(key, field);
      },
    },
  });
  const written = shards.map((shard) => {
    const { queue } = shard.callbacks;
    return {
      ...shard,
      callbacks: {
        ...shard.callbacks,
        queue: Object.create(queue, { addBulk: write(queue, 'addBulk') }),
      },
    };
  });
  const onError = ({ message }: Error): void => expect(message).toBe('died');
  const given = { redis: watched, prefix, shards: written, alerts, now, onError };
  const running = createAlerts({ ...given, lookEveryMs: 10, leaseMs: 300 });
  running.start();
  return { seen, close: running.close };
};

it.each([
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 0],
  [1, 1],
  [1, 2],
])('swallows no message when in phase %i it dies before write %i', async (phase, writes) => {
  for (let each = 0; each < 4; each += 1) await sign('+41000092401');
  await indexer.idle();
  const name = `cut-${phase}-${writes}`;
  const toldOf = async () => {
    const ids = (await stage.jobIds()).filter((id) => id.startsWith(`alert-${name}-`));
    const isOf = (what: string) => ids.filter((id) => id.endsWith(what)).length;
    return { begun: isOf('begun'), ended: isOf('ended') };
  };
  // The threshold is reached, then it is not, then it is again.
  for (const [number, minutes] of [0, 20, 0].entries()) {
    ahead = minutes * 60_000;
    const { seen, close } = startAlerts([rule({ name })], number === phase ? writes : Infinity);
    await soon(() => expect(seen.isDead || seen.looks > 3).toBe(true));
    await close();
    const { begun, ended } = await toldOf();
    if (!seen.isDead) expect(begun - ended).toBe(minutes === 0 ? 1 : 0);
  }
});

it('reads once for all alerts of a window', async () => {
  const alerts = ['one', 'two', 'three'].map((name) => rule({ name }));
  const { seen, close } = startAlerts(alerts, Infinity);
  await soon(() => expect(seen.looks).toBeGreaterThan(6));
  await close();
  // Of each of two shards.
  expect(seen.reads).toBe(Math.ceil(seen.looks / 3) * 2);
});

it('shows in docs/operations/monitoring.md a configuration that is accepted and a message that is sent', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operations/monitoring.md'), 'utf8');
  const [configuration = '', message = '{}'] = [
    ...page.slice(page.indexOf('## Alerts by webhook')).matchAll(/```json\n(.*?)```/gs),
  ].map(([, json = '']) => json);
  expect(parseConfiguration(configuration)).toMatchObject({ ok: true });
  const { type, timestamp, data } = JSON.parse(message);
  const { name, since, ...rest } = data;
  const at = Date.parse(timestamp);
  const sent = messageOf({ alert: name, what: type.slice(6), at, since: Date.parse(since), ...rest });
  expect(JSON.parse(sent)).toEqual({ type, timestamp, data });
});

it.each([
  [{ url: 'http://hooks.example/' }, {}, 'operations.alerts[0].url: must be an https URL'],
  [{ url: 'http://127.0.0.1/' }, {}, 'operations.alerts[0].url: must be https, unless this is a sandbox'],
  [{ faults: [123] }, {}, 'operations.alerts[0].faults[0]'],
  [{}, { links: { log: 'javascript:{msspTransId}' } }, 'operations.links.log: must be an http or https URL'],
  [
    {},
    { links: { trace: 'https://traces.example/' } },
    'operations.links.trace: must be an http or https URL',
  ],
  [{}, { index: false }, 'operations.alerts: must be empty, because operations.index is false'],
])('refuses a configuration with %j %j', (changes, more, problem) => {
  const alerts = [{ name: 'all', url: 'https://hooks.example/', percent: 5, ...changes }];
  const parsed = parseConfiguration(JSON.stringify({ operations: { alerts, ...more } }));
  expect(parsed.ok ? [] : parsed.problems.join('\n')).toContain(problem);
});
