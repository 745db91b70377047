/**
 * What any upload costs at least: a bare route of Hono whose body is streamed into a file and
 * flushed. Nothing is hashed, encrypted or checked.
 *
 * It answers its URL to the parent.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { serveParent } from '../harness/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bare-upload-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const app = new Hono<{ Bindings: { readonly incoming: IncomingMessage } }>();
let count = 0;

app.post('/documents', async (c) => {
  count += 1;
  const path = join(folder, String(count));
  await pipeline(c.env.incoming, createWriteStream(path, { flush: true }));
  return c.json({ id: String(count) }, 201);
});

app.delete('/documents/:id', (c) => {
  rmSync(join(folder, c.req.param('id')), { force: true });
  return c.json({ result: 'deleted' });
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }: AddressInfo) => {
  serveParent(async () => `http://127.0.0.1:${port}`);
});
