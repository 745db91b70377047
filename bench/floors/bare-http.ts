/**
 * What any service of this kind has at least: a route of Hono, the schema of the request, one job
 * in a queue. For the synchronous one BullMQ's own way to wait for a job, and for status requests
 * its own way to get one.
 *
 * Arguments: the socket of Redis; the prefix of the queue, `{floor}` by default. It answers its URL
 * to the parent.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Queue, QueueEvents } from 'bullmq';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { project, serveParent } from '../harness/program.ts';

// Compiled like the product's own, so that neither side has an advantage.
const { signatureRequestSchema }: typeof import('../../packages/protocol/src/schemas/sign.ts') =
  await import(join(project, 'dist/packages/protocol/src/schemas/sign.js'));
const { defaultProtocolRules }: typeof import('../../packages/protocol/src/rules.ts') =
  await import(join(project, 'dist/packages/protocol/src/rules.js'));

const [socketPath = '', prefix = '{floor}'] = process.argv.slice(2);
const connection = new Redis({ path: socketPath, maxRetriesPerRequest: null });
const signatures = new Queue('signatures', { connection, prefix });
const events = new QueueEvents('signatures', { connection, prefix });
// Each caller that waits listens to both.
events.setMaxListeners(0);
signatures.setMaxListeners(0);
await events.waitUntilReady();
const schema = signatureRequestSchema(defaultProtocolRules);
const app = new Hono();

app.post('/asynch', async (c) => {
  const parsed = schema.safeParse(await c.req.json());
  if (!parsed.success) return c.json({ error: 'not valid' }, 400);
  const id = randomUUID();
  await signatures.add('sign', parsed.data, { jobId: id });
  return c.json({ id });
});

app.post('/synch', async (c) => {
  const parsed = schema.safeParse(await c.req.json());
  if (!parsed.success) return c.json({ error: 'not valid' }, 400);
  const id = randomUUID();
  const job = await signatures.add('sign', parsed.data, { jobId: id });
  return c.json({ id, outcome: await job.waitUntilFinished(events) });
});

app.get('/job/:id', async (c) => {
  const job = await signatures.getJob(c.req.param('id'));
  if (job === undefined) return c.json({ error: 'not found' }, 404);
  return c.json({ data: job.data, failedReason: job.failedReason, outcome: job.returnvalue });
});

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: 0 },
  (address: AddressInfo) => {
    const url = `http://127.0.0.1:${address.port}`;
    serveParent(async () => url);
  },
);
server.on('error', (error) => {
  throw error;
});
