/**
 * Two issuers in one process, on one Redis, with a client of the same name in each: what belongs to
 * one is unknown to the other, in both directions and everywhere where something can be shown.
 */
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hashPassword } from '../../src/registry/passwords.ts';
import { contentsOf } from '../security/redis-contents.ts';
import type { Json, TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser, formIn } from './browser-client.ts';
import {
  claimsIn,
  clientEntry,
  offline,
  type RelyingParty,
  relyingParty,
  robot,
  secret,
  startProvider,
} from './interoperability/stage.ts';

const redis = testRedis();
const otherSecret = 'Anderes-9c27d1';
let product: TestProduct;
let north: RelyingParty;
let south: RelyingParty;

beforeAll(async () => {
  const otherHash = await hashPassword(otherSecret, { ln: 10, r: 8, p: 1 });
  product = await startProvider(redis, [], {
    // Sessions that count for others are the ones that could count for too many.
    singleSignOnSeconds: 600,
    tenants: [
      {
        id: 'north',
        name: 'The North',
        branding: { color: '#102030' },
        clients: [clientEntry('shop'), clientEntry('northern', { authentication: 'none' })],
      },
      {
        id: 'south',
        name: 'The South',
        branding: { color: '#a0b0c0' },
        clients: [clientEntry('shop', { name: 'Southern shop', secretHash: otherHash })],
      },
    ],
  });
  north = relyingParty(product, { id: 'shop', secret });
  south = relyingParty(product, { id: 'shop', secret: otherSecret, issuerPath: '/oidc/t/south' });
});
afterAll(() => product.stop());

const pairs = (): readonly (readonly [RelyingParty, RelyingParty])[] => [
  [north, south],
  [south, north],
];

const discovery = async (issuer: string): Promise<Json> =>
  (await fetch(`${issuer}/.well-known/openid-configuration`)).json();

const keysOf = async (issuer: string): Promise<Json> => (await fetch(`${issuer}/jwks.json`)).json();

describe('each tenant', () => {
  it('has an issuer, endpoints and keys of its own', async () => {
    const documents = await Promise.all([north, south].map(({ issuer }) => discovery(issuer)));
    expect(documents.map(({ issuer }) => issuer)).toEqual([north.issuer, south.issuer]);
    expect(documents[1].token_endpoint).toBe(`${south.issuer}/token`);
    expect(JSON.stringify(documents[0])).not.toContain('south');
    const [one, other] = await Promise.all([north, south].map(({ issuer }) => keysOf(issuer)));
    const kids = [...one.keys, ...other.keys].map(({ kid }: Json) => kid);
    expect(new Set(kids).size).toBe(kids.length);
    expect(JSON.stringify([one, other])).not.toMatch(/"(d|p|q|dp|dq|qi|k)":/);
  });

  it.each([
    '/jwks.json',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
  ])('answers HEAD at %s as GET, without the document', async (path) => {
    const ask = async (method: string) => {
      const response = await fetch(`${south.issuer}${path}`, { method });
      const { status, headers } = response;
      return {
        status,
        ...Object.fromEntries(
          ['content-type', 'cache-control'].map((name) => [name, headers.get(name)]),
        ),
        text: await response.text(),
      };
    };
    const written = vi.spyOn(console, 'error');
    const document = await ask('GET');
    expect(document.status).toBe(200);
    expect(await ask('HEAD')).toEqual({ ...document, text: '' });
    // An answer that is written twice is an error of the adapter, which it prints.
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
  });

  it('has one address only: the first one is not below its name, and no other is anywhere else', async () => {
    for (const path of [
      't/north',
      't/nobody',
      't/',
      't/south/..%2f..',
      'south',
      't/SOUTH',
      't/south%2f',
    ]) {
      const { status } = await fetch(
        `${product.url}/oidc/${path}/.well-known/openid-configuration`,
      );
      expect(status, path).toBe(404);
    }
  });

  it('tells people where they are', async () => {
    const [one, other] = [await north.visit(), await south.visit()];
    expect(one.page.html).toContain('The North');
    expect(one.page.html).toContain('The shop');
    expect(one.page.html).not.toContain('South');
    expect(other.page.html).toContain('The South');
    expect(other.page.html).toContain('Southern shop');
    expect(other.page.html).not.toContain('The North');
  });
});

