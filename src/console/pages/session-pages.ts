/** The login, and the pages for errors. */
import { html } from 'hono/html';
import type { LoginProblem } from '../../console-login/login-problem.ts';
import { layOut } from './layout.ts';
import { banner, nothing } from './markup.ts';

/** `expired`: the login link. */
type Problem = 'wrong' | 'limited' | 'expired' | LoginProblem;

export interface LoginModel {
  readonly problem?: Problem | undefined;
  /** Path to go to afterwards. */
  readonly next?: string | undefined;
  /** Start of the login with the phone, when it is offered. */
  readonly phoneAddress?: string | undefined;
}

const problems: Readonly<Record<Problem, readonly [title: string, text: string]>> = {
  wrong: ['That was not right', 'Name or password is wrong.'],
  limited: ['Too many tries', 'Wait a minute before you try again.'],
  expired: ['Log in again', 'The link has expired.'],
  cancelled: ['Cancelled', 'The login was declined, on the phone or on the page.'],
  'no-answer': ['No answer', 'The phone was not answered in time.'],
  'phone-busy': ['The phone is busy', 'It shows another request. Answer that one first, then try again.'],
  'no-method': ['Not with this phone', 'The number has no method that this console accepts.'],
  activation: ['Not activated yet', 'The account of this number has to be activated first.'],
  failed: ['That did not work', 'The phone could not be asked, or its answer did not hold.'],
  over: ['Log in again', 'This login had ended, or another window of this browser has begun a later one.'],
  away: ['Not possible now', 'The login with the phone does not answer. Try again in a moment.'],
};

export const loginPage = ({ problem, next, phoneAddress }: LoginModel): string =>
  layOut({
    title: problem === undefined ? 'Log in' : 'Error: Log in',
    main: html`<div class="card"><h1>Log in</h1>
${problem === undefined ? nothing : banner('bad', ...problems[problem])}
<form method="post" action="/admin/login">
${next === undefined ? nothing : html`<input type="hidden" name="next" value="${next}">`}
<div class="field"><label for="name">Name</label><input id="name" name="name" type="text" autocomplete="username" autocapitalize="none" spellcheck="false" required${problem === undefined ? html` autofocus` : ''}></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required></div>
<div class="actions"><button type="submit">Log in</button></div>
</form>
${phoneAddress === undefined ? nothing : html`<p class="other"><a class="button plain" href="${phoneAddress}">Log in with the phone</a></p>`}
</div>`,
  });

/** Leads on by the header `Refresh`, or by its link. */
export const enteredPage = ({ name, next }: { readonly name: string; readonly next: string }): string =>
  layOut({
    title: 'Logged in',
    main: html`<div class="card"><h1>You are in, ${name}</h1><p><a class="button" href="${next}">To the console</a></p></div>`,
  });

/** For a person who has logged in with a phone, but is no user. */
export const strangerPage = ({ subject }: { readonly subject: string }): string =>
  layOut({
    title: 'No user of this console',
    main: html`<div class="card"><h1>No user of this console</h1>
<p>Your phone has confirmed who you are, but no user of this console has this phone.</p>
<p>Give this code to an admin, who can add you as a user, or let your user log in with this phone:</p>
<code class="secret">${subject}</code>
<p class="quiet">It stands for your number at this console and is no secret: without your phone nobody can log in with it.</p>
<p class="quiet">HTTP 403</p>
<p><a href="/admin/login">Log in another way</a></p></div>`,
  });

/** A button, so that programs that preview links do not use it up. */
export const linkPage = ({ token }: { readonly token: string }): string =>
  layOut({
    title: 'Log in by link',
    main: html`<div class="card"><h1>Log in by link</h1>
<p>The link is valid once.</p>
<form method="post" action="/admin/login/link">
<input type="hidden" name="token" value="${token}">
<div class="actions"><button type="submit" autofocus>Log in</button></div>
</form></div>`,
  });

export const messagePage = (status: number, title: string, text: string): string =>
  layOut({
    title,
    main: html`<div class="card"><h1>${title}</h1><p>${text}</p>
<p class="quiet">HTTP ${status}</p>
<p><a href="/admin">To the console</a></p></div>`,
  });

export const forbiddenPage = (text: string): string => messagePage(403, 'Not allowed', text);

export const unknownPage = (what: string): string =>
  messagePage(404, 'Not found', `There is no such ${what}, or it is not kept any more.`);
