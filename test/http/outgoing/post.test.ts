/** Where a callback may be sent, and what is made of the answer. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSelfSigned } from '../../../packages/pki/test/openssl.ts';
import {
  createPost,
  type PostOptions,
  type Resolve,
  retryAfterMs,
} from '../../../src/http/outgoing/post.ts';

const directory = mkdtempSync(join(tmpdir(), 'callbacks-'));
const host = 'hooks.example';
const keyFile = join(directory, `${host}.key`);
const certFile = join(directory, `${host}.crt`);
const seen: string[] = [];
let plain: Server;
let secure: NetServer;

const listen = async (server: NetServer): Promise<void> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
};
const portOf = (server: NetServer): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  createSelfSigned(directory, host, '-addext', `subjectAltName=DNS:${host}`);
  plain = createServer((request, response) => {
    seen.push(request.url ?? '');
    switch (request.url) {
      case '/redirect':
        return void response.writeHead(307, { location: '/elsewhere' }).end();
      case '/silent':
        return;
      case '/endless': {
        response.writeHead(200);
        const chunk = Buffer.alloc(16_384);
        const write = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once('drain', write);
        };
        return write();
      }
      case '/unfinished':
        return void response.writeHead(202).write('a');
      case '/cut':
        return void request.socket.destroy();
      case '/huge-header':
        return void response.writeHead(200, { 'x-huge': 'a'.repeat(100_000) }).end();
      case '/later':
        return void response.writeHead(503, { 'retry-after': '7' }).end();
      default:
        return void response.writeHead(204).end();
    }
  });
  secure = createTlsServer(
    { key: readFileSync(keyFile), cert: readFileSync(certFile) },
    (_request, response) => void response.writeHead(204).end(),
  );
  await Promise.all([listen(plain), listen(secure)]);
});
afterAll(async () => {
  plain.closeAllConnections();
  await Promise.all(
    [plain, secure].map((server) => new Promise((resolve) => server.close(resolve))),
  );
  rmSync(directory, { recursive: true });
});

const resolvingTo =
  (...addresses: readonly string[]): Resolve =>
  (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const post = (url: string, changes: Partial<PostOptions> = {}) =>
  createPost({ allowedHosts: [], sandbox: false, now: Date.now, timeoutMs: 2000, ...changes })(
    url,
    { 'content-type': 'application/json' },
    '{}',
  );

const inSandbox = (path: string, changes: Partial<PostOptions> = {}) =>
  post(`http://127.0.0.1:${portOf(plain)}${path}`, { sandbox: true, ...changes });

const notAllowed = 'the address of the receiver is not allowed';

describe('a receiver', () => {
  it.each([
    'http://hooks.example/',
    'http://127.0.0.1/',
    'http://localhost/',
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_INFO',
    'https://user@hooks.example/',
    'https://:password@hooks.example/',
    'hooks.example',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://①②⑦.⓪.⓪.①/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[64:ff9b::a9fe:a9fe]/',
  ])('at %s is refused before anything is looked up', async (url) => {
    let lookedUp = 0;
    const resolve: Resolve = (_hostname, _options, callback) => {
      lookedUp += 1;
      callback(null, []);
    };
    expect(await post(url, { resolve })).toMatchObject({ kind: 'refused' });
    expect(lookedUp).toBe(0);
  });

  it.each([
    ['127.0.0.1'],
    ['::1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::ffff:10.0.0.1'],
    ['fe80::1'],
    ['93.184.216.34', '127.0.0.1'],
    [],
  ])('whose name stands for %s %s is not connected to', async (...addresses: readonly string[]) => {
    const url = `https://hooks.example:${portOf(secure)}/`;
    expect(await post(url, { resolve: resolvingTo(...addresses) })).toEqual({
      kind: 'not-sent',
      why: notAllowed,
    });
  });

  it('whose name stands for something else at the next look-up is judged by the one that is connected to', async () => {
    const standsFor = ['127.0.0.1', '169.254.169.254', '127.0.0.1'];
    let lookedUp = 0;
    const resolve: Resolve = (hostname, options, callback) => {
      resolvingTo(standsFor[lookedUp] ?? '')(hostname, options, callback);
      lookedUp += 1;
    };
    const url = `https://hooks.example:${portOf(secure)}/`;
    const ca = readFileSync(certFile, 'utf8');
    const results = [];
    for (const _ of standsFor)
      results.push(await post(url, { resolve, ca, allowedHosts: ['hooks.example'] }));
    expect(results).toMatchObject([{ status: 204 }, { kind: 'not-sent' }, { status: 204 }]);
    expect(lookedUp).toBe(3);
  });

  it('inside is reached when its host is listed, and its certificate must be that of its name', async () => {
    const ca = readFileSync(certFile, 'utf8');
    const at = { resolve: resolvingTo('127.0.0.1'), ca };
    const url = `https://hooks.example:${portOf(secure)}/`;
    const listed = { ...at, allowedHosts: ['Hooks.Example'] };
    expect(await post(url, listed)).toMatchObject({ kind: 'answered', status: 204 });
    expect(await post(url, { ...listed, ca: undefined })).toMatchObject({ kind: 'unreachable' });
    const other = `https://other.example:${portOf(secure)}/`;
    expect(await post(other, { ...at, allowedHosts: ['other.example'] })).toEqual({
      kind: 'unreachable',
      cause: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const metadata = { ...listed, resolve: resolvingTo('169.254.169.254') };
    expect(await post(url, metadata)).toEqual({ kind: 'not-sent', why: notAllowed });
  });

  it('on this machine is reached in a sandbox, also without TLS, and nothing else inside is', async () => {
    expect(await inSandbox('/')).toMatchObject({ kind: 'answered', status: 204 });
    const named = `http://localhost:${portOf(plain)}/`;
    expect(await post(named, { sandbox: true, resolve: resolvingTo('127.0.0.1') })).toMatchObject({
      status: 204,
    });
    for (const url of ['http://hooks.example/', 'https://10.0.0.1/', 'http://10.0.0.1/']) {
      expect(await post(url, { sandbox: true })).toMatchObject({ kind: 'refused' });
    }
    const rebound = await post(named, { sandbox: true, resolve: resolvingTo('10.0.0.1') });
    expect(rebound).toEqual({ kind: 'not-sent', why: notAllowed });
  });

  it('that redirects is not followed', async () => {
    expect(await inSandbox('/redirect')).toMatchObject({ kind: 'answered', status: 307 });
    expect(seen).not.toContain('/elsewhere');
  });

  it('that does not answer is given up', async () => {
    expect(await inSandbox('/silent', { timeoutMs: 60 })).toEqual({
      kind: 'unreachable',
      cause: 'timeout',
    });
    expect(await inSandbox('/cut')).toMatchObject({ kind: 'unreachable' });
    const free = createServer();
    await listen(free);
    const port = portOf(free);
    await new Promise((resolve) => free.close(resolve));
    expect(await post(`http://127.0.0.1:${port}/`, { sandbox: true })).toEqual({
      kind: 'unreachable',
      cause: 'ECONNREFUSED',
    });
  });

  it('that answers without end is not listened to for longer than needed', async () => {
    expect(await inSandbox('/endless')).toMatchObject({ kind: 'answered', status: 200 });
    // With the usual time: in a short one the status need not come where others use the machine.
    expect(await inSandbox('/unfinished')).toMatchObject({ kind: 'answered', status: 202 });
    expect(await inSandbox('/huge-header')).toEqual({
      kind: 'unreachable',
      cause: 'HPE_HEADER_OVERFLOW',
    });
  });

  it('may say when it wants to be asked again', async () => {
    expect(await inSandbox('/later')).toEqual({
      kind: 'answered',
      status: 503,
      retryAfterMs: 7000,
    });
    const now = Date.parse('2025-01-01T00:00:00Z');
    expect(retryAfterMs('Wed, 01 Jan 2025 00:01:00 GMT', now)).toBe(60_000);
    expect(retryAfterMs('Wed, 01 Jan 2020 00:01:00 GMT', now)).toBe(0);
    for (const text of [undefined, '', 'soon', '-1', '1e9', '99999999999']) {
      expect(retryAfterMs(text, now)).toBeUndefined();
    }
  });
});
