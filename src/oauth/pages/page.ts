/** The words of the pages, and the pages outside a login. */
import { html, raw } from 'hono/html';
import type { PageFrame } from '../../http/pages/assets.ts';
import type { PageLanguage } from '../../http/pages/languages.ts';
import { layOut, layOutWarning } from '../../http/pages/layout.ts';
import { icons, reference } from '../../http/pages/markup.ts';
import type { OauthTenant } from '../../registry/oauth-client.ts';
import type { Notice } from './views.ts';
import { de } from './words-de.ts';
import { en, type Words } from './words-en.ts';
import { fr } from './words-fr.ts';
import { it } from './words-it.ts';

const words: Readonly<Record<PageLanguage, Words>> = { en, de, fr, it };

export const wordsOf = (language: PageLanguage): Words => words[language];

/** @param path The path of the tenant, without a slash at its end. */
export const frameFor = (
  { name, branding }: OauthTenant,
  path: string,
  language: PageLanguage,
  client?: { readonly name: string },
): PageFrame => ({
  language,
  tenantName: name,
  branding,
  path,
  ...(client !== undefined && { clientName: client.name }),
});

/** A logout that no application has asked for, so nothing about it can be wrong. */
const logOutLink = ({ path }: PageFrame, { logOut }: Words) =>
  html`<div class="actions"><a class="button primary" href="${path}/session/end">${logOut.yes}</a></div>`;

/** Pages outside a login: it cannot start, it is over, or a logout. */
export const noticePage = (frame: PageFrame, notice: Notice): string => {
  const words = wordsOf(frame.language);
  switch (notice.kind) {
    case 'error':
      return layOutWarning(
        frame,
        notice.cause === 'limited' ? words.failed.causes.limited : words.notices[notice.cause],
        html`${notice.cause === 'logout-failed' && logOutLink(frame, words)}${reference(words.reference, notice.reference)}${notice.detail && reference(words.detail, notice.detail)}`,
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
    case 'still-logged-in':
      return layOut(frame, {
        title: words.stillLoggedIn.title,
        main: html`${icons.done}
<h1>${words.stillLoggedIn.title}</h1>
<p class="lead">${words.stillLoggedIn.what(frame.tenantName)}</p>`,
      });
  }
};
