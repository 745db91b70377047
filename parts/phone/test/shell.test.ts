/**
 * The page of the phone and its files, as the server sends them; how they work is seen in a
 * browser.
 */
import { describe, expect, it } from 'vitest';
import { pageLanguages } from '../../../src/http/pages/languages.ts';
import { createShellRoutes } from '../shell.route.ts';

const frame = () => ({
  tenantName: 'Canton of Example',
  branding: { color: '#1f5fbf', logoSvg: undefined },
  path: '/oidc',
});
const publicUrl = () => 'https://phone.example.com';
const routes = createShellRoutes({ frame, ownNumber: '41700092600', publicUrl });

const get = async (path: string) => {
  const response = await routes.request(path);
  return {
    response,
    text: await response.text(),
    header: (name: string) => response.headers.get(name) ?? '',
  };
};

const viewsIn = (page: string): readonly string[] =>
  page
    .split('<template id="')
    .slice(1)
    .map((text) => text.slice(0, text.indexOf('</template>')));

describe('the page of the phone', () => {
  it('lets nothing become a script but files of its own origin', async () => {
    const { header, text } = await get('/phone');
    const policy = header('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types paraph-phone");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(
      /<style|\sstyle=|\son[a-z]+=|javascript:|https?:|(?:src|href)="(?!\/)/i,
    );
    expect(text.match(/<script[^>]*>[^<]*/g)).toEqual([
      expect.stringMatching(/^<script type="module" src="\/phone\/assets\/[\w-]{12}\/phone\.js">$/),
    ]);
  });

  it.each(pageLanguages)(
    'has every view with one heading, and every word, in %s',
    async (language) => {
      const { text } = await get(`/phone?language=${language}`);
      expect(text).toContain(`<html lang="${language}">`);
      const views = viewsIn(text).filter((view) => view.startsWith('view-'));
      expect(views).toHaveLength(17);
      for (const view of views) {
        expect(view.match(/<h1[ >]/g), view).toHaveLength(1);
        const ids = [...view.slice(view.indexOf('>')).matchAll(/ id="([^"]+)"/g)].map(
          ([, id]) => id,
        );
        expect(new Set(ids).size).toBe(ids.length);
        for (const [, named] of view.matchAll(
          / (?:for|aria-describedby|aria-labelledby)="([^"]+)"/g,
        )) {
          expect(ids, view).toContain(named);
        }
      }
      expect(text).not.toMatch(
        /undefined|\[object|NaN|<(h1|h2|label|button)(?: [^>]*)?>\s*<\/\1>|ß/,
      );
    },
  );

  it('is found with a slash at the end, in the language that was asked for', async () => {
    const { response } = await get('/phone/?language=de');
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('/phone?language=de');
  });

  it('says something of its own in each language', async () => {
    const pages = await Promise.all(
      pageLanguages.map(async (language) => {
        const { text } = await get(`/phone?language=${language}`);
        return viewsIn(text).map((view) => view.replaceAll(/<[^>]*>/g, ''));
      }),
    );
    const [english = [], ...others] = pages;
    for (const other of others)
      expect(other.filter((view, index) => view === english[index])).toEqual([]);
  });

  it('offers the number of the sandbox in a sandbox alone', async () => {
    expect((await get('/phone')).text).toContain('data-part="begin"');
    const plain = createShellRoutes({ frame, ownNumber: undefined, publicUrl });
    expect(await (await plain.request('/phone')).text()).not.toContain('data-part="begin"');
  });
});

describe('the files of the phone', () => {
  it('are kept for ever under the address of their release, and under no other', async () => {
    const { text } = await get('/phone');
    const [, address = ''] = /src="([^"]+phone\.js)"/.exec(text) ?? [];
    const { response, header } = await get(address);
    expect(response.status).toBe(200);
    expect(header('content-type')).toBe('text/javascript;charset=UTF-8');
    expect(header('cache-control')).toContain('immutable');
    const other = await get(address.replace(/assets\/[\w-]+/, 'assets/0123456789ab'));
    expect(other.header('cache-control')).toBe('no-store');
    for (const name of ['worker.js', 'other.js', '..%2fshell.route.ts', 'tsconfig.json'])
      expect((await get(address.replace('phone.js', name))).response.status, name).toBe(404);
  });

  it('are all there for the modules that name them', async () => {
    const { text } = await get('/phone');
    const [, entry = ''] = /src="([^"]+phone\.js)"/.exec(text) ?? [];
    const seen = new Set<string>();
    const load = async (address: string): Promise<void> => {
      if (seen.has(address)) return;
      seen.add(address);
      const { response, text: script } = await get(address);
      expect(response.status, address).toBe(200);
      for (const [, name = ''] of script.matchAll(
        /^(?:import|export) .*?from '\.\/([\w.-]+)';$/gms,
      ))
        await load(new URL(name, `http://here${address}`).pathname);
    };
    await load(entry);
    expect(seen.size).toBeGreaterThan(5);
  });

  it('include a worker that may serve the page, and knows the page for when there is no connection', async () => {
    const { header, text } = await get('/phone/worker.js?language=de');
    expect(header('service-worker-allowed')).toBe('/phone');
    expect(header('cache-control')).toBe('no-cache');
    const [, files = '[]'] = /^const offlineFiles = (.*);$/m.exec(text) ?? [];
    const [page] = JSON.parse(files);
    expect((await get(page)).text).toContain('Keine Verbindung');
  });

  it('include a manifest with which the phone can be installed', async () => {
    const { header, text } = await get('/phone/manifest.webmanifest?language=fr');
    expect(header('content-type')).toBe('application/manifest+json');
    expect(JSON.parse(text)).toMatchObject({
      name: 'Téléphone · Canton of Example',
      start_url: '/phone',
      scope: '/phone',
      display: 'standalone',
    });
  });
});
