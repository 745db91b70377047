/**
 * The reference for people at `/docs` and for machines at `/openapi.json`.
 *
 * Both are made at their first request and kept. The page has no script and loads nothing, and its
 * policy says so (CSP Level 3, section 2.3.1): the only style sheet is named by its hash, and the
 * icon is part of the page.
 */
import { hash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { etag } from 'hono/etag';
import { productVersion } from '../product-version.ts';
import type { DocumentationFacts } from './documentation/guide.ts';
import type { Html } from './documentation/markup.ts';
import { renderPage } from './documentation/page.ts';
import { rootPage, unknownPage } from './documentation/small-pages.ts';
import { stylesheet } from './documentation/stylesheet.ts';
import { buildOpenApiDocument, type OpenApiDocument } from './openapi.ts';

export type { DocumentationFacts, Entrance } from './documentation/guide.ts';

const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const ownStyle = `img-src data:; style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'`;

/** A text and its ETag, which is computed once. */
const tagged = (text: string) => ({ text, tag: `"${hash('sha1', text, 'base64url')}"` });

const secure = (c: Context, contentSecurityPolicy: string, tag?: string): void => {
  if (tag !== undefined) c.header('ETag', tag);
  c.header('Content-Security-Policy', contentSecurityPolicy);
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
  // Browsers ask each time: a new version may describe another interface.
  c.header('Cache-Control', 'no-cache');
};

const answerPage = async (c: Context, page: Html, status: 200 | 404 | 405): Promise<Response> => {
  secure(c, `${nothing}; ${ownStyle}`);
  return c.html(await page, status);
};

/** The page for an unknown address; undefined when the client does not ask for HTML. */
export const unknownAddressPage = (c: Context, status: 404 | 405): Promise<Response> | undefined =>
  c.req.header('accept')?.includes('text/html') ? answerPage(c, unknownPage, status) : undefined;

export const createDocumentationRoutes = (facts: DocumentationFacts): Hono => {
  let document: OpenApiDocument | undefined;
  let openApi: ReturnType<typeof tagged> | undefined;
  let page: ReturnType<typeof tagged> | undefined;
  const describe = (): OpenApiDocument => {
    document ??= buildOpenApiDocument(facts.rules, productVersion());
    return document;
  };
  const routes = new Hono();
  routes.use('/docs', etag());
  routes.use('/openapi.json', etag());
  routes.get('/', (c) => answerPage(c, rootPage(facts.sandbox, facts.entrances), 200));
  routes.get('/docs/', (c) => c.redirect('/docs'));
  routes.get('/docs', async (c) => {
    page ??= tagged(String(await renderPage(describe(), facts)));
    secure(c, `${nothing}; ${ownStyle}`, page.tag);
    return c.html(page.text);
  });
  routes.get('/openapi.json', (c) => {
    openApi ??= tagged(JSON.stringify(describe()));
    secure(c, nothing, openApi.tag);
    return c.body(openApi.text, 200, { 'Content-Type': 'application/json;charset=UTF-8' });
  });
  return routes;
};
