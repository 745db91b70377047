/**
 * The frame around every page, and the pages outside a login. Nothing is inline or from elsewhere,
 * so the strictest policy fits. Every page works without the script.
 */
import { html, raw } from 'hono/html';
import { type LoginLanguage, loginLanguages, type OauthTenant } from '../../registry/oauth-client.ts';
import { assetAddress } from './assets.ts';
import { type Html, icons, reference } from './markup.ts';
import type { Notice, PageFrame } from './views.ts';
import { de } from './words-de.ts';
import { en, type Words } from './words-en.ts';
import { fr } from './words-fr.ts';
import { it } from './words-it.ts';

const words: Readonly<Record<LoginLanguage, Words>> = { en, de, fr, it };

export const wordsOf = (language: LoginLanguage): Words => words[language];

export interface PageParts {
  readonly title: string;
  /** The title of the window says so too. */
  readonly hasError?: boolean;
  readonly head?: Html;
  readonly main: Html;
}

/** @param path Of the tenant, without a slash at its end. */
export const frameFor = (
  { name, branding }: OauthTenant,
  path: string,
  language: LoginLanguage,
  client?: { readonly name: string },
): PageFrame => ({
  language,
  tenantName: name,
  branding,
  path,
  ...(client !== undefined && { clientName: client.name }),
});

const brand = (frame: PageFrame): Html =>
  frame.branding.logoSvg === undefined
    ? html`<p class="brand">${frame.tenantName}</p>`
    : html`<p class="brand"><img src="${assetAddress(frame, 'logo.svg')}" alt="${frame.tenantName}"></p>`;

export const layOut = (frame: PageFrame, { title, hasError = false, head, main }: PageParts): string => {
  const words = wordsOf(frame.language);
  const page = html`<!doctype html>
<html lang="${frame.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="noindex">
<title>${hasError ? `${words.error}: ` : ''}${title} · ${frame.tenantName}</title>
<link rel="stylesheet" href="${assetAddress(frame, 'login.css')}">
<link rel="icon" type="image/svg+xml" href="${assetAddress(frame, 'icon.svg')}">
${head}
</head>
<body>
<header>${brand(frame)}</header>
<main>
${main}
</main>
<footer><p>${words.safety}</p></footer>
</body>
</html>
`;
  return `${page}`;
};

/** @param message Three lines: title, what happened, what to do. */
export const layOutWarning = (frame: PageFrame, message: string, rest: Html): string => {
  const [title = '', what = '', next = ''] = message.split('\n');
  return layOut(frame, {
    title,
    main: html`${icons.warning}
<h1>${title}</h1>
<p class="lead">${what}</p>
<p>${next}</p>
${rest}`,
  });
};

/** Pages outside a login: it cannot start, it is over, or a logout. */
export const noticePage = (frame: PageFrame, notice: Notice): string => {
  const words = wordsOf(frame.language);
  switch (notice.kind) {
    case 'error':
      return layOutWarning(
        frame,
        notice.cause === 'limited' ? words.failed.causes.limited : words.notices[notice.cause],
        html`${reference(words.reference, notice.reference)}${notice.detail && reference(words.detail, notice.detail)}`,
      );
    case 'log-out': {
      const title = words.logOut.title(frame.tenantName);
      return layOut(frame, {
        title,
        main: html`${icons.leaving}
<h1>${title}</h1>
<p class="lead">${words.logOut.what}</p>
${raw(notice.form)}
<div class="actions">
<button class="primary" type="submit" form="op.logoutForm" name="logout" value="yes">${words.logOut.yes}</button>
<button class="secondary" type="submit" form="op.logoutForm">${words.logOut.no}</button>
</div>`,
      });
    }
    case 'logged-out':
      return layOut(frame, {
        title: words.loggedOut.title,
        main: html`${icons.done}
<h1>${words.loggedOut.title}</h1>
<p class="lead">${words.loggedOut.what}</p>`,
      });
  }
};

const fallback: LoginLanguage = 'en';

/** More than any browser sends. */
const maxCharacters = 1000;

const known = (tag: string): LoginLanguage | undefined => {
  const primary = tag.trim().toLowerCase().split(/[-_]/, 1)[0];
  return loginLanguages.find((language) => language === primary);
};

/** Weight of `de;q=0.8` (RFC 9110 12.4.2); a malformed one is 0. */
const weightOf = (parameters: readonly string[]): number => {
  const weight = parameters.map((text) => /^\s*q=(.*)$/i.exec(text)?.[1]).find((text) => text !== undefined);
  if (weight === undefined) return 1;
  return /^\s*(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/.test(weight) ? Number(weight) : 0;
};

const fromHeader = (header: string): LoginLanguage | undefined =>
  header
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';');
      return { language: known(tag), weight: weightOf(parameters) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .find(({ language }) => language !== undefined)?.language;

/**
 * The client's choice comes first, then the browser's. @param uiLocales OpenID Connect Core
 * 3.1.2.1.
 */
export const chooseLanguage = (
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): LoginLanguage =>
  (uiLocales ?? '')
    .slice(0, maxCharacters)
    .split(/\s+/)
    .map(known)
    .find((language) => language !== undefined) ??
  fromHeader((acceptLanguage ?? '').slice(0, maxCharacters)) ??
  fallback;
