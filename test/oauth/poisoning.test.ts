/**
 * What a request says about its own address changes nothing: neither in documents, nor in
 * redirects, cookies and forms, nor in what a proof is compared with. Requests are written by hand,
 * because clients would mend them.
 */
import { connect } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser, formIn } from './browser-client.ts';
import {
  clientEntry,
  hintFor,
  relyingParty,
  robot,
  roomyLimits,
  secret,
} from './interoperability/stage.ts';

const publicUrl = 'https://sign.example.com';
const other = 'evil.example';

/** Behind a proxy that is believed, so that nothing is harmless only because nobody believes it. */
const redis = testRedis();
const otherRedis = testRedis();
let product: TestProduct;
/** One whose address is where it listens. */
let plain: TestProduct;

const oidc = {
  limits: roomyLimits,
  tenants: [
    { id: 'main', name: 'Main', clients: [clientEntry('shop')] },
    { id: 'second', name: 'Second', clients: [clientEntry('shop')] },
  ],
};

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: { publicUrl, trustedProxy: { addresses: ['127.0.0.1'] }, oidc },
    listen: true,
  });
  plain = await startTestProduct(otherRedis, {
    configuration: { oidc, queue: { prefix: `${otherRedis.prefix.slice(-30)}-b` } },
    listen: true,
  });
});
afterAll(async () => {
  await Promise.all([product.stop(), plain.stop()]);
});

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const raw = (base: string, lines: readonly string[], body = ''): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      const end = text.indexOf('\r\n\r\n');
      const [statusLine = '', ...headerLines] = text.slice(0, end).split('\r\n');
      const headers = new Headers();
      for (const line of headerLines) {
        const colon = line.indexOf(':');
        headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
      }
      resolve({ status: Number(statusLine.split(' ')[1]), headers, body: text.slice(end + 4) });
    });
    const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    socket.write([...lines, ...length, 'Connection: close', '', body].join('\r\n'));
  });

const forwarded = [
  `Forwarded: for=192.0.2.1;host=${other};proto=http`,
  `X-Forwarded-Host: ${other}`,
  `X-Forwarded-Host: ${other}, ${other}`,
  'X-Forwarded-Proto: http',
  'X-Forwarded-Proto: javascript',
  'X-Forwarded-Port: 6666',
  'X-Forwarded-Prefix: /evil',
  'X-Forwarded-For: 192.0.2.66',
  `X-Forwarded-Server: ${other}`,
  `X-Original-URL: /evil`,
  'X-Rewrite-URL: /evil',
  `X-Original-Host: ${other}`,
  'X-Forwarded-Ssl: off',
  'Front-End-Https: off',
];

/** Name, request target and headers: each asks for the same thing and lies about where. */
const liesAbout = (path: string): readonly (readonly [string, string, readonly string[]])[] => [
  ['Host', path, [`Host: ${other}`]],
  ['Host with a port', path, [`Host: ${other}:6666`]],
  ['Host with a user', path, [`Host: user@${other}`]],
  ['an empty Host', path, ['Host:']],
  ['no Host', path, []],
  ...forwarded.map((line) => [line, path, ['Host: 127.0.0.1', line]] as const),
  ['everything at once', path, [`Host: ${other}`, ...forwarded]],
  ['an absolute target', `http://${other}${path}`, [`Host: ${other}`]],
  [
    'an absolute target of another scheme',
    `https://user:password@${other}:6666${path}`,
    ['Host: 127.0.0.1'],
  ],
];

const targets = ['/oidc', '/oidc/t/second'] as const;

