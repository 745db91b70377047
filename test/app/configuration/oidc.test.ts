import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import type { OauthClient } from '../../../src/registry/oauth-client.ts';
import { fullOidc, logo, publicJwkOf, secretHash } from './oidc-full.ts';

const load = (input: unknown) => parseConfiguration(JSON.stringify(input));

const value = (input: unknown) => {
  const loaded = load(input);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return loaded.value;
};

const problems = (input: unknown): readonly string[] => {
  const loaded = load(input);
  return loaded.ok ? [] : loaded.problems;
};

const site = { id: 'site', name: 'Site', secretHash, redirectUris: ['https://site.example/cb'] };
const app = {
  id: 'app',
  name: 'App',
  authentication: 'none',
  redirectUris: ['com.example.app:/cb'],
};
const ec = publicJwkOf('EC');

const tenantWith = (tenant: object) => ({
  oidc: { tenants: [{ id: 'main', name: 'Main', ...tenant }] },
});
const clientWith = (client: object) => tenantWith({ clients: [{ ...site, ...client }] });
const appWith = (client: object) => tenantWith({ clients: [{ ...app, ...client }] });
const first = (input: unknown): OauthClient => {
  const client = value(input).oidc.tenants[0]?.clients[0];
  if (client === undefined) throw new Error('there is no client');
  return client;
};

/** What is said of one key of the only client. */
const of = (key: string, message: string) => [`oidc.tenants[0].clients[0].${key}: ${message}`];

describe('the configuration of logins', () => {
  it('has one tenant without clients by default', () => {
    const allowance = (requests: number) => ({ requests, perSeconds: 60 });
    expect(value({}).oidc).toEqual({
      requestUriSeconds: 60,
      codeSeconds: 60,
      accessTokenSeconds: 3600,
      idTokenSeconds: 3600,
      refreshTokenSeconds: 14 * 86_400,
      interactionSeconds: 900,
      promptSeconds: 80,
      singleSignOnSeconds: 0,
      keys: { publishSeconds: 3600, keepSeconds: 86_400 },
      limits: {
        pushedPerClient: allowance(600),
        pushedPerAddress: allowance(1200),
        promptsPerNumber: allowance(6),
        promptsPerClient: allowance(600),
        promptsPerAddress: allowance(30),
        promptsPerNumberLong: { requests: 40, perSeconds: 86_400 },
        guessesPerNumber: { requests: 15, perSeconds: 86_400 },
        loginsPerAddress: allowance(120),
        refusedTokensPerAddress: allowance(60),
      },
      tenants: [
        {
          id: 'default',
          name: 'Paraph',
          branding: { color: '#1f5fbf' },
          loginText: {},
          clients: [],
        },
      ],
    });
  });

  it('keeps every value that is given', () => {
    const { refreshTokenDays: _days, tenants, ...rest } = fullOidc;
    const { oidc } = value({ oidc: fullOidc });
    expect(oidc).toMatchObject({ ...rest, refreshTokenSeconds: 129_600 });
    const [main, other] = oidc.tenants;
    const { clients, ...looks } = tenants[0] ?? {};
    expect(main).toMatchObject(looks);
    expect(other).toMatchObject({ id: 'other', name: 'Other', clients: [] });
    expect(main?.clients[0]).toEqual({
      ...clients?.[0],
      secretHash: undefined,
      scopes: ['openid', 'offline_access', 'phone'],
    });
  });

  it('opens no door for a client that does not ask for it', () => {
    expect(first(clientWith({}))).toEqual({
      id: 'site',
      name: 'Site',
      authentication: 'client_secret',
      secretHash,
      keys: [],
      redirectUris: ['https://site.example/cb'],
      postLogoutRedirectUris: [],
      scopes: ['openid', 'profile'],
      refreshTokens: false,
      idTokenAlgorithm: 'RS256',
      responseAlgorithm: 'RS256',
      parRequired: false,
      parSuccessStatus: 200,
      strictParameters: true,
      loginHintAllowed: false,
      dtbdAllowed: false,
      textMessageLogin: false,
      numberMatching: false,
      phoneStart: 'off',
      loginText: {},
      signedRequestRequired: false,
      dpopRequired: false,
      sector: 'site.example',
    });
  });

  it.each([
    ['the only host of the redirect addresses', clientWith({}), 'site.example'],
    [
      'that host, however many addresses it has',
      clientWith({ redirectUris: ['https://a.example/1', 'https://a.example:8443/2'] }),
      'a.example',
    ],
    ['the id of an app', appWith({}), 'app'],
    ['the id where there are no addresses', clientWith({ redirectUris: [] }), 'site'],
    ['what is configured', clientWith({ sector: 'group.example' }), 'group.example'],
  ])('takes for the sector %s', (_, input, sector) => {
    expect(first(input).sector).toBe(sector);
  });

  it('lets the time of the prompt follow the bounds of the protocol', () => {
    expect(value({ protocol: { maxTimeoutSeconds: 30 } }).oidc.promptSeconds).toBe(30);
    expect(value({ protocol: { minTimeoutSeconds: 100 } }).oidc.promptSeconds).toBe(100);
    expect(value({ oidc: { interactionSeconds: 60 } }).oidc.promptSeconds).toBe(60);
  });
});

