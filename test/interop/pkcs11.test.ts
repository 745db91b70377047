/** Private keys in a PKCS#11 token (docs/operations/pkcs11.md): SoftHSM, which is a token in software. */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { interleave } from '../../bench/harness/rounds.ts';
import { median, roundRatios } from '../../bench/harness/statistics.ts';
import { createSigningKeys } from '../../src/oauth/signing-keys.ts';
import { createKeyCustody } from '../../src/pki/custody.ts';
import { createSealer } from '../../src/pki/sealed-record.ts';
import { createToken, type Token } from '../../src/pki/token/token.ts';
import { createTokenVault } from '../../src/pki/token/token-vault.ts';
import { clientEntry, relyingParty, roomyLimits, secret } from '../oauth/interoperability/stage.ts';
import { describeCustody } from '../pki/custody-contract.ts';
import { masterKey, now, owner } from '../pki/fixtures.ts';
import { opensslVerify } from '../pki/openssl.ts';
import { createMemoryCustodyStore } from '../support/memory-custody-store.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import { type Json, startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { makeSoftToken, pin, tokenLabel } from './soft-token.ts';

const redis = testRedis();
const soft = makeSoftToken();
// The library reads the first where it is loaded, Node the second where a thread begins.
Object.assign(process.env, soft?.environment);
afterAll(() => soft?.remove());

const { library = '', folder = '' } = soft ?? {};
const threadFile = new URL('../../dist/src/pki/token/token-thread.js', import.meta.url);
const said: string[] = [];

const openToken = (
  change: {
    readonly readPin?: () => string;
    readonly timeoutSeconds?: number;
    readonly threads?: number;
  } = {},
): Token =>
  createToken({
    settings: {
      module: library,
      tokenLabel,
      threads: change.threads ?? 2,
      timeoutSeconds: change.timeoutSeconds ?? 30,
    },
    readPin: change.readPin ?? (() => pin),
    log: { away: (reason) => void said.push(reason), back: () => void said.push('back') },
    threadFile,
  });

const custodyOf = (token: Token, options: Partial<Parameters<typeof createKeyCustody>[0]> = {}) =>
  createKeyCustody({
    ...{ store: createMemoryCustodyStore(), masterKey, now: () => now },
    vault: createTokenVault({ token, prefix: 'contract', withUsers: true }),
    ...options,
  });

/** A library has one state in a process, so no two tokens are open at a time. */
let token: Token | undefined;
const oneToken = (): Token => {
  token ??= openToken();
  return token;
};
const closeToken = async (): Promise<void> => {
  await token?.close();
  token = undefined;
};

const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('It does not come about');
    await delay(100);
  }
};

