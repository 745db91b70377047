/** HTTPS served directly: the client's certificate is what the connection proved. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSelfSigned, newKey } from '../../packages/pki/test/openssl.ts';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { listen, type RunningServer } from '../../src/http/server.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { expectFault, readAnswer, type WireAnswer } from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-tls-'));
const file = (name: string): string => join(folder, name);
const openssl = (...words: readonly string[]): void => {
  execFileSync('openssl', words, { stdio: 'ignore', cwd: folder });
};

/** What a customer makes by itself: it is no CA, and the subject is the same in each. */
const createCustomer = (name: string, subject: string): void => {
  openssl(
    'req',
    ...newKey,
    '-subj',
    `/CN=${subject}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
  );
  openssl(
    ...['x509', '-req', '-in', `${name}.csr`, '-signkey', `${name}.key`, '-extfile', 'leaf.ext'],
    ...['-days', '2', '-out', `${name}.crt`],
  );
};

const createLeaf = (name: string, authority: string, ...more: readonly string[]): void => {
  openssl(
    'req',
    ...newKey,
    ...more,
    '-subj',
    `/CN=${name}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
  );
  openssl(
    ...[
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      `${authority}.crt`,
      '-CAkey',
      `${authority}.key`,
    ],
    ...['-set_serial', String(name.length), '-days', '2', '-out', `${name}.crt`],
  );
};

interface Identity {
  readonly cert: Buffer;
  readonly key: Buffer;
}
const identity = (name: string): Identity => ({
  cert: readFileSync(file(`${name}.crt`)),
  key: readFileSync(file(`${name}.key`)),
});

const fingerprintOf = (name: string): string =>
  new X509Certificate(identity(name).cert).fingerprint256;

const listenFor = ({ api }: TestProduct): Promise<RunningServer> =>
  listen({
    fetch: api.fetch,
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 5000,
    headersTimeoutMs: 5000,
    tls: {
      certFile: file('server.crt'),
      keyFile: file('server.key'),
      clientCaFile: file('clients.crt'),
    },
  });

const apId = 'mid://certified.example';
const redis = testRedis();
let product: TestProduct;
let server: RunningServer;

beforeAll(async () => {
  for (const name of ['authority', 'stranger']) createSelfSigned(folder, name);
  for (const name of ['server', 'registered', 'other']) createLeaf(name, 'authority');
  createLeaf('foreign', 'stranger');
  createLeaf('explicit', 'authority', '-pkeyopt', 'ec_param_enc:explicit');
  writeFileSync(
    file('leaf.ext'),
    'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=clientAuth\n',
  );
  for (const name of ['one', 'two', 'three']) createCustomer(name, 'customer');
  writeFileSync(
    file('clients.crt'),
    ['authority', 'one', 'two'].map((name) => identity(name).cert).join(''),
  );
  const fingerprints = ['registered', 'foreign', 'explicit', 'one', 'two'].map(fingerprintOf);
  product = await startTestProduct(redis, {
    configuration: {
      applicationProviders: [{ id: apId, clientCertificateFingerprints: fingerprints }],
    },
  });
  server = await listenFor(product);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  server.cut();
  await server.drain();
  await product.stop();
});

/**
 * @param as The certificate to show, if any.
 * @param said The fingerprint in the header of a proxy.
 */
const call = (
  ap: string,
  as?: string | Identity,
  agent?: Agent,
  {
    to = server,
    said = 'ab'.repeat(32),
  }: { readonly to?: RunningServer; readonly said?: string } = {},
): Promise<WireAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to.url);
    const outgoing = request(
      {
        hostname,
        port,
        path: '/rest/service/sign',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-client-certificate': said },
        ca: readFileSync(file('authority.crt')),
        checkServerIdentity: () => undefined,
        ...(typeof as === 'string' ? identity(as) : as),
        agent: agent ?? false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          resolve(readAnswer(response.statusCode ?? 0, response.headers['content-type'], text));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(signRequest({ apId: ap })));
  });

describe('over TLS', () => {
  it('an AP without a registered certificate is served with any, or without one', async () => {
    expect(server.url.startsWith('https://')).toBe(true);
    for (const as of [undefined, 'registered', 'foreign']) {
      expect((await call('mid://anybody.example', as)).status).toBe(200);
    }
  });

  it('an AP with a registered certificate is served when it shows that one', async () => {
    expect((await call(apId, 'registered')).status).toBe(200);
  });

  it('it is fault 104 without a certificate, and with another one', async () => {
    expectFault(await call(apId), 104, faultTable[104].detail);
    expectFault(await call(apId, 'other'), 104, faultTable[104].detail);
  });

  it.each(['one', 'two', 'foreign'])(
    'a certificate counts by its fingerprint, whoever issued it: %s',
    async (as) => {
      expect((await call(apId, as)).status).toBe(200);
    },
  );

  it('the certificate that a proxy names counts, and not that of the proxy itself', async () => {
    const behind = await startTestProduct(
      { ...redis, prefix: `${redis.prefix.slice(-20)}-proxy` },
      {
        configuration: {
          applicationProviders: [
            { id: apId, clientCertificateFingerprints: [fingerprintOf('registered')] },
          ],
          trustedProxy: {
            addresses: ['127.0.0.1'],
            clientCertificateHeader: 'X-Client-Certificate',
          },
        },
      },
    );
    const to = await listenFor(behind);
    try {
      const said = fingerprintOf('registered');
      expect((await call(apId, 'three', undefined, { to, said })).status).toBe(200);
      const wrong = await call(apId, 'registered', undefined, { to });
      expectFault(wrong, 104, faultTable[104].detail);
    } finally {
      to.cut();
      await to.drain();
      await behind.stop();
    }
  });

  it('it is fault 104 with a certificate of the same subject and another fingerprint', async () => {
    expectFault(await call(apId, 'three'), 104, faultTable[104].detail);
  });

  it('it is fault 104 with the registered certificate and another key, which ends the connection', async () => {
    const stolen = { cert: identity('one').cert, key: identity('two').key };
    await expect(call(apId, stolen)).rejects.toThrow();
    // Its holder is not served as another caller either.
    expectFault(await call(apId), 104, faultTable[104].detail);
  });

  it('it is fault 104 with a certificate whose curve is written out, though its fingerprint is registered', async () => {
    expectFault(await call(apId, 'explicit'), 104, faultTable[104].detail);
  });

  it('a connection and a session that are used again are still the ones that showed the certificate', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 10 });
    expect((await call(apId, 'registered', agent)).status).toBe(200);
    expect((await call(apId, 'registered', agent)).status).toBe(200);
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
    expect((await call(apId, 'registered', agent)).status).toBe(200);
    agent.destroy();
  });
});

describe('a TLS file that cannot be read', () => {
  it('keeps the server from starting', async () => {
    const starting = listen({
      fetch: product.api.fetch,
      host: '127.0.0.1',
      port: 0,
      requestTimeoutMs: 1000,
      headersTimeoutMs: 1000,
      tls: { certFile: file('absent.crt'), keyFile: file('server.key') },
    });
    await expect(starting).rejects.toThrow('ENOENT');
  });
});
