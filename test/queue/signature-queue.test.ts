/** The typed producer beside a real service, without HTTP but where it says so. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { signCms } from '../../packages/pki/src/cms.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import {
  InvalidRequestError,
  NoResultError,
  SignatureFailedError,
  type SignatureHandle,
  type SignatureInput,
  type SignatureQueue,
} from '../../src/app/package/queue.ts';
import { nonceOf } from '../../src/transactions/ids.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { statusRequest } from '../support/requests.ts';
import { apId, openQueue, openQueueForTest, order, somebody, startStage } from './stage.ts';

const redis = testRedis();
let product: TestProduct;
let queue: SignatureQueue;

beforeAll(async () => {
  product = await startStage(redis);
  queue = openQueue(redis, product);
});
afterAll(async () => {
  await queue.close();
  await product.stop();
});

const pending = (handle: { status(): Promise<string> }) =>
  vi.waitFor(async () => expect(await handle.status()).toBe('pending'), { timeout: 20_000 });

describe('a request', () => {
  it('comes back as a signature with its certificates, verified by the roots that lie beside it', async () => {
    const handle = await queue.enqueue({
      ...order,
      geofencing: true,
      subscriberInfo: true,
      validate: true,
    });
    const { signature, ...result } = await handle.result();
    expect(result).toMatchObject({
      id: handle.id,
      profile: 'STK-LoA4',
      validated: true,
      geofencing: { country: expect.any(String) },
      subscriberNetwork: expect.stringMatching(/^\d{5}$/),
    });
    const trust = await queue.rootCertificates();
    const cms = Buffer.from(signature ?? '', 'base64');
    expect(verifySignature(cms, order.text, { trust })).toMatchObject({ ok: true });
    expect(await handle.status()).toBe('signed');
  });

  it('has its time when the clock of its producer is behind', async () => {
    const behind = vi
      .spyOn(Date, 'now')
      .mockImplementation(() => performance.timeOrigin + performance.now() - 300_000);
    const slow = openQueueForTest(redis, product);
    const handle = await slow
      .enqueue({ ...order, timeoutSeconds: 60 })
      .finally(() => behind.mockRestore());
    expect(await handle.result()).toMatchObject({ id: handle.id });
  });

  it('is a transaction like any other for HTTP', async () => {
    const handle = await queue.enqueue(order);
    const { signature } = await handle.result();
    const { body } = await product.post('/rest/service/status', statusRequest(handle.id, apId));
    expect(body.MSS_StatusResp.MSS_Signature.Base64Signature).toBe(signature);
  });

  it('fails with code, reason and detail', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: '+41000092401' });
    const failure = await handle.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SignatureFailedError);
    expect(failure).toMatchObject({
      id: handle.id,
      code: 401,
      reason: 'USER_CANCEL',
      detail: 'User cancelled the request',
    });
    expect(await handle.status()).toBe('failed');
  });

  it('has its rows signed when it is an approval', async () => {
    const approval = { title: 'Payment', rows: [{ key: 'Amount', value: 'CHF 12.50' }] };
    const handle = await queue.enqueue({ apId, msisdn: '+41700092509', approval, language: 'de' });
    const { signature } = await handle.result();
    const signed = JSON.stringify({
      format_version: 1,
      content_string: JSON.stringify(approval.rows),
    });
    const trust = await queue.rootCertificates();
    expect(
      verifySignature(Buffer.from(signature ?? '', 'base64'), signed, { trust }),
    ).toMatchObject({
      ok: true,
    });
  });

  it('is delivered, and nothing is signed, when it is a one-time password', async () => {
    const handle = await queue.enqueue({ ...order, profile: 'MID/v1/OtpProfileText' });
    expect(await handle.result()).toMatchObject({
      signature: undefined,
      profile: 'MID/v1/OtpProfileText',
    });
  });

  it('is added while no service runs, and done when one does', async () => {
    await product.stopWorkers();
    const handle = await queue.enqueue(order);
    expect(await handle.status()).toBe('submitted');
    await product.startWorkers();
    expect(await handle.result()).toMatchObject({ id: handle.id });
  });

  it('comes after those of higher priority, and before those of lower', async () => {
    await product.stopWorkers();
    const handles = [];
    for (const priority of [20, 10, 0]) handles.push(await queue.enqueue(order, { priority }));
    await product.startWorkers();
    await Promise.all(handles.map((handle) => handle.result()));
    const taken = await Promise.all(
      handles.map(({ id }) =>
        redis
          .client()
          .hget(`{${product.configuration.queue.prefix}-0}:signatures:${id}`, 'processedOn'),
      ),
    );
    const takenAt = taken.map(Number);
    expect(takenAt).toEqual([...takenAt].sort((one, other) => other - one));
  });
});

describe('a handle', () => {
  it('says that the phone has it', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: somebody() });
    await pending(handle);
    await product.api.transactions.answer(handle.id, 1, { kind: 'fault', fault: fault(401) });
    await expect(handle.result()).rejects.toMatchObject({ code: 401 });
  });

  it('is found again by its id, in another process', async () => {
    const { id } = await queue.enqueue(order);
    const other = openQueueForTest(redis, product);
    expect(await (await other.find(id))?.result()).toMatchObject({ id });
  });

  it('is not found for an id that nobody has', async () => {
    expect(await queue.find('H00aaaaaaaaaaaaaaaaa')).toBeUndefined();
    expect(await queue.find('order-1')).toBeUndefined();
  });

  it('stops waiting at the signal, and the transaction goes on', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: somebody() });
    const stop = new AbortController();
    const waiting = handle.result({ signal: stop.signal });
    await pending(handle);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(handle.result({ signal: stop.signal })).rejects.toThrow('enough');
    await expect(handle.result({ timeoutMs: 20 })).rejects.toMatchObject({ why: 'timeout' });
    expect(await handle.status()).toBe('pending');
    await handle.cancel();
  });

  it('stops waiting when the queue is closed', async () => {
    const closing = openQueue(redis, product);
    const handle = await closing.enqueue({ ...order, msisdn: somebody() });
    const waiting = handle.result().catch((error: unknown) => error);
    await pending(handle);
    await closing.close();
    expect(await waiting).toBeInstanceOf(NoResultError);
    expect(await waiting).toMatchObject({ why: 'closed', id: handle.id });
    await (await queue.find(handle.id))?.cancel();
  });

  it('shares one event reader with all others', async () => {
    const sharing = openQueueForTest(redis, product);
    const handles = await Promise.all(
      Array.from({ length: 20 }, () => sharing.enqueue({ ...order, msisdn: '+41770000001' })),
    );
    const readers = async () =>
      ((await redis.client().client('LIST')) as string)
        .split('\n')
        .filter((line) => line.includes(`${redis.prefix}-0}:signatures:ends `)).length;
    const before = await readers();
    const results = handles.map((handle) => handle.result());
    await vi.waitFor(async () => expect(await readers()).toBe(before + 1), 20_000);
    await Promise.all(results);
  });
});

describe('an answer for a device', () => {
  const cancelled = { kind: 'fault', fault: fault(401) } as const;
  const failureOf = (handle: SignatureHandle) =>
    handle.result().catch(({ message }: Error) => message);

  it('is the signature that the caller waits for, when it is one', async () => {
    const msisdn = somebody();
    const handle = await queue.enqueue({ ...order, msisdn });
    await pending(handle);
    const custody = product.core.custodyOver(product.core.commands);
    const key = await custody.userKey({
      msisdn: msisdn.slice(1),
      sscdId: 'sim',
      algorithm: 'EC',
      expired: false,
    });
    const cms = await signCms({
      content: Buffer.from(order.text),
      key,
      nonce: nonceOf(handle.id, 1),
    });
    const signature = { kind: 'signature', cms: Buffer.from(cms).toString('base64') } as const;
    expect(await handle.answer(1, { ...signature, certificates: key.chain.id })).toBe('accepted');
    const result = await handle.result();
    const trust = await queue.rootCertificates();
    expect(
      verifySignature(Buffer.from(result.signature ?? '', 'base64'), order.text, { trust }),
    ).toMatchObject({ ok: true });
  });

  it('counts once, and for the attempt that it is for', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: somebody() });
    await pending(handle);
    expect(await handle.answer(2, cancelled)).toBe('refused');
    expect(await handle.answer(1, { kind: 'fault' } as never)).toBe('malformed');
    const both = await Promise.all([handle.answer(1, cancelled), handle.answer(1, cancelled)]);
    expect(both.filter((each) => each === 'accepted')).toHaveLength(1);
    expect(await failureOf(handle)).toContain('401 USER_CANCEL');
    expect(await handle.answer(1, cancelled)).toBe('finished');
    const after = await queue.enqueue({ ...order, msisdn: somebody() });
    await pending(after);
    expect(await after.cancel()).toBe('cancelled');
    expect(await after.answer(1, cancelled)).toMatch(/^(?:refused|finished)$/);
  });
});

describe('a queue', () => {
  it('uses a connection that the caller has, and leaves it open', async () => {
    const connection = redis.client();
    const own = openQueue(redis, product, { redisUrl: undefined, connection } as never);
    expect(await (await own.enqueue(order)).result()).toMatchObject({ profile: 'STK-LoA4' });
    await own.close();
    await own.close();
    expect(await connection.ping()).toBe('PONG');
  });

  it('is not opened with a number of shards that cannot be', () => {
    expect(() => openQueue(redis, product, { shards: 0 })).toThrow(TypeError);
    expect(() => openQueue(redis, product, { rules: { authorities: [] } })).toThrow(TypeError);
  });

  it('writes requests in the dialect of a service that has another', async () => {
    const dialect = openQueueForTest(redis, product, {
      rules: { authorities: ['mid.swisscom.ch'], maxTimeoutSeconds: 30 },
    });
    const handle = await dialect.enqueue({ ...order, language: 'fr', timeoutSeconds: 30 });
    await handle.result();
    const key = `{${product.configuration.queue.prefix}-0}:signatures:${handle.id}`;
    const { MSS_SignatureReq } = JSON.parse((await redis.client().hget(key, 'data')) ?? '{}');
    expect(MSS_SignatureReq).toMatchObject({
      SignatureProfile: 'http://mid.swisscom.ch/Any-LoA4',
      AdditionalServices: [{ Description: 'http://mid.swisscom.ch/TS102204/v1.0.0#userLang' }],
    });
    await expect(dialect.enqueue(order)).rejects.toMatchObject({ path: 'timeoutSeconds' });
  });
});

describe('equal requests', () => {
  const fixed = () => ({ ...order, msisdn: somebody(), apTransId: 'ORDER-1', instant: new Date() });

  it('are one transaction while the first is open, as over HTTP', async () => {
    const request = fixed();
    const first = await queue.enqueue(request);
    const second = await queue.enqueue(request);
    const other = await queue.enqueue({ ...request, text: 'Something else?' });
    expect([first.joined, second.joined, other.joined]).toEqual([false, true, false]);
    expect(second.id).toBe(first.id);
    await Promise.all([first.cancel(), other.cancel()]);
  });

  it('are those with the same AP_TransID when the producer says so, until the first has ended', async () => {
    const request = { ...fixed(), apTransId: 'ORDER-2' };
    const options = { deduplicate: 'ap-trans-id' } as const;
    const first = await queue.enqueue(request, options);
    const second = await queue.enqueue(
      { ...request, text: 'Something else?', instant: new Date(0) },
      options,
    );
    const ofAnother = await queue.enqueue({ ...request, apId: 'http://other.example' }, options);
    expect(second).toMatchObject({ id: first.id, joined: true });
    expect(ofAnother.joined).toBe(false);
    await Promise.all([first.cancel(), ofAnother.cancel()]);
    const third = await queue.enqueue(request, options);
    expect(third.joined).toBe(false);
    await third.cancel();
  });

  it('join none that has been removed, one by one or many at once', async () => {
    const request = fixed();
    const options = { notBefore: new Date(Date.now() + 3_600_000) };
    const client = redis.client();
    const remove = async (id: string): Promise<void> => {
      const key = (name: string) => `{${product.configuration.queue.prefix}-0}:signatures:${name}`;
      // As where HTTP has added it: equal requests join it for a time, whether or not it has ended.
      expect(await client.expire(key(`de:${await client.hget(key(id), 'deid')}`), 60)).toBe(1);
      await client.del(key(id));
    };
    const first = await queue.enqueue(request, options);
    await remove(first.id);
    const second = await queue.enqueue(request, options);
    expect([second.joined, await second.status()]).toEqual([false, 'scheduled']);
    expect(await queue.enqueue(request, options)).toMatchObject({ id: second.id, joined: true });
    await remove(second.id);
    const [third, twin] = await queue.enqueueBulk([request, request], options);
    if (third?.kind !== 'accepted' || twin?.kind !== 'joined')
      throw new Error(`${third?.kind}, ${twin?.kind}`);
    expect(twin.id).toBe(third.id);
    expect(await third.handle.status()).toBe('scheduled');
    await third.handle.cancel();
  });
});

describe('a request that is not in order', () => {
  const secret = 'hunter2';
  it.each<[string, SignatureInput, object]>([
    [
      'msisdn',
      { ...order, msisdn: secret },
      { code: 101, detail: 'msisdn is not an E.164 number' },
    ],
    ['msisdn', { ...order, msisdn: '' }, { code: 102, detail: 'msisdn is missing' }],
    [
      'apId',
      { ...order, apId: '' },
      { code: 102, reason: 'MISSING_PARAM', detail: 'apId is missing' },
    ],
    ['apTransId', { ...order, apTransId: `${secret}!` }, { code: 101 }],
    [
      'profile',
      { ...order, profile: `http://${secret}/` },
      { code: 109, detail: 'profile is not a known profile' },
    ],
    ['timeoutSeconds', { ...order, timeoutSeconds: 3333 }, { code: 101 }],
    ['instant', { ...order, instant: new Date(Number.NaN) }, { code: 101 }],
    [
      'language',
      { ...order, language: `${secret}!` },
      { code: 101, detail: 'language must be a language code' },
    ],
    [
      'geofencing.countryWhitelist[0]',
      { ...order, geofencing: { countryWhitelist: [secret] } },
      { code: 101 },
    ],
    ['text', { ...order, text: secret.repeat(100) }, { code: 103 }],
    [
      'text',
      { ...order, text: `${secret}\u{e0041}` },
      {
        code: 107,
        detail:
          'text must not have Unicode tags or variation selectors (U+E0000 to U+E0FFF): nobody sees them',
      },
    ],
    [
      'request',
      { ...order, text: `${secret}\0` },
      { code: 101, detail: 'request has a NUL character' },
    ],
    ['approval', { msisdn: order.msisdn, approval: { title: '', rows: [] } }, { code: 101 }],
    [
      'profile',
      {
        msisdn: order.msisdn,
        approval: { title: secret, rows: [{ key: 'a', value: 'b' }] },
        profile: 'STK-LoA4',
      },
      { code: 107 },
    ],
    ['request', undefined as never, { code: 101 }],
  ])('is refused before it is added, naming %s', async (path, request, expected) => {
    const refusal = await queue.enqueue(request).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidRequestError);
    expect(refusal).toMatchObject({ ...expected, path });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain(secret);
  });

  it.each([
    ['priority', { priority: 1.5 }],
    ['priority', { priority: -1 }],
    ['notBefore', { notBefore: new Date('never') }],
    ['notBefore', { notBefore: new Date(Date.now() + 400 * 86_400_000) }],
    ['deduplicate', { deduplicate: 'always' as never }],
  ])('is refused when its options are not: %s', async (path, options) => {
    await expect(queue.enqueue(order, options)).rejects.toMatchObject({
      name: 'InvalidRequestError',
      path,
    });
  });
});
