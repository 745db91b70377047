/** Serves pages that were made from models, with the headers and files that they are served with. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveAsset } from '../../src/http/pages/assets.ts';
import { pageHeaders } from '../../src/http/pages/headers.ts';
import type { PageLanguage } from '../../src/http/pages/languages.ts';
import { type EveryPage, frameOf } from '../http/pages/page-contract.ts';

const branding = { color: '#1f5fbf', logoSvg: undefined };

export interface PageServer {
  addressOf(name: string): string;
  close(): void;
}

export const servePages = async (
  pages: EveryPage,
  language: PageLanguage = 'de',
): Promise<PageServer> => {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://here');
    if (pathname === '/page') {
      const page = pages.get(searchParams.get('name') ?? '')?.(frameOf(language)) ?? '';
      response.writeHead(200, { ...pageHeaders, 'content-type': 'text/html;charset=UTF-8' });
      // Without the reload that leaves at once: such a page could not be looked at.
      response.end(page.replace(/<meta http-equiv="refresh" content="0[^>]*>/, ''));
      return;
    }
    const name = pathname.replace('/oidc/assets/', '');
    const asset = serveAsset(name, branding, { query: '', ifNoneMatch: undefined });
    const type = asset?.headers.get('content-type') ?? 'text/plain';
    response.writeHead(asset === undefined ? 404 : 200, { ...pageHeaders, 'content-type': type });
    response.end(await asset?.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    addressOf: (name) => `${origin}/page?${new URLSearchParams({ name })}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
