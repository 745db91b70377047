import { beforeAll, describe, expect, it } from 'vitest';
import { fault } from '../../packages/protocol/src/fault.ts';
import type {
  AdditionalServices,
  DataToBeSigned,
  ProfileName,
} from '../../packages/protocol/src/requests.ts';
import {
  type Credentials,
  checkSignatureRequest,
  createApplicationProviders,
  type Evidence,
  type RegisteredProvider,
} from '../../src/registry/application-providers.ts';
import { createPasswordVerifier } from '../../src/registry/password-verifier.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import type { RateLimiter } from '../../src/registry/rate-limiter.ts';

const provider = (
  id: string,
  registration: Partial<RegisteredProvider> = {},
): RegisteredProvider => ({
  id,
  dtbsPrefix: undefined,
  profiles: undefined,
  services: undefined,
  passwordHash: undefined,
  rateLimit: undefined,
  clientCertificateFingerprints: undefined,
  ...registration,
});

const credentials = (
  apId: string,
  {
    apPassword,
    clientCertificateFingerprint,
  }: Partial<Pick<Credentials, 'apPassword'> & Evidence> = {},
): Credentials => ({ apId, apPassword, evidence: () => ({ clientCertificateFingerprint }) });

/** Counts within the process; what it was asked is kept for the test. */
const countingLimiter = (): Pick<RateLimiter, 'take'> & { readonly asked: readonly string[] } => {
  const asked: string[] = [];
  return {
    asked,
    take: async (key, { requests }) => {
      asked.push(key);
      return asked.filter((earlier) => earlier === key).length <= requests;
    },
  };
};

const hers = 'ab'.repeat(32);
const his = 'cd'.repeat(32);
let passwordHash: string;
beforeAll(async () => {
  passwordHash = await hashPassword('secret', { ln: 10, r: 1, p: 1 });
});

const registry = ({ sandbox = false, rateLimiter = countingLimiter() } = {}) =>
  createApplicationProviders({
    providers: [
      provider('open'),
      provider('closed', { passwordHash }),
      provider('certified', { clientCertificateFingerprints: [hers] }),
      provider('both', { passwordHash, clientCertificateFingerprints: [hers] }),
      provider('limited', { passwordHash, rateLimit: { requests: 2, perSeconds: 60 } }),
    ],
    sandbox,
    rateLimiter,
    passwords: createPasswordVerifier(),
  });

const denied = { ok: false, fault: fault(104) };
const tooFast = { ok: false, fault: { code: 104, detail: 'Request rate exceeded' } };

