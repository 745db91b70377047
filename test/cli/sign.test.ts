import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Fetch, fetchWithoutTimeout } from '../../packages/client/src/fetch.ts';
import { createRootCertificate } from '../../packages/pki/src/certificate.ts';
import { ownKey } from '../../packages/pki/src/key-vault.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import { testRedis } from '../support/redis.ts';
import { useService } from './service.ts';
import { type RunOptions, run } from './terminal.ts';

const password = 'correct horse battery staple';
const service = useService(testRedis(), async () => ({
  applicationProviders: [
    {
      id: 'mid://guarded.example',
      passwordHash: await hashPassword(password, { ln: 10, r: 8, p: 1 }),
    },
  ],
}));

const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const robot = '+41700092501';
const rsaRobot = '+41700092502';
const silent = '+41700092507';
const canceller = '+41000092401';

const paraph = (args: readonly string[], options: RunOptions = {}) =>
  run(args, { ...options, env: { PARAPH_URL: service().url, ...options.env } });

const rootFile = async (): Promise<string> => {
  const path = join(folder, 'root.pem');
  const [root] = await service().product.core.custodyOver(service().product.core.commands).trust();
  if (root === undefined) throw new Error('the custody has no root');
  writeFileSync(path, new X509Certificate(root).toString());
  return path;
};

const foreignRootFile = async (): Promise<string> => {
  const path = join(folder, 'foreign.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = await createRootCertificate(ownKey(privateKey), new Date(Date.now() - 60_000));
  writeFileSync(path, new X509Certificate(der).toString());
  return path;
};

describe('paraph sign', () => {
  it('says who signed what, by which method, and whose word that is', async () => {
    const { exitCode, stdout, stderr } = await paraph(['sign', robot, 'Sign in to Example?']);
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Signed by MIDCHE[A-Z0-9]{10}\n/);
    expect(stdout).toMatch(/^ {2}text +Sign in to Example\?$/m);
    expect(stdout).toMatch(/^ {2}phone +\+41700092501$/m);
    expect(stdout).toMatch(/^ {2}method +SIM \(http:\/\/mid\.vendor\.ch\/STK-LoA4\)$/m);
    expect(stdout).toMatch(/^ {2}MSSP_TransID +[A-Za-z][A-Za-z0-9]+$/m);
    expect(stdout).toMatch(/^ {2}status +500 SIGNATURE$/m);
    expect(stdout).toMatch(/^ {2}signature +verified$/m);
    expect(stdout).toMatch(/^ {2}key +EC P-256$/m);
    expect(stdout).toContain(`the service's own root, ${service().url}/pki/root.pem`);
    expect(stdout).toContain('Nothing but this connection vouches for that root.');
  });

  it('prints one JSON document that a script can verify again', async () => {
    const { exitCode, json } = await paraph(['sign', rsaRobot, 'Zürich: 5 €?', '--json']);
    const { signature, signer, trust, ...rest } = json();
    expect(exitCode).toBe(0);
    expect(rest).toEqual({
      outcome: 'ok',
      msspTransId: expect.stringMatching(/^[A-Za-z][A-Za-z0-9]+$/),
      msisdn: rsaRobot,
      profile: 'http://mid.vendor.ch/STK-LoA4',
      text: 'Zürich: 5 €?',
      status: 500,
      verified: true,
    });
    expect(signer.serialNumber).toMatch(/^MIDCHE/);
    expect(
      new X509Certificate(Buffer.from(signer.certificate, 'base64')).publicKey.asymmetricKeyType,
    ).toBe('rsa');
    expect(trust).toEqual({
      source: 'service',
      from: `${service().url}/pki/root.pem`,
      fingerprints: [expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)],
    });
    const roots = await service().product.core.custodyOver(service().product.core.commands).trust();
    expect(
      verifySignature(Buffer.from(signature, 'base64'), 'Zürich: 5 €?', { trust: roots }).ok,
    ).toBe(true);
  });

  it('polls the status in asynch mode and ends as in synch mode', async () => {
    const { exitCode, json } = await paraph(['sign', robot, 'Later?', '--asynch', '--json']);
    expect(exitCode).toBe(0);
    expect(json()).toMatchObject({ outcome: 'ok', verified: true, status: 500, text: 'Later?' });
  });

  it('asks for the additional services and shows their answers', async () => {
    const asked = ['--geofencing', '--subscriber-info', '--validate', '--lang', 'de'];
    const { json } = await paraph(['sign', robot, 'Where?', ...asked, '--json']);
    expect(json()).toMatchObject({
      status: 502,
      services: {
        geofencing: { country: 'CH', accuracyMeters: '105' },
        subscriberNetwork: '22801',
      },
    });
    const { stdout } = await paraph(['sign', robot, 'Where?', ...asked]);
    expect(stdout).toMatch(/^ {2}location +CH, within 105 m, /m);
    expect(stdout).toMatch(/^ {2}network +22801$/m);
    expect(stdout).toMatch(/^ {2}status +502 VALID_SIGNATURE/m);
  });

  it('shows the error of a location that is not known', async () => {
    const { stdout } = await paraph(['sign', '+41700092510', 'Where?', '--geofencing']);
    expect(stdout).toMatch(/^ {2}location +none: 200 No location returned$/m);
  });

  it('trusts a file that the user names, and says so', async () => {
    const trust = await rootFile();
    const { exitCode, json } = await paraph(['sign', robot, 'Pinned?', '--trust', trust, '--json']);
    expect(exitCode).toBe(0);
    expect(json().trust).toMatchObject({ source: 'file', from: trust });
    const { stdout } = await paraph(['sign', robot, 'Pinned?', '--trust', trust]);
    expect(stdout).not.toContain('vouches');
  });

  it('writes the signature to a file', async () => {
    const out = join(folder, 'signature.cms');
    const { exitCode, json } = await paraph(['sign', robot, 'Keep?', '--out', out, '--json']);
    expect(exitCode).toBe(0);
    expect(readFileSync(out).toString('base64')).toBe(json().signature);
  });

  it('ends with 1 when the file cannot be written, and still prints the signature', async () => {
    const { exitCode, json, stderr } = await paraph([
      'sign',
      robot,
      'Keep?',
      '--out',
      folder,
      '--json',
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'paraph: The signature could not be written to the file that --out names (EISDIR).\n',
    );
    expect(json()).toMatchObject({
      outcome: 'unexpected',
      verified: true,
      signature: expect.any(String),
    });
  });

  it.each(['any', 'sim', 'ec', 'geofencing', 'STK-LoA4', 'http://mid.swisscom.ch/Any-LoA4'])(
    'takes %s for a profile',
    async (profile) => {
      const { json } = await paraph(['sign', robot, 'How?', '--profile', profile, '--json']);
      expect(json()).toMatchObject({
        outcome: 'ok',
        profile: expect.stringMatching(/\/STK-LoA4$/),
      });
    },
  );

  it('says of a one-time password that it was delivered and is no signature', async () => {
    const { exitCode, stdout } = await paraph(['sign', robot, 'Code 123', '--profile', 'otp-text']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Delivered; this is not a signature\.\n/);
    const { json } = await paraph([
      'sign',
      robot,
      'Code',
      '--profile',
      'otp-flash',
      '--asynch',
      '--json',
    ]);
    expect(json()).toMatchObject({ outcome: 'ok', delivered: true });
    expect(json()).not.toHaveProperty('verified');
  });
});