describe.skipIf(soft === undefined)('a token', () => {
  afterAll(closeToken);

  describeCustody('that holds the keys', ({ store, userKeysCached = 100 }) =>
    custodyOf(oneToken(), { store, userKeysCached }),
  );

  it('makes all keys itself, and the store has their names alone', async () => {
    const store = createMemoryCustodyStore();
    const vault = createTokenVault({ token: oneToken(), prefix: 'names', withUsers: true });
    const custodies = [1, 2, 3].map(() => custodyOf(oneToken(), { store, vault }));
    await Promise.all(custodies.map((custody) => custody.userKey(owner())));
    await custodies[0]?.evidenceKey();
    for (const name of ['ca:root', 'ca:issuing', 'service:evidence', 'user:41700092501:sim:EC']) {
      const { key } = JSON.parse(store.records.get(name) ?? '');
      const { payload } = await createSealer(masterKey).open(name, key);
      expect(payload).toEqual({
        token: expect.stringMatching(/^[0-9a-f]{32}$/),
        publicKey: expect.anything(),
      });
      expect(() => createPrivateKey({ key: (payload as Json).publicKey, format: 'jwk' })).toThrow();
    }
    // Of several that were made at once, those that were not taken are destroyed.
    const names = () => soft?.privateKeys().filter(({ label }) => label.startsWith('names ')) ?? [];
    await until(() => names().length === 4);
    expect(
      names()
        .map(({ label }) => label)
        .toSorted(),
    ).toEqual(['names ca:issuing', 'names ca:root', 'names service:evidence', 'names user']);
    expect(names().every(({ isHidden }) => isHidden)).toBe(true);
  });

  it('that goes away is waited for, and what was asked meanwhile is done', async () => {
    const custody = custodyOf(oneToken());
    const { privateKey } = await custody.evidenceKey();
    await delay(1100);
    said.length = 0;
    soft?.leave();
    const data = Buffer.from('meanwhile');
    const asked = Array.from({ length: 50 }, () => privateKey.sign(data, 'ES256'));
    await until(() => oneToken().trouble() !== undefined);
    asked.push(privateKey.sign(data, 'ES256'));
    soft?.comeBack();
    const signatures = await Promise.all(asked);
    expect(signatures.every(({ length }) => length === 64)).toBe(true);
    expect(oneToken().trouble()).toBeUndefined();
    expect(said.at(-1)).toBe('back');
  });

  it('that stays away makes callers wait for their time alone, and records open without it', async () => {
    const store = createMemoryCustodyStore();
    const before = await custodyOf(oneToken(), { store }).trust();
    await closeToken();
    soft?.leave();
    token = openToken({ timeoutSeconds: 1 });
    const custody = custodyOf(token, { store });
    expect(await custody.trust()).toEqual(before);
    const begin = performance.now();
    await expect(custody.userKey(owner())).rejects.toThrow('the token is away');
    expect(performance.now() - begin).toBeLessThan(15_000);
    soft?.comeBack();
    await until(() => token?.trouble() === undefined);
    await closeToken();
  });

  it('that refuses the PIN is not asked again with that one, and opens with another', async () => {
    let given = 'wrong';
    let tries = 0;
    await closeToken();
    said.length = 0;
    token = openToken({
      readPin: () => {
        tries += 1;
        return given;
      },
    });
    await token.open();
    await until(() => tries > 4);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('CKR_PIN_INCORRECT');
    expect(said.join()).not.toContain('wrong');
    given = pin;
    await custodyOf(token).trust();
    expect(token.trouble()).toBeUndefined();
    await closeToken();
  });

  it('signs for the service nearly at the rate of the token itself', async () => {
    await closeToken();
    token = openToken({ threads: 1 });
    const { privateKey } = await custodyOf(token).evidenceKey();
    const data = randomBytes(200);
    const calls = 1000;
    const seconds = async (work: () => Promise<unknown>): Promise<number> => {
      const begin = performance.now();
      await work();
      return (performance.now() - begin) / 1000;
    };
    const signOnce = soft?.bareSigner() ?? (() => undefined);
    const times = await interleave(15, {
      whole: () =>
        seconds(() => Promise.all(Array.from({ length: calls }, () => privateKey.sign(data, 'ES256')))),
      bare: () =>
        seconds(async () => {
          for (let done = 0; done < calls; done += 1) signOnce();
        }),
    });
    const ratio = median(roundRatios(times.bare, times.whole));
    const rates = [times.whole, times.bare].map((all) => Math.round(calls / median(all)));
    process.stdout.write(
      `signatures of the service / of a bare loop on the same token: ${ratio.toFixed(2)} (${rates.join(' / ')} a second)\n`,
    );
    // The goal is 0.8. On a machine that others use, two threads wait where a loop does not.
    expect(ratio).toBeGreaterThan(0.5);
    await closeToken();
  });
});

