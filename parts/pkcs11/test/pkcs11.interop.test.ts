/**
 * Private keys in a PKCS#11 token (docs/operations/pkcs11.md): SoftHSM, which is a token in
 * software.
 */
import { spawn } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { interleave } from '../../../bench/harness/rounds.ts';
import { median, roundRatios } from '../../../bench/harness/statistics.ts';
import { createKeyCustody } from '../../../packages/pki/src/custody.ts';
import { masterKeyFileIn, masterKeyFrom } from '../../../packages/pki/src/master-key.ts';
import { createSealer } from '../../../packages/pki/src/sealed-record.ts';
import { openServiceKey } from '../../../packages/pki/src/service-key.ts';
import { describeCustody } from '../../../packages/pki/test/custody-contract.ts';
import { now, owner, serviceKey } from '../../../packages/pki/test/fixtures.ts';
import { opensslVerify } from '../../../packages/pki/test/openssl.ts';
import { createCustodyStore } from '../../../src/app/custody-store.ts';
import { createKeySlots } from '../../../src/app/key-slots.ts';
import { createSigningKeys } from '../../../src/oauth/signing-keys.ts';
import {
  clientEntry,
  relyingParty,
  roomyLimits,
  secret,
} from '../../../test/oauth/interoperability/stage.ts';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { killProcesses, type ProductProcess, startProcess } from '../../../test/support/process.ts';
import { type Json, startTestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { startRedisServer } from '../../../test/support/redis-server.ts';
import { signRequest } from '../../../test/support/requests.ts';
import { until } from '../../../test/support/soon.ts';
import { parts } from '../../parts.ts';
import { createPkcs11 } from '../part.ts';
import { createToken, type Token } from '../token.ts';
import { createTokenVault } from '../token-vault.ts';
import { makeSoftToken, pin, tokenLabel } from './soft-token.ts';

const redis = testRedis();
const soft = makeSoftToken();
// The library reads the first where it is loaded, Node the second where a thread begins.
Object.assign(process.env, soft?.environment);
afterAll(() => soft?.remove());

const { library = '', hangingLibrary = '', folder = '' } = soft ?? {};
const threadFile = new URL('../../../dist/parts/pkcs11/token-thread.js', import.meta.url);
const said: string[] = [];

const openToken = (
  change: {
    readonly readPin?: () => string;
    readonly timeoutSeconds?: number;
    readonly threads?: number;
    readonly module?: string;
  } = {},
): Token =>
  createToken({
    settings: {
      module: change.module ?? library,
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
    store: createMemoryCustodyStore(),
    serviceKey,
    now: () => now,
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

afterEach(() => {
  soft?.answerAgain();
  soft?.comeBack();
});

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
      const { payload } = await createSealer(serviceKey).open(name, key);
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

  it('that hangs in one call signs with its other threads, and lets go of what it hangs in', async () => {
    await closeToken();
    token = openToken({ module: hangingLibrary, timeoutSeconds: 2 });
    const { privateKey } = await custodyOf(token).evidenceKey();
    const signOnce = () => privateKey.sign(randomBytes(32), 'ES256');
    soft?.hang('C_Sign', 'one');
    await expect(signOnce()).rejects.toThrow('the token is away');
    // More than one thread holds, so that it is not empty when the next is chosen.
    const signatures = await Promise.all(Array.from({ length: 300 }, signOnce));
    expect(signatures.every(({ length }) => length === 64)).toBe(true);
    expect(token.trouble()).toBeUndefined();
    const begin = performance.now();
    await token.close();
    expect(performance.now() - begin).toBeLessThan(5000);
    expect(token.holdsProcess()).toBe(true);
    soft?.answerAgain();
    await until(() => token?.holdsProcess() === false);
    await closeToken();
  });

  it('that hangs while it is opened is told, and works when it answers', async () => {
    said.length = 0;
    soft?.hang('C_OpenSession');
    token = openToken({ module: hangingLibrary, timeoutSeconds: 1 });
    await token.open();
    expect(token.trouble()).toBe('it does not answer');
    expect(said).toEqual(['it does not answer']);
    const custody = custodyOf(token);
    await expect(custody.evidenceKey()).rejects.toThrow('the token is away: it does not answer');
    soft?.answerAgain();
    await until(() => token?.trouble() === undefined);
    expect(said.at(-1)).toBe('back');
    await custody.evidenceKey();
    await closeToken();
  });

  it('that takes long to make a key has its time for it, also when this is the first call', async () => {
    await closeToken();
    token = openToken({ module: hangingLibrary, timeoutSeconds: 1 });
    soft?.hang('C_GenerateKeyPair');
    const vault = createTokenVault({ token, prefix: 'slow', withUsers: true });
    const making = vault.make('oidc:main:RSA:1', 'RSA');
    setTimeout(() => soft?.answerAgain(), 3000);
    const { privateKey } = await making;
    expect(await privateKey.sign(Buffer.from('made'), 'RS256')).toHaveLength(256);
    await closeToken();
  });

  it('that has lost one key is opened anew once, and not for each call', async () => {
    await closeToken();
    const vault = createTokenVault({ token: oneToken(), prefix: 'lost', withUsers: true });
    const [lost, other] = [await vault.make('ca:lost', 'EC'), await vault.make('ca:other', 'EC')];
    vault.discard(lost.kept);
    said.length = 0;
    const data = Buffer.from('signed');
    for (let tries = 0; tries < 4; tries += 1) {
      await delay(1100);
      await expect(lost.privateKey.sign(data, 'ES256')).rejects.toThrow('does not have the key');
      expect(await other.privateKey.sign(data, 'ES256')).toHaveLength(64);
    }
    expect(said).toEqual(['the token does not have the key', 'back']);
    await closeToken();
  });

  it('that comes back without its keys is soon opened again, and finds them when they are there', async () => {
    await closeToken();
    const vault = createTokenVault({ token: oneToken(), prefix: 'late', withUsers: true });
    const { privateKey } = await vault.make('ca:late', 'EC');
    const sign = () => privateKey.sign(Buffer.from('signed'), 'ES256');
    await delay(1100);
    soft?.leave('another');
    await until(() =>
      sign().then(
        () => false,
        ({ message }) => /does not have the key/.test(message),
      ),
    );
    soft?.comeBack();
    const since = performance.now();
    await until(() =>
      sign().then(
        ({ length }) => length === 64,
        () => false,
      ),
    );
    // A key that is missed for the first time is looked for again after 5 s; one that is often
    // missed, after 30.
    expect(performance.now() - since).toBeLessThan(20_000);
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
        seconds(() =>
          Promise.all(Array.from({ length: calls }, () => privateKey.sign(data, 'ES256'))),
        ),
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

  const startPair = async (
    change: Readonly<Record<string, unknown>> = {},
    more: Readonly<Record<string, unknown>> = {},
  ) => {
    const file = join(folder, `${randomBytes(4).toString('hex')}.json`);
    const pinFile = join(folder, 'pin');
    writeFileSync(pinFile, `${pin}\n`);
    const configuration = {
      sandbox: true,
      queue: { prefix: `t${randomBytes(6).toString('hex')}` },
      custody: { ...soft?.configuration, pinFile, userKeys: 'token', timeoutSeconds: 2, ...change },
      ...more,
    };
    writeFileSync(file, JSON.stringify(configuration));
    const data = join(folder, configuration.queue.prefix);
    mkdirSync(data, { mode: 0o700 });
    const filePath = masterKeyFileIn(data);
    const masterKey = await masterKeyFrom({ filePath });
    const environment = { PARAPH_CONFIG: file, REDIS_URL: redis.url, PARAPH_DATA: data };
    const [api, worker] = await Promise.all([
      startProcess(environment, 'api'),
      startProcess(environment, 'worker'),
    ]);
    return { api, worker, environment, masterKey, filePath, prefix: configuration.queue.prefix };
  };

  const rootOf = async ({ url }: ProductProcess): Promise<Buffer> => {
    const pem = await (await fetch(`${url}/pki/root.pem`)).text();
    return Buffer.from(pem.split('-----')[2] ?? '', 'base64');
  };

  const sign = async (api: ProductProcess, msisdn: string, text: string): Promise<Buffer> => {
    const { MSS_SignatureResp: answer, Fault } = await api.post(
      'sign',
      signRequest({ msisdn, text }),
    );
    expect(Fault).toBeUndefined();
    const cms = Buffer.from(answer.MSS_Signature.Base64Signature, 'base64');
    expect((await opensslVerify(cms, await rootOf(api), new Date())).toString()).toBe(text);
    return cms;
  };

  /** The compiled command, as an operator gives it. */
  const paraph = async (
    environment: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ) => {
    const env = { ...process.env, ...environment };
    const child = spawn(process.execPath, ['dist/src/cli/paraph.js', ...args], { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    return { code, output };
  };

  it('signs in two processes with one set of keys, which openssl accepts, and shows no PIN', async () => {
    const { api, worker, prefix } = await startPair();
    await sign(api, '+41700092501', 'Grüezi');
    await sign(api, '+41700092502', 'RSA');
    const labels = soft
      ?.privateKeys()
      .flatMap(({ label }) => (label.startsWith(prefix) ? [label] : []));
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
    const long = await Promise.all(
      Array.from({ length: 10 }, () => api.submit({ timeoutSeconds: 120 })),
    );
    await until(async () => (await api.statusOf(short)) === '_900');
    const ready = () => fetch(`${api.url}/readyz`);
    await until(async () => (await (await ready()).text()).includes('The token is away'));
    expect((await ready()).status).toBe(200);
    for (const id of long) expect(await api.statusOf(id)).toBe('504');
    soft?.comeBack();
    for (const id of long) await until(async () => (await api.statusOf(id)) === '500');
    await sign(api, '+41700092501', 'after');
  });

  it('loses no request while the token hangs, serves others meanwhile, and goes on when it answers', async () => {
    const { api, worker } = await startPair({ module: hangingLibrary });
    await sign(api, '+41700092501', 'before');
    soft?.hang('C_Sign');
    const short = await api.submit({ timeoutSeconds: 5 });
    const long = await Promise.all(
      Array.from({ length: 10 }, () => api.submit({ timeoutSeconds: 120 })),
    );
    const begin = performance.now();
    let slowestMs = 0;
    const isOver = async (): Promise<boolean> => {
      const asked = performance.now();
      const status = await api.statusOf(short);
      slowestMs = Math.max(slowestMs, performance.now() - asked);
      return status === '_900';
    };
    await until(isOver);
    expect(performance.now() - begin).toBeLessThan(15_000);
    // A loop that waits for the token would take as long as a call may.
    expect(slowestMs).toBeLessThan(2000);
    await until(
      async () => (await api.post('sign', signRequest({ timeoutSeconds: 5 }))).Fault !== undefined,
    );
    for (const id of long) expect(await api.statusOf(id)).toBe('504');
    soft?.answerAgain();
    for (const id of long) await until(async () => (await api.statusOf(id)) === '500');
    await sign(api, '+41700092501', 'after');
    expect([api.child.exitCode, worker.child.exitCode]).toEqual([null, null]);
  });

  it('stops while the token hangs, and starts while it hangs', async () => {
    const { api, worker, environment } = await startPair({ module: hangingLibrary });
    await sign(api, '+41700092501', 'before');
    soft?.hang('C_Sign');
    soft?.hang('C_OpenSession');
    const id = await api.submit({ timeoutSeconds: 120 });
    await until(() => worker.output().includes('the token is away'));
    const begin = performance.now();
    await Promise.all([api.stop(), worker.stop()]);
    expect(performance.now() - begin).toBeLessThan(30_000);
    for (const { output } of [api, worker]) expect(output()).toContain('"stopped"');
    const [nextApi] = await Promise.all([
      startProcess(environment, 'api'),
      startProcess(environment, 'worker'),
    ]);
    const ready = await fetch(`${nextApi.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      200,
      expect.stringContaining('The token is away'),
    ]);
    expect(await nextApi.statusOf(id)).toBe('504');
    soft?.answerAgain();
    await until(async () => (await nextApi.statusOf(id)) === '500');
    await sign(nextApi, '+41700092501', 'after');
  });

  it('is in a backup without its keys, and goes on from it with the token', async () => {
    const { api, worker, environment, masterKey, prefix } = await startPair();
    const before = await sign(api, '+41700092501', 'before');
    const root = await rootOf(api);
    const file = join(folder, `${prefix}.backup`);
    expect(await paraph(environment, 'backup', file)).toMatchObject({ code: 0 });
    await Promise.all([api.stop(), worker.stop()]);
    const server = await startRedisServer();
    try {
      const there = { ...environment, REDIS_URL: `redis://127.0.0.1:${server.port}` };
      const restore = (env: Readonly<Record<string, string>> = there) =>
        paraph(env, 'restore', '--replace', file);
      const unusable = (why: string) => ({
        code: 1,
        output: expect.stringContaining(`cannot use its keys ca:issuing, ca:root: ${why}`),
      });
      const { custody: _, ...without } = JSON.parse(
        readFileSync(environment.PARAPH_CONFIG, 'utf8'),
      );
      const configuration = join(folder, `${prefix}-without.json`);
      writeFileSync(configuration, JSON.stringify(without));
      const noCustody = await restore({ ...there, PARAPH_CONFIG: configuration });
      expect(noCustody).toEqual(unusable('the private key is in another place, such as a token'));
      const noPackage = await restore({ ...there, NODE_PATH: '' });
      expect(noPackage.output).toContain('the package pkcs11js is not installed');
      soft?.leave();
      expect(await restore()).toEqual(unusable('the token is away: '));
      soft?.comeBack();
      soft?.leave('another');
      expect(await restore()).toEqual(
        unusable('the token does not sign: the token does not have the key'),
      );
      soft?.comeBack();
      expect(await restore()).toMatchObject({ code: 0 });
      const store = createCustodyStore(server.client(), prefix);
      const slots = createKeySlots(server.client(), prefix);
      const serviceKey = await openServiceKey(slots, masterKey);
      const sealer = createSealer(serviceKey ?? Buffer.alloc(0));
      const names = (
        await Promise.all(['ca:', 'user:'].map((start) => store.namesOf(start)))
      ).flat();
      expect(names).toHaveLength(3);
      for (const name of names) {
        const { key } = JSON.parse((await store.get(name)) ?? '');
        const { payload } = await sealer.open(name, key);
        expect(Object.keys(payload as Json).toSorted()).toEqual(['publicKey', 'token']);
        expect((payload as Json).publicKey).not.toHaveProperty('d');
      }
      const [next] = await Promise.all([startProcess(there, 'api'), startProcess(there, 'worker')]);
      expect(await rootOf(next)).toEqual(root);
      expect((await opensslVerify(before, root, new Date())).toString()).toBe('before');
      await sign(next, '+41700092501', 'after');
      await killProcesses();
    } finally {
      await server.stop();
    }
  });

  it('goes on without a fault while its master key and the keys of ID tokens are replaced', async () => {
    const oidc = {
      limits: roomyLimits,
      tenants: [{ id: 'main', name: 'Main', clients: [clientEntry('shop')] }],
    };
    const { api, environment, filePath } = await startPair({}, { oidc });
    const shop = relyingParty(api, { id: 'shop', secret, issuerPath: '/oidc' });
    const keys = createRemoteJWKSet(new URL(`${shop.issuer}/jwks.json`), { cooldownDuration: 0 });
    const problems: unknown[] = [];
    const kids = new Set<unknown>();
    let isOver = false;
    let done = 0;
    const lane = async (work: () => Promise<unknown>): Promise<void> => {
      while (!isOver) {
        await work().catch((error: unknown) => problems.push(error));
        done += 1;
      }
    };
    const login = async (): Promise<void> => {
      const { id_token: idToken } = await shop.tokens();
      const { protectedHeader } = await jwtVerify(idToken, keys, { audience: 'shop' });
      kids.add(protectedHeader.kid);
    };
    const lanes = Promise.all([
      lane(() => sign(api, '+41700092501', 'Grüezi')),
      lane(() => sign(api, '+41700092502', 'RSA')),
      lane(login),
    ]);
    const more = async (): Promise<void> => {
      const from = done;
      await until(() => done > from + 10);
    };
    try {
      await more();
      const replaced = readFileSync(filePath, 'utf8');
      expect(await paraph(environment, 'master-key', 'rotate')).toMatchObject({ code: 0 });
      expect(readFileSync(filePath, 'utf8')).not.toBe(replaced);
      await more();
      expect(await paraph(environment, 'keys', 'rotate', '--publish-seconds', '1')).toMatchObject({
        code: 0,
      });
      await until(() => kids.size === 2);
      await more();
      const [next] = await Promise.all([
        startProcess(environment, 'api'),
        startProcess(environment, 'worker'),
      ]);
      await sign(next, '+41700092501', 'after');
    } finally {
      isOver = true;
      await lanes;
    }
    expect(problems).toEqual([]);
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
      variables: { PARAPH_TOKEN_PIN: pin },
      // Node runs no thread from the source.
      parts: [...parts.filter(({ name }) => name !== 'pkcs11'), createPkcs11(threadFile)],
      listen: true,
    });
    try {
      for (const { id } of clients) {
        const shop = relyingParty(product, { id, secret, issuerPath: '/oidc' });
        const { id_token: idToken } = await shop.tokens();
        const keys = createRemoteJWKSet(new URL(`${shop.issuer}/jwks.json`));
        const { protectedHeader } = await jwtVerify(idToken, keys, {
          issuer: shop.issuer,
          audience: id,
        });
        expect(protectedHeader.alg).toBe(decodeProtectedHeader(idToken).alg);
      }
      const shop = relyingParty(product, { id: 'shop', secret, issuerPath: '/oidc' });
      const kidNow = async (): Promise<unknown> =>
        decodeProtectedHeader((await shop.tokens()).id_token).kid;
      const before = await kidNow();
      const { core } = product;
      const { prefix } = product.configuration.queue;
      const { serviceKey, commands, now } = core;
      await createSigningKeys({
        redis: commands,
        prefix,
        tenant: 'main',
        serviceKey,
        now,
        settings: core.configuration.oidc,
        vault: core.vaultOver(commands),
      }).rotate(0);
      await until(async () => (await kidNow()) !== before);
      const ofProvider = soft
        ?.privateKeys()
        .filter(({ label }) => label.startsWith(`${prefix} oidc:main`));
      expect(ofProvider).toHaveLength(6);
      const published = await (await fetch(`${product.url}/oidc/jwks.json`)).text();
      expect(published).not.toMatch(/"d":|"token":/);
    } finally {
      await product.stop();
    }
  });
});
