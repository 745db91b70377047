/**
 * The reference for people at `/docs` and for machines at `/openapi.json`, and the JSON Schema of the
 * configuration file at `/configuration.schema.json`.
 *
 * The documents are made at their first request and kept. The page at `/docs` has a script, Scalar's,
 * and its policy (CSP Level 3) lets in that file and nothing inline: style elements need the
 * nonce of the answer, and requests go to this service only. Style attributes are let in, because
 * Scalar measures scroll bars by two. The small pages have no script; their one style
 * sheet is named by its hash.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { etag } from 'hono/etag';
import { productVersion } from '../environment/product-version.ts';
import type { DocumentationFacts } from './documentation/guide.ts';
import { type Html, stylesheet } from './documentation/markup.ts';
import { referencePage } from './documentation/reference-page.ts';
import {
  type ReferenceScript,
  readReferenceScript,
  scriptName,
} from './documentation/reference-script.ts';
import { type Entrance, rootPage, unknownPage } from './documentation/small-pages.ts';
import { buildOpenApiDocument } from './openapi.ts';

export type { DocumentationFacts } from './documentation/guide.ts';
export type { Entrance } from './documentation/small-pages.ts';

const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const ownStyle = `img-src data:; style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'`;
const reference = (nonce: string): string =>
  `script-src 'self'; style-src 'nonce-${nonce}'; style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data:`;

const scriptAddress = `/docs/${scriptName}`;

const secure = (c: Context, contentSecurityPolicy: string): void => {
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

const answerScript = (c: Context, { tag, compressed, plain }: ReferenceScript): Response => {
  const takesGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  secure(c, nothing);
  c.header('Content-Type', 'text/javascript;charset=UTF-8');
  c.header('Cross-Origin-Resource-Policy', 'same-origin');
  c.header('Vary', 'Accept-Encoding');
  c.header('ETag', takesGzip ? `"${tag}"` : `"${tag}-plain"`);
  if (!takesGzip) return c.body(plain());
  c.header('Content-Encoding', 'gzip');
  return c.body(compressed);
};

export interface DocumentationOptions extends DocumentationFacts {
  readonly entrances: readonly Entrance[];
  /** Makes the JSON Schema of the configuration file. */
  readonly configurationSchema: () => object;
}

export const createDocumentationRoutes = (options: DocumentationOptions): Hono => {
  let script: ReferenceScript | undefined;
  const routes = new Hono();
  routes.use(scriptAddress, etag());
  routes.get('/', (c) => answerPage(c, rootPage(options.sandbox, options.entrances), 200));
  routes.get('/docs/', (c) => c.redirect('/docs'));
  routes.get('/docs', async (c) => {
    const nonce = randomBytes(16).toString('base64');
    secure(c, `${nothing}; ${reference(nonce)}`);
    return c.html(await referencePage(scriptAddress, nonce));
  });
  routes.get(scriptAddress, (c) => {
    script ??= readReferenceScript();
    return answerScript(c, script);
  });
  const serve = (path: string, type: string, make: () => object): void => {
    let made: { readonly text: string; readonly tag: string } | undefined;
    routes.use(path, etag());
    routes.get(path, (c) => {
      if (made === undefined) {
        const text = JSON.stringify(make());
        made = { text, tag: `"${hash('sha1', text, 'base64url')}"` };
      }
      secure(c, nothing);
      c.header('ETag', made.tag);
      return c.body(made.text, 200, { 'Content-Type': `${type};charset=UTF-8` });
    });
  };
  serve('/openapi.json', 'application/json', () => buildOpenApiDocument(options, productVersion()));
  serve('/configuration.schema.json', 'application/schema+json', options.configurationSchema);
  return routes;
};