describe('what one tenant has given, the other does not know:', () => {
  it('a client and its secret', async () => {
    const swapped = relyingParty(product, { id: 'shop', secret, issuerPath: '/oidc/t/south' });
    expect((await swapped.push()).body.error).toBe('invalid_client');
    const back = relyingParty(product, { id: 'shop', secret: otherSecret });
    expect((await back.push()).body.error).toBe('invalid_client');
    const unknown = relyingParty(product, { id: 'northern', issuerPath: '/oidc/t/south' });
    const strange = relyingParty(product, { id: 'nobody', issuerPath: '/oidc/t/south' });
    const answers = await Promise.all([unknown, strange].map((client) => client.push()));
    const [one, other] = answers.map(({ status, body }) => [
      status,
      body.error,
      body.error_description.replace(/_[\w-]{8} - /, ''),
    ]);
    expect(one).toEqual(other);
  });

  it('a request_uri', async () => {
    for (const [owner, stranger] of pairs()) {
      const request = await owner.request();
      expect((await stranger.follow(request)).page.status).toBe(400);
      expect((await owner.follow(request)).page.status).toBe(200);
    }
  });

  it('a code, and trying it does not spoil it', async () => {
    for (const [owner, stranger] of pairs()) {
      const login = await owner.logIn();
      expect((await stranger.redeem(login)).body.error).toBe('invalid_grant');
      expect((await owner.redeem(login)).status).toBe(200);
    }
  });

  it('access tokens and refresh tokens', async () => {
    for (const [owner, stranger] of pairs()) {
      const tokens = await owner.tokens(robot, offline);
      expect((await stranger.userinfo(tokens.access_token)).status).toBe(401);
      expect((await stranger.introspect(tokens.access_token)).body).toEqual({ active: false });
      expect((await stranger.introspect(tokens.refresh_token)).body).toEqual({ active: false });
      expect((await stranger.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant');
      await stranger.revoke(tokens.access_token);
      await stranger.revoke(tokens.refresh_token);
      expect((await owner.userinfo(tokens.access_token)).status).toBe(200);
      expect((await owner.introspect(tokens.access_token)).body.active).toBe(true);
      expect((await owner.refresh(tokens.refresh_token)).status).toBe(200);
    }
  });

  it('the signature of an ID token', async () => {
    for (const [owner, stranger] of pairs()) {
      const { id_token } = await owner.tokens();
      await expect(
        jwtVerify(id_token, createLocalJWKSet(await keysOf(owner.issuer))),
      ).resolves.toBeDefined();
      await expect(
        jwtVerify(id_token, createLocalJWKSet(await keysOf(stranger.issuer))),
      ).rejects.toThrow();
      const query = new URLSearchParams({ id_token_hint: id_token });
      const answer = await fetch(`${stranger.issuer}/session/end?${query}`, { redirect: 'manual' });
      expect(answer.status).toBe(400);
    }
  });

  it('the page of a login, even with all the cookies', async () => {
    for (const [owner, stranger] of pairs()) {
      const visit = await owner.visit();
      const uid = visit.page.url.split('/').at(-1);
      const path = `${new URL(stranger.issuer).pathname}/interaction/${uid}`;
      const cookie = visit.browser.cookiesFor(visit.page.url);
      const stolen = await fetch(`${product.url}${path}`, {
        headers: { cookie, accept: 'text/html' },
      });
      expect([400, 404]).toContain(stolen.status);
      expect(await stolen.text()).not.toContain('The shop');
      const form = formIn(visit.page.html, 'number');
      const sent = await fetch(`${product.url}${path}/number`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          cookie,
          origin: product.url,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ ...form?.fields, msisdn: `+${robot}` }).toString(),
      });
      expect([400, 403, 404]).toContain(sent.status);
    }
  });

  it('the session of a browser, while its own knows it', async () => {
    for (const [owner, stranger] of pairs()) {
      const browser = createBrowser({ origin: product.url });
      await owner.logIn(robot, {}, browser);
      const again = await owner.visit({}, browser);
      expect(again.page.left?.searchParams.has('code')).toBe(true);
      const elsewhere = await stranger.visit({}, browser);
      expect(formIn(elsewhere.page.html, 'number')).toBeDefined();
    }
  });

  it('cookies: neither name nor content is understood', async () => {
    const browser = createBrowser({ origin: product.url });
    await north.logIn(robot, {}, browser);
    const cookies = browser.cookiesFor('/oidc/auth');
    expect(cookies).toContain('paraph_north_session=');
    const renamed = cookies.replaceAll('paraph_north_', 'paraph_south_');
    const { requestUri } = await south.request();
    const query = new URLSearchParams({ client_id: 'shop', request_uri: requestUri });
    const answer = await fetch(`${south.issuer}/auth?${query}`, {
      redirect: 'manual',
      headers: { cookie: renamed },
    });
    // To the page of a new login, and not back to the client.
    expect(answer.headers.get('location')).toMatch(/\/oidc\/t\/south\/interaction\//);
  });

  it('the sub of a person', async () => {
    const [one, other] = [await north.tokens(), await south.tokens()].map(({ id_token }) =>
      claimsIn(id_token),
    );
    expect(one.sub).not.toBe(other.sub);
  });

  it('anything at all in Redis: each record is under its tenant', async () => {
    await Promise.all([north.tokens(), south.tokens()]);
    const contents = await contentsOf(redis.client(), product.configuration.queue.prefix);
    const records = [...contents.keys()].flatMap((key) => {
      const [, tenant = '', kind = '', hash = ''] =
        /:oidc:([^:]+):([^:]+):(\{.+?\})/.exec(key) ?? [];
      return hash === '' ? [] : [{ tenant, kind, hash }];
    });
    const kindsOf = (tenant: string) =>
      new Set(records.filter((record) => record.tenant === tenant).map(({ kind }) => kind));
    for (const kind of ['Session', 'Grant', 'AccessToken', 'evidence', 'login']) {
      expect(kindsOf('north'), kind).toContain(kind);
      expect(kindsOf('south'), kind).toContain(kind);
    }
    // A hash that both have would be a handle that means something to both.
    const hashesOf = (tenant: string) =>
      new Set(records.filter((record) => record.tenant === tenant).map(({ hash }) => hash));
    expect([...hashesOf('north')].filter((hash) => hashesOf('south').has(hash))).toEqual([]);
  });
});

describe('the headers of the interface', () => {
  it('lead a pushed request to its tenant, and its handle is known there only', async () => {
    const viaMain = relyingParty(product, { id: 'shop', secret: otherSecret });
    for (const headers of [
      { 'tenant-id': 'south' },
      { issuer: south.issuer },
      { issuer: south.issuer, 'tenant-id': 'south' },
    ]) {
      const { body, status } = await viaMain.push({}, headers);
      expect(status).toBe(201);
      const request = { requestUri: body.request_uri, state: '', nonce: '', verifier: '' };
      expect((await south.follow(request)).page.status).toBe(200);
      expect((await north.follow(request)).page.status).toBe(400);
    }
  });

  it('are refused when they know no tenant, or disagree', async () => {
    for (const headers of [
      { 'tenant-id': 'nobody' },
      { issuer: 'https://evil.example/oidc' },
      { issuer: north.issuer, 'tenant-id': 'south' },
      { issuer: south.issuer, 'tenant-id': 'north' },
    ]) {
      const { status, body } = await north.push({}, headers);
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    }
    const { body } = await south.push({}, { 'tenant-id': 'north' });
    expect(body.error).toBe('invalid_request');
  });
});
