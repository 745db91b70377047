/**
 * The workflow on DBOS: a Hono server in front, the workflow in the same process, its state in
 * PostgreSQL.
 *
 *     POST /requests      {"text"}  ->  {"id"}                    once the workflow is in the database
 *     POST /processes     {"text"}  ->  {"id"}                    the same for three signers in order
 *     GET /requests/:id             ->  {"status", "signature"}   as soon as it has ended
 *
 * `startWorkflow` resolves when the row of the workflow is committed. No queue: it would add two
 * writes to each workflow, and nothing has to be throttled. Waiting for the result in the server is
 * cheaper for DBOS than being asked again and again over HTTP for a status, and its query for a
 * result is cheaper than the one for a status, so the result is what is asked for.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { sayReady, signers, signText } from './signing.ts';

/** How often DBOS looks for a result that is not there yet; its default is a second. */
const resultPollMs = 50;

const workflow = DBOS.registerWorkflow(
  (text: string): Promise<string> => DBOS.runStep(async () => signText(text), { name: 'sign' }),
  { name: 'signature' },
);

const signing = DBOS.registerWorkflow(
  async (text: string): Promise<string> => {
    const signatures: string[] = [];
    for (const signer of signers)
      signatures.push(await DBOS.runStep(async () => signText(text), { name: `sign ${signer}` }));
    return signatures.join(' ');
  },
  { name: 'process' },
);

DBOS.setConfig({
  name: 'paraph-bench-peer',
  applicationVersion: '1',
  systemDatabaseUrl: process.env.PEER_DATABASE_URL ?? '',
  systemDatabasePoolSize: Number(process.env.PEER_POOL_SIZE),
  // All who wait for a result may look at once: by default half of the pool is kept from them.
  systemDatabasePollingConcurrency: Number(process.env.PEER_POOL_SIZE),
  logLevel: 'error',
});
await DBOS.launch();

const app = new Hono();
app.post('/requests', async (c) => {
  const { text } = await c.req.json<{ text: string }>();
  const handle = await DBOS.startWorkflow(workflow)(text);
  return c.json({ id: handle.workflowID });
});
app.post('/processes', async (c) => {
  const { text } = await c.req.json<{ text: string }>();
  const handle = await DBOS.startWorkflow(signing)(text);
  return c.json({ id: handle.workflowID });
});
app.get('/requests/:id', async (c) => {
  const signature = await DBOS.getResult<string>(c.req.param('id'), {
    pollingIntervalMs: resultPollMs,
  });
  return c.json({ status: 'SUCCESS', signature });
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  sayReady(`http://127.0.0.1:${port}`),
);

process.on('SIGTERM', () => process.exit());