describe.skipIf(soft === undefined)('a service with a token', () => {
  afterEach(killProcesses);

  const startPair = async (change: Readonly<Record<string, unknown>> = {}) => {
    const file = join(folder, `${randomBytes(4).toString('hex')}.json`);
    const pinFile = join(folder, 'pin');
    writeFileSync(pinFile, `${pin}\n`);
    const configuration = {
      sandbox: true,
      queue: { prefix: `t${randomBytes(6).toString('hex')}` },
      custody: { ...soft?.configuration, pinFile, userKeys: 'token', timeoutSeconds: 2, ...change },
    };
    writeFileSync(file, JSON.stringify(configuration));
    const environment = {
      PARAPH_CONFIG: file,
      REDIS_URL: redis.url,
      PARAPH_MASTER_KEY: randomBytes(32).toString('base64url'),
      PARAPH_DATA: join(folder, 'data'),
    };
    const [api, worker] = await Promise.all([
      startProcess(environment, 'api'),
      startProcess(environment, 'worker'),
    ]);
    return { api, worker, environment, prefix: configuration.queue.prefix };
  };

  const sign = async (api: ProductProcess, msisdn: string, text: string): Promise<void> => {
    const { MSS_SignatureResp: answer, Fault } = await api.post('sign', signRequest({ msisdn, text }));
    expect(Fault).toBeUndefined();
    const pem = await (await fetch(`${api.url}/pki/root.pem`)).text();
    const root = Buffer.from(pem.split('-----')[2] ?? '', 'base64');
    const cms = Buffer.from(answer.MSS_Signature.Base64Signature, 'base64');
    expect((await opensslVerify(cms, root, new Date())).toString()).toBe(text);
  };

  it('signs in two processes with one set of keys, which openssl accepts, and shows no PIN', async () => {
    const { api, worker, prefix } = await startPair();
    await sign(api, '+41700092501', 'Grüezi');
    await sign(api, '+41700092502', 'RSA');
    const labels = soft?.privateKeys().flatMap(({ label }) => (label.startsWith(prefix) ? [label] : []));
    const count = (end: string) => labels?.filter((label) => label.endsWith(end)).length;
    expect([' ca:root', ' ca:issuing', ' user', ':RSA:0'].map(count)).toEqual([1, 1, 2, 1]);
    for (const { output } of [api, worker]) expect(output()).not.toContain(pin);
    expect(labels?.join()).not.toContain('4170009');
  });

  it('loses no request while the token is away: they wait, or fault within their deadline', async () => {
    const { api } = await startPair();
    await sign(api, '+41700092501', 'before');
    await delay(1100);
    soft?.leave();
    const short = await api.submit({ timeoutSeconds: 5 });
    const long = await Promise.all(Array.from({ length: 10 }, () => api.submit({ timeoutSeconds: 120 })));
    await until(async () => (await api.statusOf(short)) === '_900');
    const ready = () => fetch(`${api.url}/readyz`);
    await until(async () => (await (await ready()).text()).includes('The token is away'));
    expect((await ready()).status).toBe(200);
    for (const id of long) expect(await api.statusOf(id)).toBe('504');
    soft?.comeBack();
    for (const id of long) await until(async () => (await api.statusOf(id)) === '500');
    await sign(api, '+41700092501', 'after');
  });

  it('says in a sentence what is missing', async () => {
    const wrong = startPair({ module: '/usr/lib/no-such-library.so' });
    await expect(wrong).rejects.toThrow('custody.module: the PKCS#11 library cannot be loaded');
    const saved = process.env.NODE_PATH;
    delete process.env.NODE_PATH;
    try {
      await expect(startPair()).rejects.toThrow('the package pkcs11js is not installed');
    } finally {
      process.env.NODE_PATH = saved;
    }
  });

  it('signs ID tokens of every algorithm, and rotates their keys', async () => {
    const clients = [
      clientEntry('shop'),
      clientEntry('pss', { idTokenAlgorithm: 'PS256' }),
      clientEntry('curve', { idTokenAlgorithm: 'ES256' }),
      clientEntry('edwards', { idTokenAlgorithm: 'EdDSA' }),
    ];
    const oidc = { limits: roomyLimits, tenants: [{ id: 'main', name: 'Main', clients }] };
    const custody = { ...soft?.configuration, timeoutSeconds: 20 };
    const product = await startTestProduct(redis, {
      configuration: { oidc, custody },
      tokenPin: pin,
      listen: true,
    });
    try {
      for (const { id } of clients) {
        const shop = relyingParty(product, { id, secret, issuerPath: '/oidc' });
        const { id_token: idToken } = await shop.tokens();
        const keys = createRemoteJWKSet(new URL(`${shop.issuer}/jwks.json`));
        const { protectedHeader } = await jwtVerify(idToken, keys, { issuer: shop.issuer, audience: id });
        expect(protectedHeader.alg).toBe(decodeProtectedHeader(idToken).alg);
      }
      const shop = relyingParty(product, { id: 'shop', secret, issuerPath: '/oidc' });
      const kidNow = async (): Promise<unknown> => decodeProtectedHeader((await shop.tokens()).id_token).kid;
      const before = await kidNow();
      const { core } = product;
      const { prefix } = product.configuration.queue;
      const { masterKey, commands, now } = core;
      await createSigningKeys({
        ...{
          redis: commands,
          prefix,
          tenant: 'main',
          masterKey,
          now,
          settings: core.configuration.oidc.keys,
        },
        vault: core.vaultOver(commands),
      }).rotate(0);
      await until(async () => (await kidNow()) !== before);
      const ofProvider = soft?.privateKeys().filter(({ label }) => label.startsWith(`${prefix} oidc:main`));
      expect(ofProvider).toHaveLength(6);
      const published = await (await fetch(`${product.url}/oidc/jwks.json`)).text();
      expect(published).not.toMatch(/"d":|"token":/);
    } finally {
      await product.stop();
    }
  });
});
