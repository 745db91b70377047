import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { createOwnFetch } from '../../src/http/own-fetch.ts';

type Env = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } };

const app = new Hono<Env>();
app.post('/echo', async (c) =>
  c.json(
    { body: await c.req.text(), type: c.req.header('content-type'), query: c.req.query('q') },
    201,
    {
      'x-one': '1',
    },
  ),
);
app.get('/raw', (c: Context<Env>) => {
  c.env.outgoing.writeHead(200, { 'content-type': 'text/plain' });
  c.env.outgoing.end(`from ${c.env.incoming.socket.remoteAddress ?? 'nowhere'}`);
  return RESPONSE_ALREADY_SENT;
});
app.get('/never', () => new Promise<Response>(() => undefined));

const ask = createOwnFetch((request, bindings) => app.fetch(request, bindings));

it('carries method, headers, query and body there, and status, headers and body back', async () => {
  const answer = await ask('/echo?q=a%20b', {
    method: 'POST',
    headers: { 'content-type': 'text/plain;charset=UTF-8' },
    body: 'grüezi'.repeat(10_000),
  });
  expect([answer.status, answer.headers.get('x-one')]).toEqual([201, '1']);
  expect(await answer.json()).toEqual({
    body: 'grüezi'.repeat(10_000),
    type: 'text/plain;charset=UTF-8',
    query: 'a b',
  });
});

it('reaches what writes to the raw response, from no address', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/raw')));
  for (const answer of answers) expect(await answer.text()).toBe('from nowhere');
});

it('ends with its signal', async () => {
  const signal = AbortSignal.timeout(50);
  await expect(ask('/never', { signal })).rejects.toThrow();
});
