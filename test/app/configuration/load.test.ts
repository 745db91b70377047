import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfiguration, parseConfiguration } from '../../../src/app/configuration/load.ts';
import { createSubscriberRegistry } from '../../../src/registry/subscribers.ts';
import { fullOidc } from './oidc-full.ts';

const passwordHash = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'B'.repeat(43)}`;
const sscd = {
  state: 'REGISTERED',
  suspended: true,
  pin: { blocked: true },
  certificate: { algorithm: 'RSA', state: 'INACTIVE', expired: true },
  device: { kind: 'simulated', sign: { fault: 401 }, receipt: 'cancels' },
};

/** Every key there is, each with a value that differs from its default. */
const full = {
  sandbox: true,
  applicationProviders: [
    {
      id: 'mid://bank.example',
      passwordHash,
      dtbsPrefix: 'Bank: ',
      profiles: ['STK-LoA4'],
      services: ['geofencing'],
      rateLimit: { requests: 10, perSeconds: 1 },
      clientCertificateFingerprints: ['AB:'.repeat(31).concat('AB')],
    },
  ],
  workflows: ['./approval.workflow.mjs'],
  gateways: [
    {
      name: 'live',
      url: 'https://live.example/mss',
      apId: 'mid://us.example',
      apPasswordFile: '/run/secrets/password',
      authority: 'mid.example.com',
      languageAuthority: 'mss.example.com',
      mode: 'synch',
      repeats: 'refused',
      tls: { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem', caFile: '/tls/ca.pem' },
      trustAnchorsFile: '/etc/roots.pem',
      default: true,
      limits: { calls: 40, pollsPerSecond: 20, maxPollSeconds: 5 },
    },
  ],
  subscribers: [
    {
      msisdn: '+41790000000',
      through: '41790000009',
      language: 'fr',
      sim: sscd,
      apps: [{ device: { kind: 'robot', thinkSeconds: 2 } }],
      carrier: { mcc: '228', mnc: '02', network: 'Example' },
      location: {
        sim: {
          kind: 'fix',
          country: 'CH',
          accuracyMeters: 5,
          deviceConfidence: 1,
          locationConfidence: 0.5,
          ageSeconds: 60,
        },
        app: { kind: 'error', errorCode: '105', errorMessage: 'Off' },
      },
      autoActivation: true,
      recoveryCodeCreated: true,
    },
  ],
  protocol: { authorities: ['mid.example.com'], minTimeoutSeconds: 10, maxTimeoutSeconds: 100 },
  retention: { signedDays: 1, failedDays: 2 },
  workers: { concurrency: 10, lockSeconds: 5, stalledCheckSeconds: 3 },
  queue: { shards: 4, prefix: 'mss', maxWaiting: 5000, maxOpen: 700 },
  custody: {
    kind: 'pkcs11',
    module: '/usr/lib/libtoken.so',
    slot: 3,
    pinFile: '/run/secrets/pin',
    userKeys: 'token',
    threads: 8,
    timeoutSeconds: 2,
  },
  http: {
    maxBodyBytes: 10_000,
    requestTimeoutSeconds: 20,
    headersTimeoutSeconds: 6,
    keepAliveSeconds: 70,
    lameDuckSeconds: 5,
    drainSeconds: 25,
    maxConnections: 500,
    maxInHand: 100,
    maxWaitingCallers: 400,
  },
  tls: { certFile: 'cert.pem', keyFile: 'key.pem', clientCaFile: 'ca.pem' },
  trustedProxy: { addresses: ['10.0.0.0/8', '::1', 'fd00::/8'], clientCertificateHeader: 'X-Cert' },
  appScheme: 'paraph',
  receipt: { timeoutSeconds: 30 },
  pki: {
    url: 'http://pki.example.com',
    rateLimit: { requests: 10, perSeconds: 1 },
    timeStampAuthority: { url: 'https://tsa.example.com', rootsFile: '/etc/paraph/tsa.pem' },
  },
  phone: {
    pinTries: 3,
    invitationDays: 2,
    maxPhones: 4,
    push: {
      subject: 'mailto:ops@example.com',
      publicKey:
        'BHoTft5Q4-Vuq2pUyxe6oibj2ow-21l_bZMK_PiOMqB_Amhdur_hysbqNTdNwZLHSTee35epJ1l_dHjR8wqe02Y',
      privateKey: 'UIDVdDXVTt7LzP3-XsjpfaAHdB_yVKsPpIQXkVe677s',
    },
  },
  documents: {
    store: {
      kind: 's3',
      endpoint: 'https://s3.example.com',
      region: 'eu-central-1',
      bucket: 'acme-paraph',
      timeoutSeconds: 5,
    },
    keptDays: 7,
    level: 'B-T',
    maxMegabytes: 100,
    minFreeMegabytes: 0,
  },
  otp: { gateway: { kind: 'webhook', url: 'https://sms.example/send' } },
  publicUrl: 'https://sign.example.com',
  oidc: fullOidc,
};

const problems = (input: unknown): readonly string[] => {
  const loaded = parseConfiguration(JSON.stringify(input));
  return loaded.ok ? [] : loaded.problems;
};

const value = (input: unknown) => {
  const loaded = parseConfiguration(JSON.stringify(input));
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return loaded.value;
};

describe('a configuration', () => {
  it('has a default for every key', () => {
    // oidc.test.ts looks at the rest.
    const { oidc: _oidc, operations: _operations, ...plain } = value({});
    expect(plain).toEqual({
      sandbox: false,
      applicationProviders: [],
      subscribers: [],
      protocol: {
        authorities: ['mid.vendor.ch', 'mss.vendor.fi', 'mid.swisscom.ch', 'mss.ficom.fi'],
        minTimeoutSeconds: 1,
        maxTimeoutSeconds: 300,
      },
      retention: { signedDays: 7, failedDays: 30 },
      workflows: [],
      custody: { kind: 'store' },
      documents: {
        store: { kind: 'directory' },
        keptDays: 30,
        level: 'B-LT',
        maxMegabytes: 5000,
        minFreeMegabytes: 512,
      },
      gateways: [],
      workers: { concurrency: 16, lockSeconds: 2, stalledCheckSeconds: 1 },
      queue: { shards: 1, prefix: 'paraph', maxWaiting: 10_000, maxOpen: 100_000 },
      http: {
        maxBodyBytes: 65_536,
        requestTimeoutSeconds: 10,
        headersTimeoutSeconds: 5,
        keepAliveSeconds: 5,
        lameDuckSeconds: 0,
        drainSeconds: 4,
        maxConnections: 20_000,
        maxInHand: 2000,
        maxWaitingCallers: 10_000,
      },
      appScheme: 'mobileid',
      receipt: { timeoutSeconds: 60 },
      phone: { pinTries: 5, invitationDays: 7, maxPhones: 5 },
      pki: { rateLimit: { requests: 600, perSeconds: 60 } },
      otp: { gateway: { kind: 'outbox' } },
    });
  });

  it('keeps every value that is given', () => {
    const {
      applicationProviders,
      subscribers,
      oidc: _oidc,
      operations: _operations,
      ...plain
    } = value(full);
    const {
      applicationProviders: _providers,
      subscribers: _subscribers,
      oidc: _given,
      ...given
    } = full;
    expect(plain).toEqual(given);
    expect(applicationProviders).toEqual([
      { ...full.applicationProviders[0], clientCertificateFingerprints: ['ab'.repeat(32)] },
    ]);
    expect(createSubscriberRegistry({ subscribers, sandbox: false }).find('41790000004')).toEqual({
      msisdn: '41790000004',
      language: 'fr',
      sim: {
        kind: 'sim',
        id: 'sim',
        state: 'REGISTERED',
        suspended: true,
        pinBlocked: true,
        algorithm: 'RSA',
        certificateState: 'INACTIVE',
        certificateExpired: true,
        device: { kind: 'simulated', sign: { fault: 401 }, receipt: 'cancels' },
      },
      apps: [
        {
          kind: 'app',
          id: 'app-0',
          state: 'ACTIVE',
          suspended: false,
          pinBlocked: false,
          algorithm: 'EC',
          certificateState: 'ACTIVE',
          certificateExpired: false,
          device: { kind: 'robot', thinkSeconds: 2 },
        },
      ],
      carrier: { mcc: '228', mnc: '02', network: 'Example' },
      location: {
        sim: {
          country: 'CH',
          accuracyMeters: 5,
          deviceConfidence: 1,
          locationConfidence: 0.5,
          ageSeconds: 60,
        },
        app: { errorCode: '105', errorMessage: 'Off' },
      },
      autoActivation: true,
      recoveryCodeCreated: true,
      alwaysFaults: undefined,
    });
  });

  it('takes an empty SIM for a healthy robot with an EC key', () => {
    const [template] = value({ subscribers: [{ msisdn: '41790000001', sim: {} }] }).subscribers;
    expect(template?.subscriber.sim).toMatchObject({
      state: 'ACTIVE',
      algorithm: 'EC',
      device: { kind: 'robot' },
    });
  });

  it('writes an unknown carrier as the interface does', () => {
    const [template] = value({ subscribers: [{ msisdn: '41790000001', carrier: {} }] }).subscribers;
    expect(template?.subscriber.carrier).toEqual({
      mcc: '000',
      mnc: '00',
      network: 'Unknown network',
    });
  });

  it('is a sandbox without a file, and with one only if that says so', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'paraph-'));
    try {
      const path = join(directory, 'configuration.json');
      await writeFile(path, '{}');
      expect(await loadConfiguration(undefined)).toMatchObject({
        ok: true,
        value: { sandbox: true },
      });
      expect(await loadConfiguration(path)).toMatchObject({ ok: true, value: { sandbox: false } });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('is not a sandbox because its file is missing', async () => {
    expect(await loadConfiguration('/nonexistent/configuration.json')).toEqual({
      ok: false,
      problems: ['configuration: the file cannot be read (ENOENT)'],
    });
  });
});

describe('a problem', () => {
  it('with the text itself gives the place, where it is known, and quotes nothing', () => {
    for (const text of ['{\n  "appScheme": hunter2\n}', 'hunter2', '{"tls": {', '']) {
      const loaded = parseConfiguration(text);
      expect(loaded).toMatchObject({
        ok: false,
        problems: [expect.stringMatching(/^configuration: not valid JSON/)],
      });
      expect(JSON.stringify(loaded)).not.toContain('hunter2');
    }
  });

  it.each([
    ['an unknown key', { sandboxed: true }, ['sandboxed: unknown key']],
    ['a key that is needed', { tls: { certFile: '/a.pem' } }, ['tls.keyFile: missing']],
    ['an unknown key further in', { http: { maxBody: 1 } }, ['http.maxBody: unknown key']],
    [
      'an unknown key in a list',
      { subscribers: [{ msisdn: '41790000001', sim: { pin: { code: 1 } } }] },
      ['subscribers[0].sim.pin.code: unknown key'],
    ],
    [
      'two applications of one name',
      { applicationProviders: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] },
      ['applicationProviders[2].id: is the same as applicationProviders[0].id'],
    ],
    [
      'the public key of another private key',
      { phone: { push: { ...full.phone.push, privateKey: 'B'.repeat(43) } } },
      ['phone.push: must have the publicKey of its privateKey'],
    ],
    [
      'a private key that is none',
      { phone: { push: { ...full.phone.push, privateKey: 'A'.repeat(43) } } },
      ['phone.push: must have the publicKey of its privateKey'],
    ],
    [
      'mails without an address for their links',
      { mail: { url: 'smtps://mail.example.com', from: 'sign@example.com' } },
      ['publicUrl: must be set, because mail is: the links in mails lead there'],
    ],
    ...(
      [
        [
          { url: 'smtp://paraph:secret@mail.example.com' },
          'url',
          'must be smtp://host:port or smtps://host:port, without user and password',
        ],
        [
          { url: 'https://mail.example.com' },
          'url',
          'must be smtp://host:port or smtps://host:port, without user and password',
        ],
        [{ user: 'paraph' }, 'passwordFile', 'must be set together with mail.user'],
        [
          { passwordFile: '/run/secrets/mail' },
          'passwordFile',
          'must be set together with mail.user',
        ],
        [
          { from: 'Example' },
          'from',
          'must be an address, or a name and an address: Example <sign@example.com>',
        ],
        [
          { from: 'A <sign@example.com>, eve@example.com' },
          'from',
          'must be an address, or a name and an address: Example <sign@example.com>',
        ],
      ] as const
    ).map(([own, key, message]): [string, object, string[]] => [
      `mail with ${JSON.stringify(own)}`,
      {
        sandbox: true,
        publicUrl: 'http://127.0.0.1:8080',
        mail: { url: 'smtps://mail.example.com', from: 'Example <sign@example.com>', ...own },
      },
      [`mail.${key}: ${message}`],
    ]),
    [
      'a number in two entries',
      {
        subscribers: [
          { msisdn: '41790000000' },
          { msisdn: '41790000005' },
          { msisdn: '41790000001', through: '41790000009' },
        ],
      },
      ['subscribers[2].msisdn: overlaps subscribers[1]'],
    ],
    [
      'a range that ends before it begins',
      { subscribers: [{ msisdn: '41790000009', through: '41790000001' }] },
      ['subscribers[0].through: must have as many digits as msisdn and not be less'],
    ],
    [
      'a range over numbers of different length',
      { subscribers: [{ msisdn: '41790000009', through: '417900000010' }] },
      ['subscribers[0].through: must have as many digits as msisdn and not be less'],
    ],
    [
      'bounds in the wrong order',
      { protocol: { minTimeoutSeconds: 20, maxTimeoutSeconds: 10 } },
      ['protocol.maxTimeoutSeconds: must not be less than minTimeoutSeconds'],
    ],
    [
      'a code that is no fault',
      {
        subscribers: [
          { msisdn: '41790000001', sim: { device: { kind: 'simulated', sign: { fault: 999 } } } },
        ],
      },
      ['subscribers[0].sim.device.sign.fault: must be a code of the fault table'],
    ],
    [
      'a password where its stored form belongs',
      { applicationProviders: [{ id: 'a', passwordHash: 'hunter2' }] },
      [
        'applicationProviders[0].passwordHash: must be a stored password of the form $scrypt$ln=…,r=…,p=…$salt$hash',
      ],
    ],
  ])('with %s names the path', (_, input, expected) => {
    expect(problems(input)).toEqual(expected);
  });

  it.each(['http', 'HTTP'])(
    'is refused where time stamps come over %s outside of a sandbox',
    (scheme) => {
      const timeStampAuthority = {
        url: `${scheme}://tsa.example.com`,
        rootsFile: '/etc/paraph/tsa.pem',
      };
      const parsed = parseConfiguration(JSON.stringify({ pki: { timeStampAuthority } }));
      expect(parsed.ok ? [] : parsed.problems).toEqual([
        'pki.timeStampAuthority.url: must be https, unless this is a sandbox',
      ]);
    },
  );

  it('is reported for every bad key at once', () => {
    expect(problems({ appScheme: '', queue: { shards: 0 }, http: { x: 1 } })).toHaveLength(3);
  });

  it('with the whole is reported too', () => {
    for (const input of [null, [], 'text', 1])
      expect(problems(input)).toEqual([expect.stringMatching(/^configuration: /)]);
  });

  it('names the key, or one above it, and never the value, whichever key is bad', () => {
    const leaves: { readonly path: string; readonly set: (to: unknown) => unknown }[] = [];
    const visit = (node: unknown, path: string, set: (to: unknown) => unknown): void => {
      if (typeof node !== 'object' || node === null) {
        leaves.push({ path, set });
        return;
      }
      for (const [key, child] of Object.entries(node)) {
        const isList = Array.isArray(node);
        const childPath = isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
        const replaced = (to: unknown) =>
          isList
            ? node.map((element, index) => (index === Number(key) ? to : element))
            : { ...node, [key]: to };
        visit(child, childPath, (to) => set(replaced(to)));
      }
    };
    visit(full, '', (to) => to);

    // Free text takes any string, so a value that no key takes is tried as well.
    for (const wrong of ['hunter2 \u0000', ['hunter2'], { hunter: 'hunter2' }]) {
      for (const { path, set } of leaves) {
        const found = problems(set(wrong));
        if (typeof wrong !== 'string') expect(found, path).not.toEqual([]);
        for (const problem of found) {
          expect(problem).not.toContain('hunter2');
          // A bad discriminator is reported at its key, a bad alternative of a union at the
          // union's.
          expect(
            path.startsWith(problem.split(': ')[0]?.replace(/\.hunter$/, '') ?? '?'),
            `${path} / ${problem}`,
          ).toBe(true);
        }
      }
    }
  });
});
