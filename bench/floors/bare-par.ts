/**
 * What a pushed request costs at least: a route of Hono that authenticates the client in constant
 * time, checks the parameters with zod and keeps the request with one SET.
 *
 * Arguments: the socket of Redis. It answers its URL to the parent.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import { UnsecuredJWT } from 'jose';
import { z } from 'zod';
import { serveParent } from '../harness/program.ts';
import { parClient } from './par-request.ts';

const [socketPath = ''] = process.argv.slice(2);
const redis = new Redis({ path: socketPath });
const lifeSeconds = 60;
const issuer = 'http://127.0.0.1/oidc';
const expected = Buffer.from(
  `Basic ${Buffer.from(`${parClient.id}:${parClient.secret}`).toString('base64')}`,
);

const words = (allowed: readonly string[]) =>
  z.string().refine((text) => text.split(' ').every((word) => allowed.includes(word)));

const schema = z.object({
  response_type: z.literal('code'),
  client_id: z.literal(parClient.id),
  redirect_uri: z.literal(parClient.redirectUri),
  scope: words(['openid', 'offline_access', 'profile', 'phone']),
  state: z.string().optional(),
  nonce: z.string().optional(),
  code_challenge: z
    .string()
    .regex(/^[\w-]{43}$/)
    .optional(),
  code_challenge_method: z.literal('S256').optional(),
  acr_values: words(['mid_al2_any', 'mid_al3_any', 'mid_al4_any']).optional(),
  login_hint: z.string().optional(),
});

const app = new Hono();
app.post('/par', async (c) => {
  const given = Buffer.from(c.req.header('authorization') ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return c.json({}, 401);
  const form = new URLSearchParams(await c.req.text());
  const parsed = schema.safeParse(Object.fromEntries(form));
  if (!parsed.success) return c.json({ error: 'invalid_request' }, 400);
  const now = Math.floor(Date.now() / 1000);
  const request = new UnsecuredJWT(parsed.data)
    .setIssuer(parClient.id)
    .setAudience(issuer)
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + lifeSeconds)
    .encode();
  const handle = randomBytes(32).toString('base64url');
  await redis.set(`floor:par:${handle}`, JSON.stringify({ request }), 'EX', lifeSeconds);
  return c.json(
    { request_uri: `urn:ietf:params:oauth:request_uri:${handle}`, expires_in: lifeSeconds },
    200,
    { 'cache-control': 'no-store' },
  );
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