describe('paraph sign, when there is no good signature', () => {
  it('ends with 3 and the code of the Fault', async () => {
    const plain = await paraph(['sign', canceller, 'No?']);
    expect(plain).toMatchObject({
      exitCode: 3,
      stdout: '',
      stderr: 'paraph: Fault 401 USER_CANCEL: User cancelled the request\n',
    });
    const { exitCode, json } = await paraph(['sign', canceller, 'No?', '--json']);
    expect(exitCode).toBe(3);
    expect(json()).toEqual({
      outcome: 'fault',
      fault: { code: 401, reason: 'USER_CANCEL', detail: 'User cancelled the request' },
      problem: 'Fault 401 USER_CANCEL: User cancelled the request',
    });
  });

  it('knows the transaction of a Fault that came through the status', async () => {
    const { exitCode, json } = await paraph(['sign', canceller, 'No?', '--asynch', '--json']);
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ msspTransId: expect.any(String), fault: { code: 401 } });
  });

  it('ends with 4 when the certificates do not lead to the root that is trusted', async () => {
    const args = ['sign', robot, 'Whose?', '--trust', await foreignRootFile()];
    const { exitCode, stdout, stderr } = await paraph(args);
    expect(exitCode).toBe(4);
    expect(stdout).toMatch(/^Not verified: do not rely on this signature\.\n/);
    expect(stdout).not.toContain('Signed by');
    expect(stderr).toBe(
      'paraph: The signature did not verify: its certificates do not end in a trusted root.\n',
    );
    const { json } = await paraph([...args, '--json']);
    expect(json()).toMatchObject({
      outcome: 'unverified',
      verified: false,
      reason: 'UNTRUSTED_CHAIN',
    });
    expect(json()).not.toHaveProperty('signer');
  });

  it('ends with 4 when something else was signed than the text that was given', async () => {
    const dishonest: Fetch = (url, init) =>
      fetchWithoutTimeout(url, {
        ...init,
        ...(init.body && { body: init.body.replace('Pay 1?', 'Pay 9?') }),
      });
    const { exitCode, json } = await paraph(['sign', robot, 'Pay 1?', '--json'], {
      fetch: dishonest,
    });
    expect(exitCode).toBe(4);
    expect(json()).toMatchObject({ outcome: 'unverified', reason: 'CONTENT_MISMATCH' });
  });

  it('asks nobody to sign when no root can be had', async () => {
    const posted: string[] = [];
    const withoutPki: Fetch = async (url, init) => {
      if (init.method === 'POST') posted.push(url);
      return new Response('not found', { status: 404 });
    };
    const { exitCode, stderr } = await paraph(['sign', robot, 'Why?'], { fetch: withoutPki });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('name the one you trust with --trust');
    expect(posted).toEqual([]);
  });
});

