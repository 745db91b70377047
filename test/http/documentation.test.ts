/** The reference at /docs: what it lets in, and that nothing a caller sends gets into it. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultProtocolRules } from '../../packages/protocol/src/rules.ts';
import {
  createDocumentationRoutes,
  type DocumentationOptions,
} from '../../src/http/documentation.route.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const options: DocumentationOptions = {
  rules: defaultProtocolRules,
  sandbox: true,
  entrances: [],
  configurationSchema: () => ({ title: 'A schema' }),
  described: [],
  maxBodyBytes: 65_536,
  retention: { signedMs: 7 * 86_400_000, failedMs: 12 * 3_600_000 },
};

describe('the addresses of the reference', () => {
  const redis = testRedis();
  let product: TestProduct;
  beforeAll(async () => {
    product = await startTestProduct(redis, { workers: false });
  });
  afterAll(() => product.stop());

  const get = (path: string, headers: Record<string, string> = {}) =>
    product.api.fetch(new Request(`http://test${path}`, { headers }));

  it('lead from / to the pages of parts, the reference and the console', async () => {
    const response = await get('/');
    expect(response.status).toBe(200);
    const targets = [...(await response.text()).matchAll(/<dt><a href="([^"]*)"/g)].map(
      ([, to]) => to,
    );
    expect(targets).toEqual(['/demo', '/docs', '/admin']);
    const entrance = { path: '/stand', name: 'Stand', what: 'A way in.', greeting: 'begin' };
    const page = createDocumentationRoutes({ ...options, entrances: [entrance] });
    const html = await (await page.request('/')).text();
    expect(html).toContain('<dt><a href="/stand">Stand</a></dt><dd>A way in.</dd>');
    expect(html).not.toContain('/demo');
  });

  it('have the JSON Schema of the configuration file, of any other service too', async () => {
    const response = await get('/configuration.schema.json');
    expect(response.headers.get('content-type')).toBe('application/schema+json;charset=UTF-8');
    expect(await response.json()).toEqual(
      JSON.parse(readFileSync('docs/configuration.schema.json', 'utf8')),
    );
    const tag = response.headers.get('etag') ?? '';
    const again = await get('/configuration.schema.json', { 'if-none-match': tag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = createDocumentationRoutes(options);
    expect(await (await other.request('/configuration.schema.json')).json()).toEqual({
      title: 'A schema',
    });
  });

  it('are, when they are unknown, a page for a browser and a Fault for any other client', async () => {
    for (const accept of ['*/*', 'application/json', '']) {
      const response = await get('/nowhere', { accept });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        Fault: { Detail: 'There is no such address' },
      });
    }
    const response = await get('/nowhere?<b>', {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toMatch(/<h1>There is nothing at this address<\/h1>/);
    expect(page).not.toMatch(/nowhere|<b>/);
    expect(await (await get('/rest/nowhere', { accept: 'text/html' })).json()).toHaveProperty(
      'Fault',
    );
  });

  it('redirect /docs/ to /docs', async () => {
    const response = await get('/docs/');
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('/docs');
  });

  it('give the page a policy that lets in the one script, and styles with the nonce of the answer', async () => {
    const policies = new Set<string>();
    for (const response of [await get('/docs'), await get('/docs')]) {
      const page = await response.text();
      expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
      const [, nonce = '?'] = /<meta property="csp-nonce" content="([^"]*)">/.exec(page) ?? [];
      expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/);
      const policy = response.headers.get('content-security-policy') ?? '';
      policies.add(policy);
      expect(policy).toBe(
        `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'self'; style-src 'nonce-${nonce}'; style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data:`,
      );
      expect([...page.matchAll(/<style nonce="([^"]*)"/g)].map(([, of]) => of)).toEqual([nonce]);
      expect(
        [...page.matchAll(/<script (.*?)>(.*?)<\/script>/gs)].map(([, , text]) => text),
      ).toEqual(['', '']);
      expect(page).not.toMatch(/\sstyle=|\son[a-z]+=|javascript:|@import|url\(/i);
      expect([...page.matchAll(/\ssrc="([^"]*)"/g)].map(([, from]) => from)).toEqual([
        '/docs/reference.js',
      ]);
    }
    expect(policies.size).toBe(2);
  });

  it('turn off everything of the reference that asks other hosts', async () => {
    const page = await (await get('/docs')).text();
    const [, escaped = ''] = /data-configuration="([^"]*)"/.exec(page) ?? [];
    expect(JSON.parse(escaped.replaceAll('&quot;', '"'))).toMatchObject({
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
    });
  });

  it('have the script itself, compressed for all who take that', async () => {
    const compressed = await get('/docs/reference.js', { 'accept-encoding': 'br, gzip' });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('content-type')).toBe('text/javascript;charset=UTF-8');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    expect(compressed.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    const plain = await get('/docs/reference.js');
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    const text = await plain.text();
    expect(text).toContain('createApiReference');
    expect(gunzipSync(await compressed.arrayBuffer()).toString()).toBe(text);
    expect(plain.headers.get('etag')).not.toBe(compressed.headers.get('etag'));
  });

  it.each(['/docs', '/docs/reference.js', '/openapi.json'])(
    'keep %s from being framed, guessed at or told on',
    async (path) => {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    },
  );

  it.each(['/docs/reference.js', '/openapi.json'])(
    'do not send %s again to who has it',
    async (path) => {
      const first = await get(path);
      // Asked for each time: a new version may describe another interface.
      expect(first.headers.get('cache-control')).toBe('no-cache');
      const again = await get(path, { 'if-none-match': first.headers.get('etag') ?? '' });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
    },
  );

  it('repeat nothing that the caller sends', async () => {
    const withoutNonce = (page: string): string => page.replaceAll(/[A-Za-z0-9+/]{22}==/g, '');
    const plain = withoutNonce(await (await get('/docs')).text());
    const tricky = await product.api.fetch(
      new Request('http://evil.example/docs?x=<script>', {
        headers: { 'x-forwarded-host': 'evil.example' },
      }),
    );
    expect(withoutNonce(await tricky.text())).toBe(plain);
  });
});
