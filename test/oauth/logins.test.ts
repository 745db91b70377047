/**
 * Logins as transactions: the same login is never a second prompt, and only its own signature
 * counts.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogins, type LoginRequest, type Logins } from '../../src/oauth/logins.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
let product: TestProduct;
let logins: Logins;
/** Whose certificate is taken for somebody else's. */
let lent: string | undefined;
let roots: () => Promise<readonly Uint8Array[]>;

beforeAll(async () => {
  product = await startTestProduct(redis);
  roots = () => product.core.custodyOver(product.core.commands).trust();
  logins = createLogins({
    protocol: product.core.protocol,
    transactions: product.api.transactions,
    subscribers: product.core.subscribers,
    authority: 'mid.vendor.ch',
    promptSeconds: 30,
    trust: () => roots(),
    serialNumberOf: (msisdn) =>
      product.core
        .custodyOver(product.core.commands)
        .serialNumberOf(msisdn === lent ? '41700092502' : msisdn),
    busy: () => false,
    now: Date.now,
  });
});
afterAll(() => product.stop());

const requestOf = (changes: Partial<LoginRequest> = {}): LoginRequest => {
  const { main: tenant } = product.api.oauth.tenants;
  const client = tenant.clients.get('demo');
  if (client === undefined) throw new Error('The sandbox has no demo client');
  return {
    tenant,
    client,
    msisdn: '41700092501',
    language: 'en',
    acrValues: [],
    scopes: new Set(['openid']),
    dtbd: undefined,
    sessionCode: 'X7Q2',
    matchNumber: undefined,
    reference: `T${randomBytes(16).toString('hex')}`,
    begunAt: Date.now(),
    ...changes,
  };
};

const started = async (request: LoginRequest) => {
  const start = await logins.start(request);
  if (start.kind !== 'started') throw new Error(`It was ${start.kind}`);
  await logins.ended(start.msspTransId, Date.now() + 10_000, new AbortController().signal);
  return start;
};

describe('a login', () => {
  it('that is started again is the same transaction, also when that has ended meanwhile', async () => {
    const request = requestOf();
    const first = await started(request);
    expect(await logins.start(request)).toEqual(first);
    expect((await started(requestOf())).msspTransId).not.toBe(first.msspTransId);
  });

  it('counts by a signature over its own text', async () => {
    const request = requestOf();
    const start = await started(request);
    const state = await logins.look(start, request);
    expect(state).toMatchObject({
      kind: 'signed',
      evidence: { msisdn: request.msisdn, amr: ['mid_sim'], acr: 'mid_al3_any' },
    });
    expect(start.text).toContain('X7Q2');
  });

  it.each([
    ['another text', { text: 'Pay 1000.-?' }, {}],
    ['another login', {}, { reference: 'T0' }],
    ['another number', {}, { msisdn: '41700092502' }],
  ])('does not count by a transaction about %s', async (_, text, expected) => {
    const request = requestOf();
    const start = await started(request);
    expect(await logins.look({ ...start, ...text }, { ...request, ...expected })).toMatchObject({
      kind: 'failed',
      fault: { code: 900 },
    });
  });

  it('does not count by the signature of somebody else', async () => {
    const request = requestOf({ msisdn: '41700092509' });
    const start = await started(request);
    expect(await logins.look(start, request)).toMatchObject({ kind: 'signed' });
    lent = request.msisdn;
    expect(await logins.look(start, request)).toMatchObject({
      kind: 'failed',
      fault: { code: 900 },
    });
    lent = undefined;
  });

  it('counts with the roots of this moment, also when its signature was verified before', async () => {
    const request = requestOf();
    const start = await started(request);
    const ours = roots;
    const isSigned = async () => (await logins.look(start, request)).kind;
    expect(await isSigned()).toBe('signed');
    roots = async () => [];
    expect(await isSigned()).toBe('failed');
    roots = ours;
    expect(await isSigned()).toBe('signed');
  });

  it('has failed when its transaction cannot be found', async () => {
    const unknown = { msspTransId: 'H00000000000000000000', deadline: Date.now(), text: '' };
    expect(await logins.look(unknown, requestOf())).toMatchObject({
      kind: 'failed',
      fault: { code: 900 },
    });
  });

  it('with a SIM does not satisfy a client that asked for an App', async () => {
    const request = requestOf();
    const start = await started(request);
    expect(
      await logins.look(start, { ...request, acrValues: ['mid_al3_mobileapp'] }),
    ).toMatchObject({
      kind: 'failed',
    });
    expect(await logins.start(requestOf({ acrValues: ['mid_al3_mobileapp'] }))).toMatchObject({
      kind: 'refused',
    });
  });

  it('of nobody is refused without a transaction', async () => {
    expect(await logins.start(requestOf({ msisdn: '41799999999' }))).toMatchObject({
      kind: 'refused',
      fault: { code: 105 },
    });
  });

  it('cannot be asked for over HTTP in the name of the provider', async () => {
    const { status, body } = await product.post('/rest/service/sign', {
      MSS_SignatureReq: {
        AP_Info: {
          AP_ID: 'urn:paraph:oidc:default',
          AP_TransID: 'X',
          Instant: new Date().toISOString(),
        },
        MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
        MajorVersion: '1',
        MinorVersion: '2',
        MobileUser: { MSISDN: '+41700092501' },
        MessagingMode: 'asynch',
        SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
        TimeOut: '30',
        DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Log in?' },
        AdditionalServices: [],
      },
    });
    expect(status).toBe(500);
    expect(body.Fault.Code.SubCode.Value).toBe('_104');
  });
});
