/**
 * The client that other programs import, against the product and against answers that other
 * services have given.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { somebody, startStage } from '../../../test/queue/stage.ts';
import type { Json, TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { fault } from '../../protocol/src/fault.ts';
import { createProtocol } from '../../protocol/src/parse.ts';
import { defaultProtocolRules } from '../../protocol/src/rules.ts';
import {
  createClient,
  type Fetch,
  ServiceUnreachableError,
  SignatureFaultError,
  SignatureOutstandingError,
  signedBytes,
  verifySignature,
} from '../src/index.ts';

const redis = testRedis();
let product: TestProduct;
const msisdn = '+41700092501';
const text = 'Sign in to Example?';

beforeAll(async () => {
  product = await startStage(redis, { listen: true });
});
afterAll(() => product.stop());

const ours = () => createClient({ url: product.url, apId: 'http://test.example' });
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'it resolved',
    (error) => error,
  );

/** Answers everything with one body, and remembers what it was asked. */
const answering = (body: unknown, status = 200) => {
  const asked: Json[] = [];
  const fetch: Fetch = async (_url, { body: sent }) => {
    asked.push(JSON.parse(sent ?? 'null'));
    return new Response(JSON.stringify(body), { status });
  };
  return { asked, fetch };
};
const talkingTo = (fetch: Fetch, options: object = {}) =>
  createClient({ url: 'http://elsewhere.example', apId: 'mid://ap.example', fetch, ...options });

describe('a signature', () => {
  it.each(['asynch', 'synch'] as const)('comes back in %s mode, and verifies', async (mode) => {
    const client = ours();
    const { signature, ...signed } = await client.sign({
      msisdn,
      text,
      mode,
      geofencing: true,
      validate: true,
    });
    expect(signed).toMatchObject({
      profile: 'http://mid.vendor.ch/STK-LoA4',
      validated: true,
      services: { geofencing: { country: 'CH' } },
    });
    const trust = await client.rootCertificates();
    expect(verifySignature(signature ?? new Uint8Array(), text, { trust })).toMatchObject({
      ok: true,
    });
    expect(await client.receipt({ msspTransId: signed.msspTransId, msisdn, text: 'Thanks' })).toBe(
      'accepted',
    );
  });

  it('is over the rows of an approval', async () => {
    const client = ours();
    const approval = { title: 'Payment', rows: [{ key: 'Amount', value: 'CHF 12.50' }] };
    const { signature } = await client.sign({ msisdn: '+41700092509', approval });
    const trust = await client.rootCertificates();
    const cms = signature ?? new Uint8Array();
    expect(verifySignature(cms, signedBytes({ approval }), { trust })).toMatchObject({ ok: true });
    expect(verifySignature(cms, 'Payment', { trust })).toMatchObject({ ok: false });
  });

  it('is asked for later by its id', async () => {
    const client = ours();
    const { msspTransId } = await client.submit({ msisdn: somebody(), text });
    await vi.waitFor(
      async () =>
        expect(
          await product.api.transactions.answer(msspTransId, 1, {
            kind: 'fault',
            fault: fault(401),
          }),
        ).toBe('accepted'),
      20_000,
    );
    expect(await failureOf(client.result(msspTransId))).toMatchObject({ code: 401, msspTransId });
    expect(await failureOf(client.status(msspTransId))).toBeInstanceOf(SignatureFaultError);
  });

  it('is undefined when a one-time password was delivered', async () => {
    const signed = await ours().sign({ msisdn, text, profile: 'MID/v1/OtpProfileText' });
    expect(signed.signature).toBeUndefined();
  });
});

describe('what a person can sign with', () => {
  it('is told by the profile', async () => {
    const { profiles, sim } = await ours().profile(msisdn);
    expect(profiles).toContain('http://mid.vendor.ch/STK-LoA4');
    expect(sim?.state).toBe('ACTIVE');
  });
});

