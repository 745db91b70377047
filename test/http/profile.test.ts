/** MSS_ProfileReq: what a user can sign with, part by part. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed } from '../../packages/protocol/test/samples.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest } from '../support/requests.ts';
import { expectFault, expectSignature, send, sign, type WireAnswer } from './wire.ts';

const robot = '41700092501';
const both = '41790000001';
const twoApps = '41790000002';
const appOnly = '41700092508';

/** What stands against a user, by number. */
const obstacles = [
  ['41790000010', { pin: { blocked: true } }, 402, 'PIN of the mobile user is blocked'],
  ['41790000011', { suspended: true }, 403, undefined],
  ['41790000012', { state: 'INACTIVE' }, 404, 'Mobile user account needs to be activated'],
  ['41790000013', { state: 'REGISTERED' }, 404, undefined],
  ['41790000014', { certificate: { expired: true } }, 422, 'Certificate is expired'],
] as const;

const anySim = ['Any-LoA4', 'MID/v1/AuthProfile1', 'MID/v1/AuthProfile1.ECC', 'STK-LoA4'];

/** The profiles that work for a user with a SIM and an App one of which cannot sign, by number. */
const halfBlocked: Readonly<Record<string, readonly string[]>> = {
  '41790000020': ['Device-LoA4'],
  '41790000021': ['Device-LoA4'],
  '41790000022': ['Any-LoA4', 'Device-LoA4', 'MID/v1/AuthProfile1'],
  '41790000023': anySim,
};

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      subscribers: [
        {
          msisdn: both,
          sim: {},
          apps: [{ pin: { blocked: true }, certificate: { algorithm: 'RSA' } }],
          autoActivation: true,
          recoveryCodeCreated: true,
        },
        {
          msisdn: twoApps,
          apps: [{}, { state: 'REGISTERED', certificate: { state: 'INACTIVE' } }],
        },
        { msisdn: '41790000009' },
        { msisdn: '41790000020', sim: { pin: { blocked: true } }, apps: [{}] },
        { msisdn: '41790000021', sim: { suspended: true }, apps: [{}] },
        { msisdn: '41790000022', sim: { certificate: { expired: true } }, apps: [{}] },
        { msisdn: '41790000023', sim: {}, apps: [{ pin: { blocked: true } }] },
        ...obstacles.map(([msisdn, sim]) => ({ msisdn, sim })),
      ],
    },
  });
});
afterAll(() => product.stop());

const profile = (msisdn: string, params?: string): Promise<WireAnswer> =>
  send(product, '/rest/service/profile', profileRequest(msisdn, params));

const extensionOf = ({ body }: WireAnswer): Json =>
  body.MSS_ProfileResp.Status.StatusDetail?.ProfileQueryExtension;

/** The members of an extension, down to the parts that words of Params switch on. */
const namesIn = ({ MobileUser = {}, Sscds = {} }: Json): readonly string[] => [
  ...Object.keys(MobileUser),
  ...Object.entries(Sscds).flatMap(([kind, sscd]) =>
    [kind].concat(Object.keys(Array.isArray(sscd) ? (sscd[0] ?? {}) : (sscd ?? {}))),
  ),
];

