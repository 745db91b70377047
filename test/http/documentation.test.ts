/** The reference at /docs: what it says, to whom, and that nothing a caller sends gets into it. */
import { hash } from 'node:crypto';
import { html } from 'hono/html';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parts } from '../../parts/parts.ts';
import { jsonBlock, table, words } from '../../src/http/documentation/markup.ts';
import {
  createDocumentationRoutes,
  type DocumentationFacts,
} from '../../src/http/documentation.route.ts';
import { describeParts } from '../../src/product/part-rooms.ts';
import { faultTable } from '../../src/protocol/fault.ts';
import { profileNames } from '../../src/protocol/requests.ts';
import { defaultProtocolRules } from '../../src/protocol/rules.ts';
import { testUsers } from '../../src/registry/test-users.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const facts: DocumentationFacts = {
  rules: defaultProtocolRules,
  sandbox: true,
  entrances: [],
  described: [],
  publicUrl: () => 'https://sign.example:8443',
  maxBodyBytes: 65_536,
  retention: { signedMs: 7 * 86_400_000, failedMs: 12 * 3_600_000 },
};

const pageFor = async (overrides: Partial<DocumentationFacts> = {}): Promise<string> => {
  const routes = createDocumentationRoutes({ ...facts, ...overrides }, await describeParts(parts));
  const response = await routes.request('/docs');
  expect(response.status).toBe(200);
  return response.text();
};

/** What a reader sees, without markup. */
const textOf = (page: string): string =>
  page
    .replaceAll(/<style>.*<\/style>/gs, '')
    .replaceAll(/<wbr>|<[^>]*>/g, '')
    .replaceAll(/&quot;/g, '"')
    .replaceAll(/&amp;/g, '&')
    .replaceAll(/\s+/g, ' ');

describe('the page', () => {
  it('describes every operation, object and fault', async () => {
    const page = await pageFor();
    for (const id of ['sign', 'status', 'receipt', 'profile']) {
      expect(page).toContain(`<h2 id="${id}">`);
      expect(page).toContain(`/rest/service/${id}`);
    }
    for (const code of Object.keys(faultTable)) expect(page).toContain(`<tr id="fault-${code}">`);
    const text = textOf(page);
    for (const { reason } of Object.values(faultTable)) expect(text).toContain(reason);
    for (const name of profileNames) expect(text).toContain(name);
    for (const name of [
      'AP_Info',
      'MSSP_Info',
      'DataToBeSigned.MimeType',
      'AdditionalServices[].UserLang.Value',
    ]) {
      expect(text).toContain(name);
    }
  });

  it('shows the test numbers in a sandbox, and nowhere else', async () => {
    const sandbox = textOf(await pageFor());
    const production = textOf(await pageFor({ sandbox: false }));
    for (const { msisdn, alwaysFaults } of testUsers) {
      const shown =
        alwaysFaults === undefined || msisdn === '41000000000' ? msisdn : msisdn.slice(0, -3);
      expect(sandbox).toContain(`+${shown}`);
    }
    expect(production).not.toContain('Test numbers');
    expect(production).not.toContain('41700092503');
    expect(production).not.toContain('41000092');
    expect(production).toContain('password or a TLS client certificate');
  });

  it('shows a first request at the address of this service', async () => {
    expect(textOf(await pageFor())).toContain(
      "curl -s 'https://sign.example:8443/rest/service/sign'",
    );
  });

  it('tells the limits of this service', async () => {
    const page = textOf(
      await pageFor({
        maxBodyBytes: 10_000,
        rules: {
          ...defaultProtocolRules,
          maxTimeoutSeconds: 45,
          authorities: ['sign.example.org'],
        },
      }),
    );
    expect(page).toContain('10000 bytes');
    expect(page).toContain('1 to 45');
    expect(page).toContain('7 days long when it was signed, and 12 hours when it failed');
    expect(page).toContain('http://sign.example.org/Any-LoA4');
    expect(page).not.toContain('vendor.ch/Any');
  });

  it('has no script, no inline style and nothing to load', async () => {
    const page = await pageFor();
    expect(page).not.toMatch(
      /<script|<link(?! rel="icon" href="data:)|<img|<iframe|<object|\sstyle=|\son[a-z]+=|javascript:/i,
    );
    expect(page).not.toMatch(/(?:src|srcset|action|data)="/);
    expect(page).not.toMatch(/@import|url\(/);
    for (const [, target = ''] of page.matchAll(/href="([^"]*)"/g)) {
      expect(target).toMatch(/^(#[\w-]+|openapi\.json|pki\/root\.pem|data:image\/svg.*)$/);
    }
  });

  it('is made of pieces that escape what they print', async () => {
    const pieces = [
      words('a `<b>` & <i>'),
      jsonBlock({ '<b>': ['</code><script>', { '"': '&' }] }),
      table('"<label>"', ['<title>'], [['<cell>']], ['"']),
    ];
    const page = String(await html`${pieces}`);
    expect(page).not.toMatch(/<(b|i|script|label|title|cell)>/);
    expect(page).toContain('a <code>&lt;b&gt;</code> &amp; &lt;i&gt;');
    expect(page).toContain('aria-label="&quot;&lt;label&gt;&quot;"');
  });

  it('has one title, and headings that skip no level', async () => {
    const levels = [...(await pageFor()).matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    levels.reduce((before, level) => {
      expect(level - before).toBeLessThanOrEqual(1);
      return level;
    }, 0);
  });
});

describe('its addresses', () => {
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
    const page = createDocumentationRoutes({ ...facts, entrances: [entrance] }, []);
    const html = await (await page.request('/')).text();
    expect(html).toContain('<dt><a href="/stand">Stand</a></dt><dd>A way in.</dd>');
    expect(html).not.toContain('/demo');
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
    expect(await response.text()).toMatch(/<h1>There is nothing at this address<\/h1>/);
    expect(await (await get('/rest/nowhere', { accept: 'text/html' })).json()).toHaveProperty(
      'Fault',
    );
  });

  it('redirect /docs/ to /docs', async () => {
    const response = await get('/docs/');
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('/docs');
  });

  it('are served with a policy that lets nothing in but the one style sheet', async () => {
    const response = await get('/docs');
    const page = await response.text();
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src data:; style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    );
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
  });

  it.each(['/docs', '/openapi.json'])(
    'keep %s from being framed, guessed at or told on',
    async (path) => {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    },
  );

  it.each(['/docs', '/openapi.json'])('do not send %s again to who has it', async (path) => {
    const first = await get(path);
    const again = await get(path, { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
  });

  it('repeat nothing that the caller sends', async () => {
    const plain = await (await get('/docs')).text();
    const tricky = await product.api.fetch(
      new Request('http://evil.example/docs?x=<script>', {
        headers: { 'x-forwarded-host': 'evil.example' },
      }),
    );
    expect(await tricky.text()).toBe(plain);
  });
});