describe('an application provider', () => {
  it('registered without a password has its AP_PWD ignored', async () => {
    const { authorize } = registry();
    expect(await authorize(credentials('open'))).toMatchObject({ ok: true, value: { id: 'open' } });
    expect(await authorize(credentials('open', { apPassword: 'not-needed' }))).toMatchObject({
      ok: true,
    });
    expect(await authorize(credentials('open', { apPassword: 'x'.repeat(5000) }))).toMatchObject({
      ok: true,
    });
  });

  it('registered with a password or certificate is let in with it', async () => {
    const { authorize } = registry();
    const [apPassword, clientCertificateFingerprint] = ['secret', hers];
    for (const known of [
      credentials('closed', { apPassword }),
      credentials('certified', { clientCertificateFingerprint }),
      credentials('both', { apPassword, clientCertificateFingerprint }),
    ]) {
      expect(await authorize(known)).toMatchObject({ ok: true, value: { id: known.apId } });
    }
  });

  it('gets one and the same fault 104 for whatever is wrong with its identity', async () => {
    const { authorize } = registry();
    for (const unknown of [
      credentials('nobody'),
      credentials('nobody', { apPassword: 'secret' }),
      credentials('closed'),
      credentials('closed', { apPassword: '' }),
      credentials('closed', { apPassword: 'Secret' }),
      credentials('closed', { apPassword: 'x'.repeat(5000) }),
      credentials('certified'),
      credentials('certified', { clientCertificateFingerprint: his }),
      credentials('both', { apPassword: 'secret' }),
      credentials('both', { apPassword: 'Secret', clientCertificateFingerprint: hers }),
      credentials('CLOSED', { apPassword: 'secret' }),
      credentials('__proto__'),
    ]) {
      expect(await authorize(unknown)).toEqual(denied);
    }
  });

  it('that is unknown is refused only after the work that a wrong password takes', async () => {
    const tried: string[] = [];
    const { authorize } = createApplicationProviders({
      providers: [
        provider('closed', { passwordHash }),
        provider('certified', { clientCertificateFingerprints: [hers] }),
      ],
      sandbox: false,
      rateLimiter: countingLimiter(),
      passwords: {
        verify: (stored) => {
          tried.push(stored);
          return 'wrong';
        },
      },
    });
    for (const apId of ['nobody', 'closed', 'certified']) {
      expect(await authorize(credentials(apId, { apPassword: 'guess' }))).toEqual(denied);
    }
    expect(tried).toHaveLength(3);
    expect(tried[1]).toBe(passwordHash);
    expect(tried[0]).toBe(tried[2]);
    expect(tried[0]?.split('$')[2]).toBe(passwordHash.split('$')[2]);
  });

  it('steps aside while its password is computed, whoever it is, and comes back only when it was right', async () => {
    const { authorize } = registry();
    const call = async (apId: string, apPassword: string) => {
      const steps: string[] = [];
      const answer = await authorize(credentials(apId, { apPassword }), {
        stepAside: () => void steps.push('aside'),
        comeBack: async () => {
          steps.push('back');
          return { ok: true, value: undefined };
        },
      });
      return [...steps, answer.ok ? 'in' : 'refused'];
    };
    for (const [apId, apPassword] of [
      ['nobody', 'guess'],
      ['closed', 'guess'],
      ['certified', 'secret'],
    ] as const) {
      expect(await call(apId, apPassword)).toEqual(['aside', 'aside', 'refused']);
    }
    expect(await call('closed', 'secret')).toEqual(['aside', 'back', 'in']);
    // Known by now: it waits for nobody.
    expect(await call('closed', 'secret')).toEqual(['in']);
    expect(await call('open', 'anything')).toEqual(['in']);
  });

  it('is told so when there is no room to come back to', async () => {
    const { authorize } = registry();
    const noRoom = { ok: false, fault: { code: 900, detail: 'no room' } } as const;
    const place = { stepAside: () => undefined, comeBack: async () => noRoom };
    expect(await authorize(credentials('closed', { apPassword: 'secret' }), place)).toEqual(noRoom);
  });

  it('is registered or not, in a sandbox too', () => {
    const { isRegistered } = registry({ sandbox: true });
    expect(isRegistered('closed')).toBe(true);
    expect(isRegistered('mid://anybody')).toBe(false);
  });

  it('is any at all in a sandbox, but those that are registered must still prove it', async () => {
    const { authorize } = registry({ sandbox: true });
    expect(await authorize(credentials('mid://anybody'))).toEqual({
      ok: true,
      value: {
        id: 'mid://anybody',
        dtbsPrefix: undefined,
        profiles: undefined,
        services: undefined,
      },
    });
    expect(await authorize(credentials('closed', { apPassword: 'guess' }))).toEqual(denied);
  });

  it('over its rate is refused with a detail that says so', async () => {
    const { authorize } = registry();
    const known = credentials('limited', { apPassword: 'secret' });
    expect(await authorize(known)).toMatchObject({ ok: true });
    expect(await authorize(known)).toMatchObject({ ok: true });
    expect(await authorize(known)).toEqual(tooFast);
  });

  it('cannot have its rate used up by somebody who only knows its name', async () => {
    const rateLimiter = countingLimiter();
    const { authorize } = registry({ rateLimiter });
    await authorize(credentials('limited', { apPassword: 'guess' }));
    await authorize(credentials('limited'));
    expect(rateLimiter.asked).toEqual([]);
  });

  it('against which too many passwords are tried at once is refused as too fast', async () => {
    const { authorize } = createApplicationProviders({
      providers: [provider('closed', { passwordHash })],
      sandbox: false,
      rateLimiter: countingLimiter(),
      passwords: createPasswordVerifier({ maxConcurrent: 1, maxWaitingPerLane: 0 }),
    });
    const first = authorize(credentials('closed', { apPassword: 'guess 1' }));
    expect(await authorize(credentials('closed', { apPassword: 'guess 2' }))).toEqual(tooFast);
    expect(await first).toEqual(denied);
  });
});