describe('Params', () => {
  it('that are empty give the list of profiles alone', async () => {
    const { body } = await profile(robot, '');
    expect(body.MSS_ProfileResp).toMatchObject({
      MajorVersion: '2',
      MinorVersion: '0',
      SignatureProfile: [
        'http://mid.vendor.ch/Any-LoA4',
        'http://mid.vendor.ch/MID/v1/AuthProfile1',
        'http://mid.vendor.ch/MID/v1/AuthProfile1.ECC',
        'http://mid.vendor.ch/STK-LoA4',
      ],
    });
    expect(body.MSS_ProfileResp.Status).toEqual({
      StatusCode: { Value: '100' },
      StatusMessage: 'REQUEST_OK',
    });
  });

  it.each([
    ['sscds', { Sscds: { Sim: {} } }],
    ['state', { Sscds: { Sim: { State: 'ACTIVE' } } }],
    ['sscds state', { Sscds: { Sim: { State: 'ACTIVE' } } }],
    ['pinstatus', { Sscds: { Sim: { PinStatus: { Blocked: false } } } }],
    ['pinstatus state', { Sscds: { Sim: { PinStatus: { Blocked: false }, State: 'ACTIVE' } } }],
    [
      'carddetails',
      { Sscds: { Sim: { CardDetails: { Mcc: '228', Mnc: '01', Network: 'Swisscom' } } } },
    ],
    [
      'certs',
      { Sscds: { Sim: { MobileUserCertificate: [{ Algorithm: 'EC', State: 'ACTIVE' }] } } },
    ],
    ['aastatus', { MobileUser: { AutoActivation: false } }],
    ['rcstatus', { MobileUser: { RecoveryCodeCreated: false } }],
    ['rcstatus  aastatus', { MobileUser: { AutoActivation: false, RecoveryCodeCreated: false } }],
    [
      'aastatus pinstatus',
      { MobileUser: { AutoActivation: false }, Sscds: { Sim: { PinStatus: { Blocked: false } } } },
    ],
  ])('switch on their part of the answer, each by itself: %s', async (params, extension) => {
    const given = extensionOf(await profile(robot, params));
    expect(given).toMatchObject(extension);
    expect(namesIn(given)).toEqual(namesIn(extension));
  });

  it('certs give the certificates of user, issuing CA and root, with their subjects as plain text', async () => {
    const answer = await profile(robot, 'certs');
    const [certificate, ...others] = extensionOf(answer).Sscds.Sim.MobileUserCertificate;
    expect(others).toEqual([]);
    expect(certificate).toMatchObject({ Algorithm: 'EC', State: 'ACTIVE' });
    const chain = certificate.X509Certificate.map(
      (base64: string) => new X509Certificate(Buffer.from(base64, 'base64')),
    ) as X509Certificate[];
    const [user, issuing, root] = chain;
    expect(chain).toHaveLength(3);
    expect(user?.verify((issuing as X509Certificate).publicKey)).toBe(true);
    expect(issuing?.verify((root as X509Certificate).publicKey)).toBe(true);
    expect([root?.raw]).toEqual(
      (await product.core.custodyOver(product.core.commands).trust()).map(Buffer.from),
    );
    // The very certificate that signs.
    const serial = await expectSignature(product, await sign(product), 'Sign in to Example?');
    expect(certificate.X509SubjectName[0]).toBe(
      `cn=${serial}:pn,serialnumber=${serial}`.toLowerCase(),
    );
    expect(certificate.X509SubjectName).toHaveLength(3);
    for (const name of certificate.X509SubjectName) expect(name).toBe(name.toLowerCase());
  });

  it.each(['sscds everything', 'SSCDS', 'sscds,state', 'toString'])(
    'with an unknown word are fault 101: %s',
    async (params) => {
      expectFault(await profile(robot, params), 101);
    },
  );
});

