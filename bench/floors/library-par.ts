/**
 * The provider library's own endpoint for pushed requests, with a client of the same kind and a
 * plain Redis adapter: JSON under the handle, one SET.
 *
 * Arguments: the socket of Redis. It answers its URL to the parent.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { exportJWK, generateKeyPair } from 'jose';
import { serveParent } from '../harness/program.ts';
import { parClient } from './par-request.ts';

const [socketPath = ''] = process.argv.slice(2);
const redis = new Redis({ path: socketPath });

// It warns about Node 20 as soon as it is loaded.
const { warn, info } = console;
console.warn = () => undefined;
console.info = () => undefined;
const { Provider } = await import('oidc-provider');

const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const provider = new Provider('http://127.0.0.1/oidc', {
  adapter: (model: string) => ({
    upsert: async (id, payload, expiresIn) => {
      await redis.set(`floor:${model}:${id}`, JSON.stringify(payload), 'EX', expiresIn ?? 60);
    },
    find: async () => undefined,
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    consume: async () => undefined,
    destroy: async () => undefined,
    revokeByGrantId: async () => undefined,
  }),
  acrValues: ['mid_al3_any'],
  scopes: ['openid', 'offline_access', 'profile', 'phone'],
  clients: [
    {
      client_id: parClient.id,
      client_secret: parClient.secret,
      redirect_uris: [parClient.redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  features: { devInteractions: { enabled: false }, pushedAuthorizationRequests: { enabled: true } },
  jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig' }] as never },
});
console.warn = warn;
console.info = info;

const server = createServer(provider.callback());
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  serveParent(async () => url);
});
