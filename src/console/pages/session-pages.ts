/** What is shown to somebody who is not in yet, and what is shown instead of a page. Pure: from a model to text. */
import { html } from 'hono/html';
import { layOut } from './layout.ts';
import { banner, type Html, nothing } from './markup.ts';

export interface LoginModel {
  /** `expired`: of a link, or a session. */
  readonly problem?: 'wrong' | 'limited' | 'expired';
  /** Path to go to afterwards. */
  readonly next?: string;
  /** Whether the login by phone is offered. */
  readonly oidc: boolean;
}

const problemOf = (problem: NonNullable<LoginModel['problem']>): Html => {
  switch (problem) {
    case 'wrong':
      return banner('bad', 'That was not right', 'Name and password do not belong together.');
    case 'limited':
      return banner('bad', 'Too many tries', 'Wait a minute before you try again.');
    case 'expired':
      return banner('bad', 'Log in again', 'The link or the session is over.');
  }
};

export const loginPage = ({ problem, next, oidc }: LoginModel): string =>
  layOut({
    title: problem === undefined ? 'Log in' : 'Error: Log in',
    main: html`<div class="card"><h1>Log in</h1>
${problem === undefined ? nothing : problemOf(problem)}
<form method="post" action="/admin/login">
${next === undefined ? nothing : html`<input type="hidden" name="next" value="${next}">`}
<div class="field"><label for="name">Name</label><input id="name" name="name" type="text" autocomplete="username" autocapitalize="none" spellcheck="false" required${problem === undefined ? html` autofocus` : ''}></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required></div>
<div class="actions"><button type="submit">Log in</button></div>
</form>
${oidc ? html`<p class="other"><a class="button plain" href="/admin/login/oidc${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}">Log in with the phone</a></p>` : nothing}
</div>`,
  });

/** A button, so that programs which follow links to preview them do not use it up. */
export const linkPage = ({ token }: { readonly token: string }): string =>
  layOut({
    title: 'Log in by link',
    main: html`<div class="card"><h1>Log in by link</h1>
<p>The link is good once. It lets you in as an admin.</p>
<form method="post" action="/admin/login/link">
<input type="hidden" name="token" value="${token}">
<div class="actions"><button type="submit" autofocus>Log in</button></div>
</form></div>`,
  });

export const messagePage = ({
  title,
  text,
  status,
}: {
  readonly title: string;
  readonly text: string;
  readonly status: number;
}): string =>
  layOut({
    title,
    main: html`<div class="card"><h1>${title}</h1><p>${text}</p>
<p class="quiet">HTTP ${status}</p>
<p><a href="/admin">To the console</a></p></div>`,
  });
