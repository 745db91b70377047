/** Calls of webhooks while Redis is away. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { createEngine, spreadOver } from '../../src/engine/engine.ts';
import { defineWorkflow, service } from '../../src/workflows/index.ts';
import type { WebhookOutput } from '../../src/workflows/service-activities.ts';
import { createWebhookActivity } from '../../workers/webhook-activity.ts';
import { createStage } from '../engine/stage.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const stage = createStage(redis);

const child = setup({
  types: { context: {} as { output?: WebhookOutput }, output: {} as WebhookOutput | undefined },
  actors: { callWebhook: service.callWebhook },
}).createMachine({
  context: {},
  initial: 'calling',
  output: ({ context }) => context.output,
  states: {
    calling: {
      invoke: {
        src: 'callWebhook',
        input: { body: { order: 1 }, attempts: 1 },
        onDone: { target: 'done', actions: assign({ output: ({ event }) => event.output }) },
      },
    },
    done: { type: 'final' },
  },
});
const parent = setup({
  types: { context: {} as { output?: WebhookOutput | undefined } },
  actors: { child },
}).createMachine({
  context: {},
  initial: 'waiting',
  output: ({ context }) => context.output,
  states: {
    waiting: {
      invoke: {
        src: 'child',
        onDone: { target: 'done', actions: assign({ output: ({ event }) => event.output }) },
      },
    },
    done: { type: 'final' },
  },
});

it('in a child spend no try while Redis cannot say for which application they are', async () => {
  const { queue, work, engine, ended } = stage();
  const connection = new Redis({
    ...redis.connection,
    ...{ enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true, retryStrategy: null },
  });
  connection.on('error', () => undefined);
  const away = new Queue('workflows', {
    ...{ connection, prefix: queue.opts.prefix ?? '', skipWaitingForReady: true, skipVersionCheck: true },
  });
  away.on('error', () => undefined);
  onTestFinished(async () => {
    await away.close();
    connection.disconnect();
  });
  const calls: string[] = [];
  const activity = createWebhookActivity({
    call: async ({ apId }) => {
      calls.push(apId);
      return { kind: 'answered', status: 200 };
    },
    engine: createEngine(spreadOver([away], connection, Date.now), Date.now),
  });
  const workflow = defineWorkflow({
    name: 'caller',
    version: 1,
    chart: parent,
    input: z.object({ apId: z.string() }),
    begin: () => undefined,
  });
  await connection.connect();
  connection.disconnect();
  await work([workflow], { activities: { 'service.callWebhook': activity } });
  await engine.start(workflow, 'I-1', { apId: 'mid://shop.example' });
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(calls).toEqual([]);
  await connection.connect();
  expect((await ended('I-1')).record?.output).toEqual({ kind: 'answered', status: 200 });
  expect(calls).toEqual(['mid://shop.example']);
});
