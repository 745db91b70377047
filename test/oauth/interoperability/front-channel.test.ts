/**
 * What comes through the browser is what everybody can write: beside a pushed request nothing of it
 * counts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { createBrowser, formIn, isWaiting } from '../browser-client.ts';
import {
  callback,
  claimsIn,
  clientEntry,
  hintFor,
  keyOfClient,
  relyingParty,
  returned,
  robot,
  secret,
  startProvider,
} from './stage.ts';

const redis = testRedis();
const key = keyOfClient('one');
let product: TestProduct;

const clients = [
  clientEntry('shop'),
  clientEntry('careful', { parRequired: true }),
  clientEntry('app', { authentication: 'none' }),
  clientEntry('signer', { keys: [key.publicJwk] }),
  clientEntry('silent', { loginHintAllowed: false, dtbdAllowed: false }),
  clientEntry('modest', { scopes: ['openid'] }),
  clientEntry('loose', { strictParameters: false, scopes: ['openid', 'phone'] }),
];

beforeAll(async () => {
  product = await startProvider(
    redis,
    clients,
    {},
    { subscribers: [{ msisdn: '41790000001', sim: {} }] },
  );
});
afterAll(() => product.stop());

const open = async (fields: Readonly<Record<string, string>>) => {
  const browser = createBrowser({ origin: product.url });
  return { browser, page: await browser.open(`/oidc/auth?${new URLSearchParams(fields)}`) };
};

const challenge = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};
const bare = (id: string, more: Readonly<Record<string, string>> = {}) => ({
  client_id: id,
  response_type: 'code',
  scope: 'openid',
  redirect_uri: callback,
  state: 'the-state',
  ...challenge,
  ...more,
});

describe('a client', () => {
  it('that must push its requests cannot come without', async () => {
    const { page } = await open(bare('careful'));
    expect(page.left?.searchParams.get('error')).toBe('invalid_request');
    expect(page.left?.searchParams.get('state')).toBe('the-state');
    const careful = relyingParty(product, { id: 'careful', secret });
    expect((await careful.tokens()).id_token).toBeDefined();
  });

  it('that need not can come without, and the person types the number', async () => {
    const { page, browser } = await open(bare('app'));
    expect(page.status).toBe(200);
    const end = await browser.settle(
      await browser.submit(page, 'number', { msisdn: '+41790000001' }),
    );
    expect(returned(end)).toMatchObject({ state: 'the-state', code: expect.any(String) });
  });
});

describe('beside a pushed request', () => {
  it('no other parameter counts', async () => {
    const shop = relyingParty(product, { id: 'shop', secret });
    const request = await shop.request({ scope: 'openid', ui_locales: 'fr' });
    const { page, browser } = await open({
      client_id: 'shop',
      request_uri: request.requestUri,
      redirect_uri: 'https://evil.example/',
      response_type: 'token',
      response_mode: 'fragment',
      scope: 'openid phone mid_cms',
      state: 'another',
      nonce: 'another',
      login_hint: hintFor('41700092502'),
      dtbd: 'Send everything to the stranger?',
      acr_values: 'mid_al2_any',
      prompt: 'none',
      max_age: '0',
      ui_locales: 'it',
      code_challenge: 'A'.repeat(43),
    });
    expect(page.html).toContain('<html lang="fr"');
    const end = await browser.settle(await browser.submit(page, 'number', { msisdn: `+${robot}` }));
    const { code = '', state, iss } = returned(end);
    expect({ address: `${end.left?.origin}${end.left?.pathname}`, state, iss }).toEqual({
      address: callback,
      state: request.state,
      iss: shop.issuer,
    });
    const { body } = await shop.redeem({ ...request, code });
    expect(claimsIn(body.id_token)).toMatchObject({ nonce: request.nonce, acr: 'mid_al3_any' });
    expect(Object.keys((await shop.userinfo(body.access_token)).body)).toEqual(['sub']);
  });

  it('no signed request counts either', async () => {
    const signer = relyingParty(product, { id: 'signer', secret });
    const request = await signer.request();
    const signed = await key.sign('signer', signer.issuer, { ...bare('signer'), state: 'signed' });
    const { page, browser } = await open({
      client_id: 'signer',
      request_uri: request.requestUri,
      request: signed,
    });
    const end = await browser.settle(await browser.submit(page, 'number', { msisdn: `+${robot}` }));
    expect(returned(end).state).toBe(request.state);
  });
});

describe('the answer', () => {
  it.each([
    ['query', 'query', ['code', 'iss', 'state']],
    ['fragment', 'fragment', ['code', 'iss', 'state']],
    ['jwt', 'query', ['response']],
    ['query.jwt', 'query', ['response']],
    ['fragment.jwt', 'fragment', ['response']],
  ])('comes back in the response mode %s', async (mode, part, names) => {
    const shop = relyingParty(product, { id: 'shop', secret });
    const visit = await shop.visit({ response_mode: mode });
    const { left } = await shop.confirm(visit);
    const query = [...(left?.searchParams.keys() ?? [])];
    const fragment = [...new URLSearchParams(left?.hash.slice(1)).keys()];
    expect((part === 'query' ? query : fragment).toSorted()).toEqual(names);
    expect(part === 'query' ? fragment : query).toEqual([]);
  });

  it.each([
    ['form_post', ['code', 'iss', 'state']],
    ['form_post.jwt', ['response']],
  ])(
    'comes back in a form that the browser sends, in the response mode %s',
    async (mode, names) => {
      const shop = relyingParty(product, { id: 'shop', secret });
      const visit = await shop.visit({ response_mode: mode });
      const page = await shop.confirm(visit);
      expect([page.status, page.left]).toEqual([200, undefined]);
      const form = formIn(page.html, 'callback');
      expect(form?.action).toBe(callback);
      expect(Object.keys(form?.fields ?? {}).toSorted()).toEqual(names);
      expect(page.headers.get('cache-control')).toContain('no-store');
    },
  );
});

describe('a second visit with the same pushed request', () => {
  it('works as long as the first has not come to an end, in the same browser', async () => {
    const shop = relyingParty(product, { id: 'shop', secret });
    const first = await shop.visit();
    const second = await shop.follow(first, first.browser);
    expect(second.page.status).toBe(200);
    const end = await shop.confirm(second);
    expect(returned(end)).toMatchObject({ code: expect.any(String), state: first.state });
  });

  it('works in another browser, and the first one then gets no second code', async () => {
    const shop = relyingParty(product, { id: 'shop', secret });
    const first = await shop.visit();
    const second = await shop.follow(first);
    const code = returned(await shop.confirm(second)).code ?? '';
    expect((await shop.redeem({ ...second, code })).status).toBe(200);
    const late = await shop.confirm(first);
    expect(late.left?.searchParams.has('code') ?? false).toBe(false);
  });
});

describe('a pushed request whose login was', () => {
  const usedUp = 'request_uri is invalid, expired, or was already used';

  it('cancelled is over, in this browser and in others', async () => {
    const shop = relyingParty(product, { id: 'shop', secret });
    const visit = await shop.visit();
    const end = await visit.browser.settle(await visit.browser.submit(visit.page, 'cancel'));
    expect(returned(end)).toMatchObject({ error: 'access_denied', state: visit.state });
    for (const browser of [visit.browser, undefined]) {
      const { page } = await shop.follow(visit, browser);
      expect([page.status, page.left]).toEqual([400, undefined]);
      expect(page.html).toContain('This login is over');
      expect(page.html).toContain(usedUp);
    }
  });

  it('rejected on the phone is over when the client has been told', async () => {
    const shop = relyingParty(product, { id: 'shop', secret });
    const visit = await shop.visit({ login_hint: hintFor('41000092401') });
    const failed = await shop.confirm(visit, '41000092401');
    expect((await shop.follow(visit)).page.status).toBe(200);
    const told = await visit.browser.open(`${new URL(failed.url).pathname}/return`);
    expect(returned(told)).toMatchObject({ error: 'access_denied' });
    expect((await shop.follow(visit)).page.status).toBe(400);
  });
});

describe('an error page', () => {
  it.each([
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    [
      'a redirect address of somebody else',
      { redirect_uri: 'https://evil.example/' },
      'invalid_redirect_uri',
    ],
    [
      'a handle that is none',
      { request_uri: 'urn:x' },
      'invalid_request_uri: request_uri is invalid',
    ],
    ['a text for the phone', { dtbd: 'Pay?' }, 'invalid_request: dtbd must be pushed'],
  ])('says what is wrong, and repeats nothing: %s', async (_, fields, detail) => {
    const { page } = await open(bare('shop', fields as Record<string, string>));
    expect(page.status).toBe(400);
    expect(page.html).toContain('<dt>For developers</dt>');
    expect(page.html).toContain(detail);
    expect(page.html).not.toMatch(/nobody|evil\.example|urn:x|Pay\?/);
  });
});

describe('at a bare authorisation request', () => {
  it.each([
    ['a text for the phone', { dtbd: 'Confirm the payment?' }],
    ['a test number', { login_hint: hintFor(robot) }],
    ['a test number among others', { login_hint: hintFor('41791234567', robot) }],
    ['a test number, bare', { login_hint: robot }],
    ['a test number with plus and spaces', { login_hint: '+41 70 009 25 01' }],
  ])('%s is refused without going anywhere', async (_, fields) => {
    for (const id of ['app', 'shop', 'silent']) {
      const { page } = await open(bare(id, fields as Record<string, string>));
      expect([page.status, page.left]).toEqual([400, undefined]);
      expect(page.html).not.toContain(robot);
    }
  });

  it('the same in a signed request is refused as well', async () => {
    for (const claims of [{ dtbd: 'Confirm the payment?' }, { login_hint: hintFor(robot) }]) {
      const signed = await key.sign('signer', `${product.url}/oidc`, {
        ...bare('signer'),
        ...claims,
      });
      const { page } = await open({ client_id: 'signer', request: signed });
      expect([page.status, page.left]).toEqual([400, undefined]);
    }
  });

  it('a number that anybody can write into a link asks no phone: the person has to confirm it', async () => {
    const begun = () => product.logged.filter((line) => line.includes('login begun')).length;
    const before = begun();
    const { page } = await open(bare('app', { login_hint: hintFor('41790000001') }));
    expect(page.status).toBe(200);
    expect(formIn(page.html, 'number')).toBeDefined();
    expect(isWaiting(page.html)).toBe(false);
    expect(begun()).toBe(before);
  });
});

describe('a bad request in a link', () => {
  type Row = readonly [string, string, string, Readonly<Record<string, string>>];
  const rows: readonly (Row | readonly [...Row, client: string])[] = [
    ['no scope', 'invalid_scope', 'req_1110', { scope: '' }],
    ['a scope without openid', 'invalid_scope', 'req_1110', { scope: 'phone' }],
    ['a scope that does not exist', 'invalid_scope', 'req_1110', { scope: 'openid root' }],
    ['only scopes that do not exist', 'invalid_scope', 'req_1110', { scope: 'root email' }],
    ['a scope that is malformed', 'invalid_scope', 'req_1110', { scope: 'openid "phone"' }],
    [
      'a scope that the client may not have',
      'invalid_scope',
      'sec_2010',
      { scope: 'openid phone' },
      'modest',
    ],
    [
      'the same at a client that is not strict',
      'invalid_scope',
      'sec_2010',
      { scope: 'mid_cms' },
      'loose',
    ],
    ['an unknown acr', 'invalid_request', 'req_1010', { acr_values: 'mid_al3_any gold' }],
    ['malformed acr_values', 'invalid_request', 'req_1020', { acr_values: 'mid_al3_any  "' }],
    ['malformed ui_locales', 'invalid_request', 'req_1040', { ui_locales: 'de_CH' }],
    ['a login_hint without numbers', 'invalid_request', 'req_1050', { login_hint: '{"hints":[]}' }],
    ['a login_hint that is no number', 'invalid_request', 'req_1070', { login_hint: '+41' }],
    [
      'a login_hint that is nothing',
      'invalid_request',
      'req_1100',
      { login_hint: 'anna@example.org' },
    ],
    ['an unknown prompt', 'invalid_request', 'req_1900', { prompt: 'create' }],
    ['prompt none beside another', 'invalid_request', 'req_1900', { prompt: 'none login' }],
    [
      'another response_type',
      'unsupported_response_type',
      'req_1900',
      { response_type: 'code id_token' },
    ],
    ['no response_type', 'invalid_request', 'req_1900', { response_type: '' }],
    [
      'an unknown response_mode',
      'unsupported_response_mode',
      'req_1900',
      { response_mode: 'pigeon' },
    ],
    ['the plain PKCE method', 'invalid_request', 'req_1900', { code_challenge_method: 'plain' }],
    [
      'a PKCE challenge without a method',
      'invalid_request',
      'req_1900',
      { code_challenge_method: '' },
    ],
    ['a PKCE challenge that is none', 'invalid_request', 'req_1900', { code_challenge: 'short' }],
    [
      'no PKCE at a public client',
      'invalid_request',
      'req_1900',
      { code_challenge: '', code_challenge_method: '' },
      'app',
    ],
    ['a max_age that is no number', 'invalid_request', 'req_1900', { max_age: 'old' }],
    ['an id_token_hint that is none', 'invalid_request', 'req_1900', { id_token_hint: 'e30.e30.' }],
    ['a registration', 'registration_not_supported', 'req_1900', { registration: '{}' }],
  ];
  const coded = (error: string, code: string) => ({
    error,
    error_description: expect.stringMatching(new RegExp(`^mid_${code}_[\\w-]{8} - `)),
    iss: `${product.url}/oidc`,
    state: 'the-state',
  });
  const answerIn = ({ left }: { readonly left: URL | undefined }) => {
    expect(`${left?.origin}${left?.pathname}`).toBe(callback);
    // Some errors are told where the answer that was asked for would have been.
    return Object.fromEntries(new URLSearchParams(left?.hash.slice(1) || left?.search));
  };

  it.each(
    rows.map(
      ([what, error, code, fields, id = 'shop']) => [what, error, code, fields, id] as const,
    ),
  )('with %s goes back before anybody is asked', async (_, error, code, fields, id) => {
    const { page } = await open(bare(id, fields));
    expect(answerIn(page)).toEqual(coded(error, code));
    const [, trace = 'none'] = /_([\w-]{8}) - /.exec(answerIn(page).error_description ?? '') ?? [];
    const [line = '{}'] = product.logged.filter((each) => each.includes(trace));
    expect(JSON.parse(line)).toMatchObject({ clientId: id, error, code });
  });

  it.each(
    rows.flatMap(([what, error, code, fields]) =>
      /1[01]\d0/.test(code) ? [[what, error, code, fields] as const] : [],
    ),
  )('that is signed, with %s, goes back like any other', async (_, error, code, fields) => {
    const signed = await key.sign('signer', `${product.url}/oidc`, bare('signer', fields));
    const { page } = await open({ client_id: 'signer', request: signed, state: 'another' });
    expect(answerIn(page)).toEqual(coded(error, code));
  });

  it.each([
    ['fragment', (left: URL) => Object.fromEntries(new URLSearchParams(left.hash.slice(1)))],
    ['jwt', (left: URL) => claimsIn(left.searchParams.get('response') ?? '')],
  ])('goes back in the response mode %s', async (mode, read) => {
    const { page } = await open(bare('shop', { scope: 'openid root', response_mode: mode }));
    expect(read(page.left ?? new URL(callback))).toMatchObject(coded('invalid_scope', 'req_1110'));
  });

  it.each([
    ['that names no client', { client_id: undefined }, {}],
    ['that is a token for another purpose', {}, { typ: 'client-authentication+jwt' }],
    ['with a parameter that is an object', { max_age: { of: 1 } }, {}],
  ])('as a signed request %s goes back as /par would refuse it', async (_, claims, header) => {
    const signed = await key.sign(
      'signer',
      `${product.url}/oidc`,
      { ...bare('signer'), ...claims },
      header,
    );
    const signer = relyingParty(product, { id: 'signer', secret });
    const refused = await signer.push({ request: signed });
    const { page } = await open(bare('signer', { request: signed }));
    expect(refused.body.error).toBe('invalid_request_object');
    expect(answerIn(page)).toMatchObject({ error: 'invalid_request_object', state: 'the-state' });
    const wordsOf = (text = ''): string => text.replace(/^.{0,30} - /, '');
    expect(wordsOf(answerIn(page).error_description)).toBe(wordsOf(refused.body.error_description));
  });

  it.each([
    [
      'with a parameter given twice',
      'ui_locales=de&ui_locales=fr',
      'ui_locales is given more than once',
    ],
    ['that is not UTF-8', 'ui_locales=%ff', 'not form-encoded UTF-8'],
  ])('%s goes nowhere', async (_, more, text) => {
    const response = await fetch(
      `${product.url}/oidc/auth?${new URLSearchParams(bare('shop'))}&${more}`,
      {
        redirect: 'manual',
      },
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining(text),
    });
  });

  it('goes nowhere when the address is not the client’s', async () => {
    const { page } = await open(
      bare('shop', { scope: 'root', redirect_uri: 'https://evil.example/' }),
    );
    expect([page.status, page.left]).toEqual([400, undefined]);
    expect(page.html).not.toContain('evil.example');
  });
});

describe('a link of a client that is not strict', () => {
  const logInWith = async (fields: Readonly<Record<string, string>>, id = 'loose') => {
    const { page, browser } = await open(bare(id, fields));
    return returned(
      await browser.settle(await browser.submit(page, 'number', { msisdn: '+41790000001' })),
    );
  };

  it.each([
    ['without scopes', { scope: '' }],
    ['with scopes that do not exist', { scope: 'email root' }],
    ['with offline_access alone', { scope: 'offline_access' }],
    ['with acr_values that do not exist', { acr_values: 'gold silver' }],
    ['that lets the person choose an account', { prompt: 'select_account' }],
    ['with what is off', { claims: '{', resource: 'nowhere', authorization_details: '[' }],
  ])('%s leads to a code', async (_, fields) => {
    expect(await logInWith(fields)).toMatchObject({ code: expect.any(String), state: 'the-state' });
  });

  it('leads to a code when it was pushed with offline_access alone, too', async () => {
    const loose = relyingParty(product, { id: 'loose', secret });
    const { body } = await loose.redeem(await loose.logIn(robot, { scope: 'offline_access' }));
    expect(body.scope).toBe('openid');
  });
});
