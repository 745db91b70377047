/**
 * The page of the phone and its files. It is the same for everybody: only the API reads the cookie,
 * which says to whom the browser belongs. No address of it has anything secret, because the
 * activation code is in the fragment, which browsers do not send.
 *
 * The policy is stricter than that of other pages: scripts can only be files of this origin, and no
 * text can become a script or HTML (Trusted Types), because a script on this origin could sign.
 */
import { type Context, Hono } from 'hono';
import { assetAddress, type PageFrame } from '../../src/http/pages/assets.ts';
import { pageHeaders } from '../../src/http/pages/headers.ts';
import { chooseLanguage } from '../../src/http/pages/language.ts';
import type { PageLanguage } from '../../src/http/pages/languages.ts';
import { schemes } from '../../src/http/pages/stylesheet.ts';
import { addressOf, assetResponse, workerScript } from './shell-assets.ts';
import { offlinePage, phoneWords, shellPage } from './shell-page.ts';

export interface ShellOptions {
  /** Gives the look of the pages of this service. Called at the first request. */
  readonly frame: () => Pick<PageFrame, 'tenantName' | 'branding' | 'path'>;
  /** The number that any browser may take, digits; undefined outside of a sandbox. */
  readonly ownNumber: string | undefined;
  readonly publicUrl: () => string;
}

const policy = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'connect', 'manifest', 'worker'].map(
    (kind) => `${kind}-src 'self'`,
  ),
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types paraph-phone',
].join('; ');

const headers = { ...pageHeaders, 'content-security-policy': policy };

const answer = (
  text: string,
  type: string,
  more: Readonly<Record<string, string>> = {},
): Response => new Response(text, { headers: { ...headers, 'content-type': type, ...more } });

export const createShellRoutes = ({ frame, ownNumber, publicUrl }: ShellOptions): Hono => {
  const frameIn = (language: PageLanguage): PageFrame => ({ ...frame(), language });
  const languageOf = ({ req }: Context): PageLanguage =>
    chooseLanguage(req.query('language'), req.header('accept-language'));
  const routes = new Hono();

  routes.get('/phone', (c) => {
    // Scripts cannot set this header. A camera, a bookmark or a message is `none`.
    const isFromElsewhere = ['cross-site', 'same-site'].includes(
      c.req.header('sec-fetch-site') ?? '',
    );
    const page = shellPage(
      frameIn(languageOf(c)),
      ownNumber,
      isFromElsewhere,
      new URL(publicUrl()).host,
    );
    return answer(page, 'text/html;charset=UTF-8');
  });

  // As people type it. Browsers keep the fragment, which may hold an activation code.
  routes.get('/phone/', (c) => c.redirect(`/phone${new URL(c.req.url).search}`));

  routes.get('/phone/offline', (c) => {
    return answer(offlinePage(frameIn(languageOf(c))), 'text/html;charset=UTF-8');
  });

  routes.get('/phone/manifest.webmanifest', (c) => {
    const language = languageOf(c);
    const { tenantName, branding, path } = frameIn(language);
    const { appName } = phoneWords(language);
    const manifest = {
      id: '/phone',
      name: `${appName} · ${tenantName}`,
      short_name: appName,
      lang: language,
      start_url: '/phone',
      scope: '/phone',
      display: 'standalone',
      background_color: schemes.light.paper,
      theme_color: schemes.light.paper,
      icons: [
        { src: assetAddress({ path, branding }, 'icon.svg'), sizes: 'any', type: 'image/svg+xml' },
      ],
    };
    return answer(JSON.stringify(manifest), 'application/manifest+json');
  });

  routes.get('/phone/worker.js', (c) => {
    const language = languageOf(c);
    const { path, branding, tenantName } = frameIn(language);
    const { notice, otherNotice } = phoneWords(language);
    const icon = assetAddress({ path, branding }, 'icon.svg');
    const script = workerScript({
      offlineFiles: [
        `/phone/offline?language=${language}`,
        assetAddress({ path, branding }, 'login.css'),
        addressOf('phone.css'),
        icon,
        ...(branding.logoSvg === undefined ? [] : [assetAddress({ path, branding }, 'logo.svg')]),
      ],
      notices: { title: tenantName, prompt: notice, enrolled: otherNotice, icon, lang: language },
    });
    // It lies below the page that it serves.
    return answer(script, 'text/javascript;charset=UTF-8', {
      'cache-control': 'no-cache',
      'service-worker-allowed': '/phone',
    });
  });

  routes.get('/phone/assets/:version/:name', async ({ req }, next) => {
    const found = assetResponse(req.param('version'), req.param('name'));
    return found ?? next();
  });
  return routes;
};