describe('the public address', () => {
  it.each([
    ['https://sign.example.com', 'https://sign.example.com'],
    ['https://Sign.Example.com:443/', 'https://sign.example.com'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s is the origin %s', (publicUrl, origin) => {
    expect(value({ publicUrl }).publicUrl).toBe(origin);
  });

  it.each([
    'sign.example.com',
    'ftp://sign.example.com',
    'https://sign.example.com/path',
    'https://sign.example.com?query',
    'https://sign.example.com/?',
    'https://sign.example.com/#',
    'https://user@sign.example.com',
    'https://user:hunter2@sign.example.com',
    'https://sign.example.com ',
    'https:\\\\sign.example.com',
    '',
  ])('%j is refused', (publicUrl) => {
    expect(problems({ publicUrl, sandbox: true })).toEqual([
      'publicUrl: must be an http or https address without path, query, fragment, user name or password',
    ]);
  });

  it('is http from afar in a sandbox only', () => {
    for (const publicUrl of [
      'http://sign.example.com',
      'http://localhost.example',
      'http://128.0.0.1',
    ]) {
      expect(problems({ publicUrl })).toEqual([
        'publicUrl: must be https, unless it is this machine or a sandbox',
      ]);
      expect(problems({ publicUrl, sandbox: true })).toEqual([]);
    }
  });
});

const notAnAddress =
  'must be an absolute https address without fragment, an http one to this machine, or one of an app whose scheme has a dot';
const unsuitableKey = 'must be an RSA key of 2048 bits or more, a P-256 key or an Ed25519 key';
const misplaced =
  'must not be here: only public keys belong into this file, and this one has to be replaced';

describe('a client is refused', () => {
  it.each([
    ['/callback'],
    ['shop.example/callback'],
    ['http://shop.example/callback'],
    ['http://127.0.0.1.example/callback'],
    ['https://shop.example/callback#'],
    ['https://shop.example/callback#part'],
    ['https://user:hunter2@shop.example/callback'],
    ['https://shop.example/call back'],
    ['myapp:/callback'],
    ['com.example.app:/callback#part'],
    ['javascript:alert(1)'],
    ['data:text/html,1'],
    ['http://'],
    ['https://[hunter2/'],
    [''],
  ])('with the redirect address %j', (uri) => {
    expect(problems(clientWith({ redirectUris: [uri] }))).toEqual(
      of('redirectUris[0]', notAnAddress),
    );
    expect(problems(clientWith({ postLogoutRedirectUris: [uri] }))).toEqual(
      of('postLogoutRedirectUris[0]', notAnAddress),
    );
  });

  it.each([
    [
      'a status that is none of a pushed request',
      clientWith({ parSuccessStatus: '201' }),
      of('parSuccessStatus', 'must be 200 or 201'),
    ],
    [
      'no secret',
      clientWith({ secretHash: undefined }),
      of('secretHash', 'must be there for client_secret'),
    ],
    [
      'no secret in the body either',
      clientWith({ authentication: 'client_secret_post', secretHash: undefined }),
      of('secretHash', 'must be there for client_secret_post'),
    ],
    [
      'a secret it does not use',
      appWith({ secretHash }),
      of('secretHash', 'must not be there for none'),
    ],
    [
      'a secret in place of its hash',
      clientWith({ secretHash: 'hunter2' }),
      of('secretHash', 'must be a stored password of the form $scrypt$ln=…,r=…,p=…$salt$hash'),
    ],
    [
      'no key to prove itself with',
      clientWith({ authentication: 'private_key_jwt', secretHash: undefined }),
      of('keys', 'must not be empty for private_key_jwt and signedRequestRequired'),
    ],
    [
      'no key to sign requests with',
      clientWith({ signedRequestRequired: true }),
      of('keys', 'must not be empty for private_key_jwt and signedRequestRequired'),
    ],
    [
      'an address of an app, though it has a secret',
      clientWith({ redirectUris: ['com.example.app:/cb'] }),
      of(
        'redirectUris',
        'may be those of an app only when authentication is none: an app cannot keep a secret',
      ),
    ],
    [
      'nowhere to send people back to',
      appWith({ redirectUris: [] }),
      of('redirectUris', 'must not be empty for a public client'),
    ],
    [
      'an address that an app cannot claim',
      appWith({ redirectUris: ['com.example.app:/cb', 'https://localhost/cb'] }),
      of(
        'redirectUris',
        'beside the address of an app: http only to localhost, 127.0.0.1 or [::1], and https to none of these',
      ),
    ],
    [
      'an app behind the logout only',
      appWith({
        redirectUris: ['https://a.example/'],
        postLogoutRedirectUris: ['com.example.app:/out'],
      }),
      of('postLogoutRedirectUris', 'may be those of an app only when redirectUris have one, too'),
    ],
    ['no openid', clientWith({ scopes: ['profile'] }), of('scopes', 'must contain openid')],
    [
      'offline access without refresh tokens',
      clientWith({ scopes: ['openid', 'offline_access'] }),
      of('scopes', 'may contain offline_access only when refreshTokens is true'),
    ],
    [
      'several hosts and no sector',
      clientWith({ redirectUris: ['https://a.example/', 'https://b.example/'] }),
      of('sector', 'must be there when redirectUris have several hosts'),
    ],
    [
      'a sector that is no host',
      clientWith({ sector: 'https://a.example' }),
      of('sector', 'must be a host name in lower case'),
    ],
    [
      'an id that cannot be the sector',
      appWith({ id: '1.2.3.999' }),
      of('sector', 'must be there when id is no host name'),
    ],
    [
      'an id with a colon',
      clientWith({ id: 'a:b' }),
      of('id', 'must be 1 to 128 letters, digits, dots, _ or -'),
    ],
    [
      'a name of two lines',
      clientWith({ name: 'Shop\nBank' }),
      of('name', 'must be one line of text, without spaces at its ends'),
    ],
    [
      'a name that turns the text round',
      clientWith({ name: 'Shop \u202eknaB' }),
      of('name', 'must be one line of text, without spaces at its ends'),
    ],
    [
      'an unknown key',
      clientWith({ secret: 'hunter2' }),
      ['oidc.tenants[0].clients[0].secret: unknown key'],
    ],
  ])('with %s', (_, input, expected) => {
    expect(problems(input)).toEqual(expected);
  });
});

describe("a client's key", () => {
  const withKeys = (...keys: readonly object[]) =>
    clientWith({ authentication: 'private_key_jwt', secretHash: undefined, keys });

  it('is kept without what is not part of it', () => {
    expect(first(withKeys({ ...ec, kid: 'a', x5c: ['MII'] })).keys).toEqual([{ ...ec, kid: 'a' }]);
  });

  it.each([['RSA'], ['EC'], ['OKP']] as const)('may be of type %s', (kty) => {
    expect(problems(withKeys(publicJwkOf(kty)))).toEqual([]);
  });

  it.each([
    ['is private', { ...ec, d: 'hunter2' }, 'keys[0].d', misplaced],
    ['has a prime', { kty: 'RSA', n: 'AA', e: 'AQAB', p: 'hunter2' }, 'keys[0].p', misplaced],
    ['is a secret', { kty: 'oct', k: 'hunter2' }, 'keys[0].k', misplaced],
    ['is a secret without a value', { kty: 'oct' }, 'keys[0].kty', misplaced],
    ['has no type', { n: 'AA' }, 'keys[0].kty', 'must be "RSA", "EC" or "OKP"'],
    [
      'has a type that every object knows',
      { kty: 'toString' },
      'keys[0].kty',
      'must be "RSA", "EC" or "OKP"',
    ],
    ['is for encryption', { ...ec, use: 'enc' }, 'keys[0].use', 'must be "sig"'],
    [
      'is for another algorithm',
      { ...ec, alg: 'RS256' },
      'keys[0].alg',
      'must be one of RS256, PS256, ES256, EdDSA, Ed25519 and fit the type of the key',
    ],
    ['is short', publicJwkOf('RSA', 1024), 'keys[0]', unsuitableKey],
    ['is on another curve', publicJwkOf('EC', 'P-384'), 'keys[0]', unsuitableKey],
    ['is not on its curve', { ...ec, x: ec.y }, 'keys[0]', unsuitableKey],
    ['is not whole', { kty: 'EC', crv: 'P-256' }, 'keys[0]', unsuitableKey],
  ])('is refused when it %s', (_, key, path, message) => {
    const found = problems(withKeys(key));
    expect(found).toEqual(of(path, message));
    expect(found.join()).not.toContain('hunter2');
  });

  it('has a name of its own among several', () => {
    const other = publicJwkOf('OKP');
    const message = 'must be there and differ between the keys of a client';
    expect(problems(withKeys({ ...ec, kid: 'a' }, { ...other, kid: 'b' }))).toEqual([]);
    expect(problems(withKeys({ ...ec, kid: 'a' }, { ...other, kid: 'a' }))).toEqual(
      of('keys[1].kid', message),
    );
    expect(problems(withKeys({ ...ec, kid: 'a' }, other))).toEqual(of('keys[1].kid', message));
  });
});

describe('a tenant', () => {
  it('has clients of different ids, which another tenant may have as well', () => {
    expect(problems(tenantWith({ clients: [site, app, site] }))).toEqual([
      'oidc.tenants[0].clients[2].id: must not occur twice in the list',
    ]);
    const tenants = ['a', 'b'].map((id) => ({ id, name: 'T', clients: [site] }));
    expect(problems({ oidc: { tenants } })).toEqual([]);
  });

  it('has an id of its own', () => {
    const tenants = ['a', 'b', 'a'].map((id) => ({ id, name: 'T' }));
    expect(problems({ oidc: { tenants } })).toEqual([
      'oidc.tenants[2].id: must not occur twice in the list',
    ]);
    expect(problems({ oidc: { tenants: [] } })).toHaveLength(1);
    expect(problems(tenantWith({ id: 'A/b' }))).toEqual([
      'oidc.tenants[0].id: must be 1 to 32 lower-case letters, digits or -',
    ]);
  });

  it('has a colour in hex', () => {
    expect(problems(tenantWith({ branding: { color: 'red;}' } }))).toEqual([
      'oidc.tenants[0].branding.color: must be a colour of the form #rrggbb',
    ]);
  });
});

describe('the text on the phone', () => {
  const tooLong =
    'must fit the phone with its placeholders filled in: 239 characters, or 119 when one is outside of the GSM alphabet';
  const session = '#SESSION#';

  it.each([
    [
      'lacks the code of the session',
      'Log in?',
      'must contain #SESSION#, the code that the page shows, too',
    ],
    [
      'has a placeholder that nobody fills in',
      `#CLEINT#? ${session}`,
      'must have no other placeholders than #CLIENT#, #SESSION# and #NUMBER#',
    ],
    ['has a control character', `\u0007${session}`, 'must not contain control characters'],
    // The code is as long as its placeholder, and a number to match may come behind.
    ['is long', `${'x'.repeat(228)}${session}`, tooLong],
    ['has a foreign character and is long', `ж${'x'.repeat(107)}${session}`, tooLong],
  ])('is refused when it %s', (_, text, message) => {
    expect(problems(tenantWith({ loginText: { de: text } }))).toEqual([
      `oidc.tenants[0].loginText.de: ${message}`,
    ]);
    expect(problems(clientWith({ loginText: { de: text } }))).toEqual(of('loginText.de', message));
  });

  it('may be as long as the phone can show it', () => {
    expect(problems(tenantWith({ loginText: { de: 'x'.repeat(227) + session } }))).toEqual([]);
    expect(problems(tenantWith({ loginText: { de: `ж${'x'.repeat(106)}${session}` } }))).toEqual(
      [],
    );
  });

  it('is measured with the name of each client', () => {
    const loginText = { en: `#CLIENT# ${'x'.repeat(100)}${session}` };
    expect(problems(tenantWith({ loginText, clients: [site] }))).toEqual([]);
    for (const name of ['Магазин хлеба', 'x'.repeat(64)]) {
      const long = { en: loginText.en.padStart(name.length === 64 ? 190 : 0, 'x') };
      expect(problems(tenantWith({ loginText: long, clients: [{ ...site, name }] }))).toEqual([
        `oidc.tenants[0].loginText.en: ${tooLong}`,
      ]);
    }
  });

  it('may have several lines', () => {
    expect(problems(tenantWith({ loginText: { en: `Log in?\n${session}` } }))).toEqual([]);
  });
});

describe('a logo', () => {
  const problemOf = (logoSvg: string): string | undefined => {
    const [problem, ...more] = problems(tenantWith({ branding: { logoSvg } }));
    expect(more).toEqual([]);
    return problem?.replace('oidc.tenants[0].branding.logoSvg: ', '');
  };
  const inside = (content: string) => `<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`;
  const outside = 'must not refer to anything outside of it';
  const active = 'must not have scripts, foreign objects or media';
  const handler = 'must not have event handlers';
  const hidden = 'must not have character references or backslashes';
  const declared = 'must not have a document type, entities or processing instructions';

  it.each([
    [logo],
    [`<?xml version="1.0" encoding="UTF-8"?>\n<!-- by hand -->\n${logo}\n`],
    [inside('<defs><linearGradient id="a"/></defs><path fill="url(#a)" d=""/><use href="#a"/>')],
    [inside('<image xlink:href="data:image/png;base64,AAAA"/><text>A &amp; B, once on</text>')],
  ])('may be %s', (text) => {
    expect(problemOf(text)).toBeUndefined();
  });

  it.each([
    ['', 'must be the text of an SVG file, from <svg to </svg>'],
    ['<html><svg></svg></html>', 'must be the text of an SVG file, from <svg to </svg>'],
    [`${logo}<p>`, 'must be the text of an SVG file, from <svg to </svg>'],
    [inside('x'.repeat(32 * 1024)), 'must not be longer than 32 KiB'],
    [inside('<script>1</script>'), active],
    [inside('<SCRIPT>1</SCRIPT>'), active],
    [inside('<s:script>1</s:script>'), active],
    [inside('<foreignObject/>'), active],
    [inside('<iframe/>'), active],
    ['<svg onload="x()"></svg>', handler],
    ['<svg a="1"ONLOAD ="x()"></svg>', handler],
    [inside('<g/onclick=x />'), handler],
    [inside('<a href="https://evil.example/">1</a>'), outside],
    [inside("<a xlink:href = '//evil.example/'>1</a>"), outside],
    [inside('<a href=javascript:x()>1</a>'), outside],
    [inside('<use href="data:image/svg+xml;base64,AAAA"/>'), outside],
    [inside('<image src="https://evil.example/"/>'), outside],
    [inside('<path fill="url(https://evil.example/#a)"/>'), outside],
    [inside('<style>@import "https://evil.example/";</style>'), outside],
    [inside('<set attributeName="xlink:href" to="https://evil.example/"/>'), outside],
    [inside('<a href="#"><animate attributeName="href" values="x"/></a>'), outside],
    [inside('<path fill="&#117;rl(https://evil.example/)"/>'), hidden],
    [inside('<style>g{fill:u\\72l(https://evil.example/)}</style>'), hidden],
    [inside('&evil;'), hidden],
    [inside('<!ENTITY a "b">'), declared],
    [inside('<?xml-stylesheet href="#a"?>'), declared],
  ])('is refused: %s', (text, message) => {
    expect(problemOf(text)).toBe(message);
  });
});

describe('times that do not fit each other', () => {
  it.each([
    [
      { oidc: { keys: { keepSeconds: 3599 } } },
      'oidc.keys.keepSeconds: must not be less than idTokenSeconds',
    ],
    [
      { oidc: { promptSeconds: 301 } },
      'oidc.promptSeconds: must be within protocol.minTimeoutSeconds and protocol.maxTimeoutSeconds',
    ],
    [
      { oidc: { promptSeconds: 9 }, protocol: { minTimeoutSeconds: 10 } },
      'oidc.promptSeconds: must be within protocol.minTimeoutSeconds and protocol.maxTimeoutSeconds',
    ],
    [
      { oidc: { promptSeconds: 90, interactionSeconds: 89 } },
      'oidc.interactionSeconds: must not be less than promptSeconds',
    ],
  ])('%j is refused', (input, problem) => {
    expect(problems(input)).toEqual([problem]);
  });
});

describe('docs/configuration.md', () => {
  it('shows configurations of logins that are accepted', () => {
    const document = readFileSync(
      new URL('../../../docs/configuration.md', import.meta.url),
      'utf8',
    );
    const examples = [...document.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => text);
    const withLogins = examples.filter((text) => text.includes('"oidc"'));
    expect(withLogins.length).toBeGreaterThan(0);
    for (const text of withLogins) expect(problems(JSON.parse(text))).toEqual([]);
  });
});