describe.each(targets)('documents of %s', (issuerPath) => {
  it.each(liesAbout(`${issuerPath}/.well-known/openid-configuration`))(
    'are the same with %s',
    async (_, target, headers) => {
      for (const [base, origin] of [
        [product.url, publicUrl],
        [plain.url, plain.url],
      ] as const) {
        const straight = await fetch(`${base}${issuerPath}/.well-known/openid-configuration`);
        const expected = await straight.json();
        const { status, body } = await raw(base, [`GET ${target} HTTP/1.1`, ...headers]);
        // What is no host at all may be refused; it may never be believed.
        if (status !== 200) {
          expect(headers.join()).toMatch(/Host: user@/);
          expect(body).not.toContain(other);
          continue;
        }
        const found = JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1));
        expect(found).toEqual(expected);
        expect(found.issuer).toBe(`${origin}${issuerPath}`);
        for (const [key, value] of Object.entries(found)) {
          if (typeof value === 'string' && /_(endpoint|uri)$/.test(key)) {
            expect(value.startsWith(`${origin}${issuerPath}/`), key).toBe(true);
          }
        }
      }
    },
  );

  it('are not given to who writes the header :authority, which HTTP/1.1 does not have', async () => {
    const path = `${issuerPath}/.well-known/openid-configuration`;
    const answer = await raw(product.url, [
      `GET ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `:authority: ${other}`,
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body).not.toContain(other);
  });

  it('do not depend on who asked first', async () => {
    await raw(product.url, [
      `GET ${issuerPath}/.well-known/openid-configuration HTTP/1.1`,
      `Host: ${other}`,
      ...forwarded,
    ]);
    const answer = await fetch(`${product.url}${issuerPath}/.well-known/openid-configuration`);
    expect(await answer.text()).not.toContain(other);
  });
});

describe('a login', () => {
  const shop = () => relyingParty(product, { id: 'shop', secret, origin: publicUrl });

  it.each(liesAbout('/oidc/auth'))(
    'goes to the same page with the same cookies with %s',
    async (_, target, headers) => {
      const { requestUri } = await shop().request();
      const query = new URLSearchParams({ client_id: 'shop', request_uri: requestUri });
      const answer = await raw(product.url, [`GET ${target}?${query} HTTP/1.1`, ...headers]);
      if (/Host: user@/.test(headers.join())) {
        expect(answer.headers.get('location') ?? '').not.toContain(other);
        return;
      }
      expect(answer.status).toBe(303);
      const location = new URL(answer.headers.get('location') ?? '', publicUrl);
      expect(location.origin).toBe(publicUrl);
      expect(location.pathname).toMatch(/^\/oidc\/interaction\/[\w-]+$/);
      const cookies = answer.headers.getSetCookie();
      expect(cookies.length).toBeGreaterThan(1);
      for (const cookie of cookies) {
        expect(cookie).toMatch(/; *secure/i);
        expect(cookie).toMatch(/; *httponly/i);
        expect(cookie).toMatch(/; *samesite=lax/i);
        expect(cookie).toMatch(/; *path=\/oidc\//i);
        expect(cookie).not.toMatch(/; *domain=/i);
      }
    },
  );

  it('stays at its own address to the end when every request of the browser lies', async () => {
    const { requestUri } = await shop().request();
    const lies = {
      forwarded: `host=${other};proto=http`,
      'x-forwarded-host': other,
      'x-forwarded-proto': 'http',
      'x-forwarded-port': '6666',
      'x-forwarded-prefix': '/evil',
      'x-original-url': '/evil',
    };
    const honest = createBrowser({ origin: publicUrl, server: () => product.url });
    const visited: string[] = [];
    const query = new URLSearchParams({ client_id: 'shop', request_uri: requestUri });
    const walk = async (address: string, init: RequestInit = {}): Promise<string> => {
      const response = await honest.request(address, {
        ...init,
        headers: { ...lies, ...init.headers },
      });
      const html = await response.text();
      expect(html).not.toContain(other);
      const location = response.headers.get('location');
      if (location === null) return html;
      visited.push(location);
      expect(location).not.toContain(other);
      const next = new URL(location, new URL(address, publicUrl));
      return next.hostname === 'client.example' ? next.href : walk(next.href);
    };
    const page = await walk(`/oidc/auth?${query}`);
    const form = formIn(page, 'number');
    if (form === undefined) throw new Error('There is no form');
    expect(form.action.startsWith('/oidc/interaction/')).toBe(true);
    const action = form.action;
    await walk(action, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: publicUrl },
      body: new URLSearchParams({ ...form.fields, msisdn: `+${robot}` }).toString(),
    });
    const finished = async (): Promise<string> => {
      for (let tries = 0; tries < 100; tries += 1) {
        const end = await walk(action.replace(/\/number$/, '/finish'));
        if (end.startsWith('https://client.example/')) return end;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error('The login does not end');
    };
    const end = new URL(await finished());
    expect(end.searchParams.get('iss')).toBe(`${publicUrl}/oidc`);
    expect(end.searchParams.has('code')).toBe(true);
  });

  it('has cookies without Secure only where there is no TLS', async () => {
    const { requestUri } = await relyingParty(plain, { id: 'shop', secret }).request();
    const query = new URLSearchParams({ client_id: 'shop', request_uri: requestUri });
    const answer = await fetch(`${plain.url}/oidc/auth?${query}`, {
      redirect: 'manual',
      headers: { 'x-forwarded-proto': 'https' },
    });
    for (const cookie of answer.headers.getSetCookie()) expect(cookie).not.toMatch(/; *secure/i);
  });
});

describe('the address that a DPoP proof names', () => {
  const proofFor = async (htu: string) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    return new SignJWT({ htm: 'POST', htu, jti: crypto.randomUUID() })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: await exportJWK(publicKey) })
      .setIssuedAt()
      .sign(privateKey);
  };

  it.each(['/par', '/token'] as const)('is that of the configuration at %s', async (path) => {
    const client = relyingParty(product, { id: 'shop', secret, origin: publicUrl });
    const fields =
      path === '/par'
        ? {
            client_id: 'shop',
            response_type: 'code',
            scope: 'openid',
            redirect_uri: 'https://client.example/callback',
            login_hint: hintFor(robot),
          }
        : { grant_type: 'refresh_token', refresh_token: 'none' };
    const lies = {
      'x-forwarded-host': other,
      'x-forwarded-proto': 'https',
      forwarded: `host=${other}`,
    };
    const errorWith = async (htu: string): Promise<string | undefined> =>
      (await client.send(path, fields, { ...lies, dpop: await proofFor(htu) })).body.error;
    expect(await errorWith(`${publicUrl}/oidc${path}`)).toBe(
      path === '/par' ? undefined : 'invalid_grant',
    );
    expect(await errorWith(`https://${other}/oidc${path}`)).toBe('invalid_dpop_proof');
    expect(await errorWith(`${product.url}/oidc${path}`)).toBe('invalid_dpop_proof');
    expect(await errorWith(`${publicUrl}/oidc/t/second${path}`)).toBe('invalid_dpop_proof');
  });
});