describe('a call that does not succeed', () => {
  it('rejects with the fault that the service answers', async () => {
    const failure = await failureOf(ours().sign({ msisdn: '+41791234567', text }));
    expect(failure).toBeInstanceOf(SignatureFaultError);
    expect(failure).toMatchObject({
      code: 105,
      reason: 'UNKNOWN_CLIENT',
      detail: 'MSISDN is unknown',
    });
  });

  it('rejects with the reason of the signal, and the transaction goes on', async () => {
    const client = ours();
    const { msspTransId } = await client.submit({ msisdn: somebody(), text });
    const stop = new AbortController();
    const waiting = client.result(msspTransId, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await client.status(msspTransId)).toEqual({ state: 'outstanding' });
    await expect(client.result(msspTransId, { timeoutMs: 30 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });

  it.each(['synch', 'asynch'] as const)('stops waiting in %s mode, too', async (mode) => {
    const call = ours().sign({ msisdn: somebody(), text, mode }, { timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('rejects when nobody answers', async () => {
    const client = createClient({
      url: 'http://127.0.0.1:1',
      apId: 'mid://ap.example',
      apPassword: 'hunter2',
    });
    const failure = await failureOf(client.sign({ msisdn, text }));
    expect(failure).toBeInstanceOf(ServiceUnreachableError);
    expect(`${failure}${JSON.stringify(failure)}`).not.toContain('hunter2');
  });

  it('rejects when what answers is no signature service', async () => {
    const server = createServer((_request, response) => response.end('<html></html>')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const client = createClient({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`,
      apId: 'mid://ap.example',
    });
    await expect(client.profile(msisdn)).rejects.toThrow('no signature service');
  });

  it('does not take it for the end of a transaction that the service is busy', async () => {
    const accepted = {
      MSS_SignatureResp: { MSSP_TransID: 'HEhm82c1', Status: { StatusCode: { Value: '100' } } },
    };
    const open = { MSS_StatusResp: { Status: { StatusCode: { Value: '504' } } } };
    const faultOf = (code: number) => ({ Fault: { Code: { SubCode: { Value: `_${code}` } } } });
    const later = { 'retry-after': '1' };
    const answers: [status: number, body: object, headers?: object][] = [
      [200, accepted],
      [500, faultOf(900), later],
      [500, faultOf(104), later],
      [200, open],
      [500, faultOf(401)],
      [500, faultOf(900), later],
      [500, faultOf(900), later],
    ];
    const server = createServer((_request, response) => {
      const [status, body, headers] = answers.shift() ?? [404, {}];
      response.writeHead(status, { ...headers }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const client = createClient({ url: `http://127.0.0.1:${port}`, apId: 'mid://ap.example' });
    expect(await failureOf(client.sign({ msisdn, text }))).toMatchObject({ code: 401 });
    expect(await failureOf(client.status('HEhm82c1'))).toBeInstanceOf(ServiceUnreachableError);
    // A request that is refused is refused: nothing was accepted.
    expect(await failureOf(client.submit({ msisdn, text }))).toBeInstanceOf(SignatureFaultError);
  });

  it('says that a transaction is still open after its time', async () => {
    let time = 0;
    const { fetch } = answering({
      MSS_SignatureResp: { MSSP_TransID: 'HEhm82c1', Status: { StatusCode: { Value: '504' } } },
      MSS_StatusResp: { Status: { StatusCode: { Value: '504' } } },
    });
    const client = talkingTo(fetch, { now: () => (time += 50_000) });
    const failure = await failureOf(client.sign({ msisdn, text }));
    expect(failure).toBeInstanceOf(SignatureOutstandingError);
    expect(failure).toMatchObject({ msspTransId: 'HEhm82c1' });
  });
});

describe('another service of the interface', () => {
  const folder = new URL('../../../test/fixtures/wire/', import.meta.url);
  const recordings = readdirSync(folder).map(
    (name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Json] as const,
  );

  /** Everything that a reader can do without. */
  const bare = (value: Json): Json => {
    const dispensable = [
      'AP_Info',
      'MSSP_Info',
      'MajorVersion',
      'MinorVersion',
      'MobileUser',
      'StatusMessage',
      'ValueNs',
      'Detail',
      'Reason',
    ];
    if (Array.isArray(value)) return value.map(bare);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(
          ([name]) =>
            !dispensable.includes(name) ||
            (name === 'MobileUser' && !('MSISDN' in Object(value.MobileUser))),
        )
        .map(([name, member]) => [name, bare(member)]),
    );
  };

  const ask = (
    { operation, request }: Json,
    client: ReturnType<typeof createClient>,
  ): Promise<unknown> => {
    switch (operation) {
      case 'sign':
        return request.MSS_SignatureReq.MessagingMode === 'synch'
          ? client.sign({ msisdn, text, mode: 'synch' })
          : client.submit({ msisdn, text });
      case 'status':
        return client.status('HEhm82c1');
      case 'receipt':
        return client.receipt({ msspTransId: 'HEhm82c1', msisdn, text });
      default:
        return client.profile(msisdn);
    }
  };

  it.each(recordings)('is understood: %s', async (_name, recording) => {
    const said = await ask(
      recording,
      talkingTo(answering(recording.response, recording.http).fetch),
    ).catch((error: unknown) => error);
    if (recording.http === 200) {
      expect(said).not.toBeInstanceOf(Error);
      return;
    }
    expect(said).toBeInstanceOf(SignatureFaultError);
    const { Reason, Code } = recording.response.Fault;
    expect(said).toMatchObject({ reason: Reason, code: Number(Code.SubCode.Value.slice(1)) });
  });

  it.each(recordings)(
    'is understood when it leaves out what may be missing: %s',
    async (_name, recording) => {
      const full = ask(recording, talkingTo(answering(recording.response, recording.http).fetch));
      const less = ask(
        recording,
        talkingTo(answering(bare(recording.response), recording.http).fetch),
      );
      const [one, other] = await Promise.all(
        [full, less].map((call) => call.catch((error: unknown) => error)),
      );
      // A fault without words has those of the table.
      if (one instanceof SignatureFaultError)
        expect(other).toMatchObject({ code: one.code, reason: one.reason });
      else expect(other).toEqual(one);
    },
  );

  it('is told that the answer is to be JSON, at each operation', async () => {
    const accepts: unknown[] = [];
    const fetch: Fetch = async (_url, { headers }) => {
      accepts.push(headers.accept);
      return new Response('{}');
    };
    const client = talkingTo(fetch);
    for (const call of [
      client.submit({ msisdn, text }),
      client.status('HEhm82c1'),
      client.receipt({ msspTransId: 'HEhm82c1', msisdn, text }),
      client.profile(msisdn),
    ])
      await failureOf(call);
    expect(accepts).toEqual([
      'application/json',
      'application/json',
      'application/json',
      'application/json',
    ]);
  });

  it('is asked in its own dialect', async () => {
    const { asked, fetch } = answering({ Fault: { Code: { SubCode: { Value: '_105' } } } }, 500);
    const dialect = { authority: 'mid.swisscom.ch', languageAuthority: 'mss.ficom.fi' };
    const client = talkingTo(fetch, { dialect, apPassword: 'secret' });
    await failureOf(
      client.sign({ msisdn, text, language: 'de', geofencing: true, profile: 'STK-LoA4' }),
    );
    const [{ MSS_SignatureReq: request } = {} as Json] = asked;
    expect(request.SignatureProfile).toBe('http://mid.swisscom.ch/STK-LoA4');
    expect(request.MSSP_Info.MSSP_ID.URI).toBe('http://mid.swisscom.ch/');
    expect(request.AdditionalServices).toEqual([
      { Description: 'http://mss.ficom.fi/TS102204/v1.0.0#userLang', UserLang: { Value: 'de' } },
      { Description: 'http://mid.swisscom.ch/as#geofencing' },
    ]);
    expect(createProtocol(defaultProtocolRules).parseSign(asked[0])).toMatchObject({ ok: true });
  });
});
