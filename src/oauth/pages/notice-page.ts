/** Pages outside of a login: it cannot start, it is over, or somebody logs out. */
import { html, raw } from 'hono/html';
import { icons, reference } from './markup.ts';
import { layOut } from './page.ts';
import type { Notice, PageFrame } from './views.ts';
import { wordsOf } from './words.ts';

export const noticePage = (frame: PageFrame, notice: Notice): string => {
  const words = wordsOf(frame.language);
  switch (notice.kind) {
    case 'error': {
      const { title, what, next } = words.notices[notice.cause];
      return layOut(frame, {
        title,
        main: html`${icons.warning}
<h1>${title}</h1>
<p class="lead">${what}</p>
<p>${next}</p>
${reference(words.reference, notice.reference)}`,
      });
    }
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