const text = (words: string): DataToBeSigned => ({ kind: 'text', text: words });
const approval = (dtbd: unknown): DataToBeSigned => ({
  kind: 'transaction-approval',
  text: 'Bank: whatever the whole says',
  dtbd: typeof dtbd === 'string' ? dtbd : JSON.stringify(dtbd),
});

const asking = ({
  profile = 'Any-LoA4',
  services = {},
  data = text('Bank: sign?'),
}: {
  readonly profile?: ProfileName;
  readonly services?: AdditionalServices;
  readonly data?: DataToBeSigned;
} = {}) => ({ profile: { authority: 'mid.vendor.ch', name: profile }, services, data });

describe('what a request may ask for', () => {
  const code = (registered: RegisteredProvider, request: ReturnType<typeof asking>) => {
    const checked = checkSignatureRequest(registered, request);
    return checked.ok ? 'allowed' : checked.fault;
  };

  it('is everything, unless the provider is registered with less', () => {
    expect(code(provider('open'), asking())).toBe('allowed');
  });

  it('is only the profiles that it is allowed: fault 109', () => {
    const only = provider('stk', { profiles: ['STK-LoA4'] });
    expect(code(only, asking({ profile: 'STK-LoA4' }))).toBe('allowed');
    expect(code(only, asking({ profile: 'Any-LoA4' }))).toMatchObject({ code: 109 });
    expect(code(provider('none', { profiles: [] }), asking())).toMatchObject({ code: 109 });
  });

  it('is only the services that it has subscribed to: fault 104', () => {
    const only = provider('plain', { services: ['userLang'] });
    const userLang = { uri: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', language: 'en' };
    const geofencing = { uri: 'http://mid.vendor.ch/as#geofencing', policy: undefined };
    expect(code(only, asking({ services: { userLang } }))).toBe('allowed');
    expect(code(only, asking({ services: { userLang, geofencing } }))).toEqual(fault(104));
  });

  it('must begin with the prefix of the provider: fault 107', () => {
    const bank = provider('bank', { dtbsPrefix: 'Bank: ' });
    expect(code(bank, asking({ data: text('Bank: pay?') }))).toBe('allowed');
    for (const words of ['pay? Bank: ', 'bank: pay?', ' Bank: pay?', 'Bank:pay?', '']) {
      expect(code(bank, asking({ data: text(words) }))).toEqual({
        code: 107,
        detail: 'DTBD matching failed',
      });
    }
  });

  it('has the prefix in the value of the first pair when it is an approval', () => {
    const bank = provider('bank', { dtbsPrefix: 'Bank: ' });
    const [good, bad] = [
      { key: 'From', value: 'Bank: transfer' },
      { key: 'Bank: ', value: 'transfer' },
    ];
    expect(code(bank, asking({ data: approval([good, bad]) }))).toBe('allowed');
    for (const dtbd of [
      [bad, good],
      [bad],
      [],
      [{ key: 'Bank: ' }],
      { 0: good },
      'Bank: not JSON',
    ]) {
      expect(code(bank, asking({ data: approval(dtbd) }))).toMatchObject({ code: 107 });
    }
  });
});

describe('a stored request', () => {
  const stored = (apId: string, data = text('Bank: sign?')) => ({
    ...asking({ data }),
    caller: { apId, apPassword: undefined, apTransId: 'T1', instant: '', msspUri: '' },
    msisdn: { written: '41790000001', number: '41790000001' },
    messagingMode: 'asynch' as const,
    timeoutSeconds: 60,
  });
  const { checkStored } = createApplicationProviders({
    providers: [provider('bank', { dtbsPrefix: 'Bank: ', clientCertificateFingerprints: [hers] })],
    sandbox: false,
    rateLimiter: countingLimiter(),
    passwords: createPasswordVerifier(),
  });

  it('needs no proof of identity, but a known provider that may ask for it', () => {
    expect(checkStored(stored('bank'))).toEqual({ ok: true, value: undefined });
    expect(checkStored(stored('nobody'))).toEqual(denied);
    expect(checkStored(stored('bank', text('sign?')))).toMatchObject({ fault: { code: 107 } });
  });
});
