/** Alerts on fault rates, as their receiver hears of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AlertRule } from '../../src/callbacks/alerts.ts';
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
  const secret = callbackSecret(stage.masterKey, 'cancelled', 1, 'alerts');
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