describe('the SSCDs of a user', () => {
  it('are Sim and an array App, each with a State, PinStatus and certificate of its own', async () => {
    const extension = extensionOf(await profile(both));
    expect(extension.MobileUser).toEqual({ AutoActivation: true, RecoveryCodeCreated: true });
    const { Sim, App } = extension.Sscds;
    expect(Sim).toMatchObject({
      CardDetails: { Mcc: '000', Mnc: '00', Network: 'Unknown network' },
      MobileUserCertificate: [{ Algorithm: 'EC' }],
      PinStatus: { Blocked: false },
      State: 'ACTIVE',
    });
    expect(App).toMatchObject([
      {
        MobileUserCertificate: [{ Algorithm: 'RSA' }],
        PinStatus: { Blocked: true },
        State: 'ACTIVE',
      },
    ]);
    expect(App[0]).not.toHaveProperty('CardDetails');
  });

  it('have no App when the user has none, and no Sim', async () => {
    expect(Object.keys(extensionOf(await profile(robot)).Sscds)).toEqual(['Sim']);
    expect(Object.keys(extensionOf(await profile(appOnly)).Sscds)).toEqual(['App']);
  });

  it('may be several Apps in any state', async () => {
    const { App } = extensionOf(await profile(twoApps, 'sscds state certs')).Sscds;
    expect(App).toMatchObject([
      { State: 'ACTIVE', MobileUserCertificate: [{ State: 'ACTIVE' }] },
      { State: 'REGISTERED', MobileUserCertificate: [{ State: 'INACTIVE' }] },
    ]);
  });

  it('decide which profiles are listed, Any-* among them', async () => {
    const { body } = await profile(appOnly, '');
    expect(body.MSS_ProfileResp.SignatureProfile).toEqual([
      'http://mid.vendor.ch/Any-LoA4',
      'http://mid.vendor.ch/Device-LoA4',
      'http://mid.vendor.ch/MID/v1/AuthProfile1',
    ]);
  });
});

describe('a user who can sign with one device and not with another', () => {
  it.each(Object.entries(halfBlocked))(
    'sees in the profile what sign would do: %s',
    async (msisdn, listed) => {
      const { body } = await profile(msisdn, 'pinstatus');
      expect(body.MSS_ProfileResp.SignatureProfile).toEqual(
        listed.map((name) => `http://mid.vendor.ch/${name}`),
      );
      for (const name of ['Any-LoA4', 'STK-LoA4', 'Device-LoA4', 'MID/v1/AuthProfile1.ECC']) {
        const signed = await sign(product, { msisdn, profile: `http://mid.vendor.ch/${name}` });
        expect([name, signed.status]).toEqual([name, listed.includes(name) ? 200 : 500]);
      }
    },
  );

  it('is told which PIN is blocked', async () => {
    expect(extensionOf(await profile('41790000020', 'pinstatus'))).toEqual({
      Sscds: { App: [{ PinStatus: { Blocked: false } }], Sim: { PinStatus: { Blocked: true } } },
    });
  });
});

describe('the profiles', () => {
  it.each([
    ['http://mid.swisscom.ch/', 'mid.swisscom.ch'],
    ['http://mid.vendor.ch/somewhere', 'mid.vendor.ch'],
    ['urn:somebody:else', 'mid.vendor.ch'],
  ])('are spelled in the dialect of MSSP_ID %s', async (uri, authority) => {
    const request = changed(profileRequest(robot, ''), 'MSS_ProfileReq.MSSP_Info.MSSP_ID.URI', uri);
    const { body } = await send(product, '/rest/service/profile', request);
    expect(body.MSS_ProfileResp.MSSP_Info.MSSP_ID.URI).toBe(uri);
    expect(body.MSS_ProfileResp.SignatureProfile).toContain(`http://${authority}/STK-LoA4`);
  });
});

describe('a user who cannot be asked', () => {
  it.each(obstacles)(
    'faults alike in profile and sign: %s %o is %s',
    async (msisdn, _sim, code, detail) => {
      expectFault(await profile(msisdn), code, detail);
      expectFault(await sign(product, { msisdn }), code, detail);
    },
  );

  it.each(['41790000000', '41790000009'])(
    'is fault 105 when unknown or without an SSCD: %s',
    async (msisdn) => {
      expectFault(await profile(msisdn), 105, 'MSISDN is unknown');
      expectFault(await sign(product, { msisdn }), 105, 'MSISDN is unknown');
    },
  );
});

describe('a profile request', () => {
  it.each([
    ['1', '1'],
    ['2', '1'],
  ])('of version %s.%s is fault 108', async (major, minor) => {
    const request = changed(profileRequest(), 'MSS_ProfileReq.MajorVersion', major);
    const body = changed(request, 'MSS_ProfileReq.MinorVersion', minor);
    expectFault(await send(product, '/rest/service/profile', body), 108);
  });
});