describe('paraph sign, interrupted', () => {
  /** Ctrl-C right after the call to a path has been sent. */
  const interruptedAt = (path: string): Required<Pick<RunOptions, 'fetch' | 'signal'>> => {
    const controller = new AbortController();
    return {
      signal: controller.signal,
      fetch: (url, init) => {
        const answer = fetchWithoutTimeout(url, init);
        if (new URL(url).pathname === path) controller.abort();
        return answer;
      },
    };
  };

  it('says that nothing was sent before the request is sent', async () => {
    const { exitCode, stderr } = await paraph(
      ['sign', silent, 'Stop?'],
      interruptedAt('/pki/root.pem'),
    );
    expect(exitCode).toBe(130);
    expect(stderr).toBe('paraph: Interrupted; nothing was sent to be signed.\n');
  });

  it('says that the transaction goes on', async () => {
    const at = interruptedAt('/rest/service/sign');
    const { exitCode, json } = await paraph(
      ['sign', silent, 'Stop?', '--timeout', '1', '--json'],
      at,
    );
    expect(exitCode).toBe(130);
    expect(json()).toMatchObject({
      outcome: 'interrupted',
      problem: expect.stringContaining('the transaction goes on'),
    });
  });

  it('names the transaction in asynch mode, and the command that shows its end', async () => {
    const at = interruptedAt('/rest/service/status');
    const args = ['sign', robot, 'Stop?', '--asynch', '--ap-id', 'mid://other.example'];
    const { exitCode, stderr } = await paraph(args, at);
    expect(exitCode).toBe(130);
    const resumed =
      /^paraph: Interrupted; transaction (\w+) goes on: paraph (status \1 --wait --ap-id mid:\/\/other\.example)\n$/.exec(
        stderr,
      )?.[2];
    expect(resumed).toBeDefined();
    const { exitCode: later } = await paraph((resumed ?? '').split(' '));
    expect(later).toBe(0);
  });
});

describe("the application's password", () => {
  const asGuarded = ['sign', robot, 'Guarded?', '--ap-id', 'mid://guarded.example'];

  it('comes from PARAPH_AP_PWD or the variable that is named, and is printed nowhere', async () => {
    for (const [flags, env] of [
      [[], { PARAPH_AP_PWD: password }],
      [['--ap-password-env', 'BANK_PWD'], { BANK_PWD: password }],
    ] as const) {
      const { exitCode, stdout, stderr } = await paraph([...asGuarded, ...flags, '--json'], {
        env,
      });
      expect(exitCode).toBe(0);
      // No warning either: this connection does not leave the machine.
      expect(stderr).toBe('');
      expect(stdout).not.toContain(password);
    }
    expect(service().product.logged.join('')).not.toContain(password);
  });

  it('is refused by the service with fault 104 when it is wrong, and not repeated', async () => {
    const { exitCode, json, stderr } = await paraph([...asGuarded, '--json'], {
      env: { PARAPH_AP_PWD: 'wrong-password' },
    });
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ fault: { code: 104 } });
    expect(JSON.stringify(json()) + stderr).not.toContain('wrong-password');
  });

  it('has a warning when it would cross a network in clear', async () => {
    const nobody: Fetch = async () => {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    };
    const askAt = (url: string, env = {}) =>
      run(['profile', robot, '--url', url], { fetch: nobody, env });
    const env = { PARAPH_AP_PWD: password };
    for (const url of ['http://signer.example', 'http://127.signer.example'])
      expect((await askAt(url, env)).stderr).toContain('AP_PWD is sent without encryption');
    expect((await askAt('http://signer.example')).stderr).not.toContain('encryption');
    for (const url of ['http://127.0.0.1:9', 'http://[::1]:9', 'https://signer.example'])
      expect((await askAt(url, env)).stderr).not.toContain('encryption');
  });
});
