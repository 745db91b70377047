/**
 * Attacks that no other room has a test for: on whoever reads the log, on workers by way of the
 * queue, and on what lies beside the signature interface.
 */
import type { IncomingMessage } from 'node:http';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AppOptions, createApp } from '../../src/http/app.ts';
import { createEvidence } from '../../src/http/client-certificate.ts';
import { createEventLog, createLogger } from '../../src/telemetry/logger.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { expectFault, expectSignature, readAnswer, sign } from '../http/wire.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
let product: TestProduct;
let queue: Queue;

beforeAll(async () => {
  // Few steps at a time, so that some bad jobs would be enough to occupy all of them.
  product = await startTestProduct(redis, { configuration: { workers: { concurrency: 3 } } });
  queue = new Queue('signatures', {
    connection: redis.connection,
    prefix: `{${product.configuration.queue.prefix}-0}`,
  });
});
afterAll(async () => {
  await queue.close();
  await product.stop();
});

describe('an AP_ID in the log', () => {
  it('can neither add a line, nor give orders to a terminal, nor turn the text around it', async () => {
    const before = product.logged.length;
    const orders = [
      '\n',
      '\r',
      '\u001b[2J',
      '\u0007',
      '\u007f',
      '\u009b31m',
      '\u0085',
      '\u2028',
      '\u2029',
    ];
    const turns = ['\u202e', '\u2066', '\u200b', '\u00ad', '\u{e0041}'];
    await sign(product, { apId: `evil${[...orders, ...turns].join('x')}{"msg":"signed"}` });
    const line = await vi.waitFor(() => {
      const found = product.logged.slice(before).find((text) => text.includes('evil'));
      if (found === undefined) throw new Error('not logged yet');
      return found;
    }, 20_000);
    expect(line.trimEnd()).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    const { apId, msg } = JSON.parse(line);
    expect(msg).toBe('answered');
    expect(apId).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  });
});

describe('trouble in the log', () => {
  const secret = 'Gift-77c1e0';
  const linesAbout = async (cause: () => unknown): Promise<string> => {
    const lines: string[] = [];
    const { trouble } = createEventLog(
      createLogger('info', { write: (line) => void lines.push(line) }),
      Date.now,
    );
    try {
      await cause();
    } catch (error) {
      trouble(error as Error);
    }
    expect(lines).toHaveLength(1);
    return lines.join('');
  };

  it('does not quote the text that a parser choked on', async () => {
    expect(await linesAbout(() => JSON.parse(secret))).not.toContain(secret);
  });

  it('does not quote the arguments of a command that Redis does not know', async () => {
    const line = await linesAbout(() => redis.client().call('NOSUCHCOMMAND', secret));
    expect(line).toContain('unknown command');
    expect(line).not.toContain(secret);
  });
});

describe('jobs that no BullMQ would write', () => {
  const addRaw = async (data: string): Promise<string> => {
    const jobId = newMsspTransId(0);
    // Not taken before its data is what it should be.
    await queue.add('sign', {}, { jobId, delay: 60_000 });
    await redis.client().hset(queue.toKey(jobId), 'data', data);
    await queue.getBackend().promote(jobId);
    return jobId;
  };

  it('whose data is no JSON keep nobody waiting, and are quoted nowhere', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => addRaw('Gift-77c1e0')));
    await vi.waitFor(
      () => expect(product.logged.some((line) => line.includes('SyntaxError'))).toBe(true),
      20_000,
    );
    for (let times = 0; times < 4; times += 1) {
      await expectSignature(product, await sign(product), 'Sign in to Example?');
    }
    expect(product.logged.filter((line) => line.includes('Gift'))).toEqual([]);
    for (const id of ids) await redis.client().del(queue.toKey(id));
  });

  it.each([
    [
      'deep as no stack is',
      `{"MSS_SignatureReq":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    ],
    ['of five megabytes', JSON.stringify({ MSS_SignatureReq: { MajorVersion: '1'.repeat(5e6) } })],
    ['with __proto__', '{"MSS_SignatureReq":{"__proto__":{"polluted":1}}}'],
    ['with constructor', '{"MSS_SignatureReq":{"constructor":{"prototype":{"polluted":1}}}}'],
  ])('whose data is %s fail at once, with a reason that quotes nothing', async (_, data) => {
    const id = await addRaw(data);
    const reason = await vi.waitFor(
      async () => {
        const found = await redis.client().hget(queue.toKey(id), 'failedReason');
        if (found === null) throw new Error('not failed yet');
        return found;
      },
      { timeout: 20_000, interval: 20 },
    );
    expect(reason).toMatch(/^_10\d [A-Z_]+: /);
    expect(reason.length).toBeLessThan(200);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});

describe('a certificate in the header of a proxy', () => {
  const fingerprint = 'ab'.repeat(32);
  const evidenceOf = (value: string) =>
    createEvidence({ addresses: ['127.0.0.1'], clientCertificateHeader: 'X-Client-Certificate' })({
      socket: { remoteAddress: '127.0.0.1' },
      headers: { 'x-client-certificate': value },
    } as unknown as IncomingMessage).clientCertificateFingerprint;

  it('is not read from a text in quotes, closed or not: that is the client’s own choice', () => {
    expect(evidenceOf(`Subject="CN=Ada";Hash=${fingerprint}`)).toBe(fingerprint);
    expect(evidenceOf(`Subject="CN=\\"Ada\\";Hash=${fingerprint}";By=x`)).toBeUndefined();
    expect(evidenceOf(`By=x;Subject="CN=Ada;Hash=${fingerprint}`)).toBeUndefined();
    expect(evidenceOf(`Subject="CN=Ada\\;Hash=${fingerprint}\\`)).toBeUndefined();
  });
});

describe('beside the signature interface', () => {
  it.each(['/nothing', '//rest/service', '/RESTful', '/docs/../nothing', '/.env', '/livez/x'])(
    'a POST to an address that is none is a Fault: %s',
    async (path) => {
      const response = await product.api.fetch(
        new Request(`http://test${path}`, { method: 'POST' }),
      );
      expect(response.status).toBe(404);
      readAnswer(response.status, response.headers.get('content-type'), await response.text());
    },
  );

  it('a document that cannot be made is fault 900, and the reason is in the log alone', async () => {
    const told: Error[] = [];
    const app = createApp({
      more: [],
      limits: { maxBytes: 1000, timeoutMs: 1000 },
      log: { answered: () => undefined, trouble: (error: Error) => void told.push(error) },
      documentation: {
        get rules(): never {
          throw new Error('the inside');
        },
      },
    } as unknown as AppOptions);
    const response = await app.fetch(new Request('http://test/openapi.json'));
    const answer = readAnswer(
      response.status,
      response.headers.get('content-type'),
      await response.text(),
    );
    expectFault(answer, 900);
    expect(answer.text).not.toContain('inside');
    expect(told.map(({ message }) => message)).toEqual(['the inside']);
  });
});
