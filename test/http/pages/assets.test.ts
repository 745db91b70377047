import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { serveAsset } from '../../../src/http/pages/assets.ts';

const branding = { color: '#123456', logoSvg: '<svg xmlns="http://www.w3.org/2000/svg"/>' };
const serve = (name: string, query = '', ifNoneMatch?: string) =>
  serveAsset(name, branding, { query, ifNoneMatch });

describe('what the pages load', () => {
  it('has its type, and a policy under which a logo can run nothing', () => {
    const types = ['login.css', 'login.js', 'logo.svg'].map((name) =>
      serve(name)?.headers.get('content-type'),
    );
    expect(types).toEqual([
      'text/css;charset=UTF-8',
      'text/javascript;charset=UTF-8',
      'image/svg+xml',
    ]);
    expect(serve('logo.svg')?.headers.get('content-security-policy')).toContain(
      "default-src 'none'",
    );
    expect(serve('logo.svg')?.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is kept for ever under the hash of its content, and under no other', () => {
    const right = hash('sha256', branding.logoSvg, 'base64url').slice(0, 12);
    expect(serve('logo.svg', `v=${right}`)?.headers.get('cache-control')).toContain('immutable');
    for (const query of ['', 'v=', `v=${right.slice(0, 4)}`, 'v=0123456789ab']) {
      expect(serve('logo.svg', query)?.headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('is not sent again to whoever has it', () => {
    const etag = serve('login.css')?.headers.get('etag') ?? '';
    expect(serve('login.css', '', etag)?.status).toBe(304);
    expect(serve('login.css', '', '"other"')?.status).toBe(200);
  });

  it('is nothing else', () => {
    expect(serve('../secrets')).toBeUndefined();
    expect(
      serveAsset(
        'logo.svg',
        { ...branding, logoSvg: undefined },
        { query: '', ifNoneMatch: undefined },
      ),
    ).toBeUndefined();
  });
});
