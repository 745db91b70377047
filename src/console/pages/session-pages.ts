/** The login, and the pages for errors. */
import { html } from 'hono/html';
import type { LoginProblem } from '../../console-login/login-problem.ts';
import type { ConsoleSession } from '../deps.ts';
import { layOut } from './layout.ts';
import { banner, csrfField, type Html, nothing, options } from './markup.ts';

/** `expired`: the login link. */
type Problem = 'wrong' | 'limited' | 'expired' | LoginProblem;

export interface LoginModel {
  readonly problem?: Problem | undefined;
  /** Path to go to afterwards. */
  readonly next?: string | undefined;
  /** Start of the login with the phone, when it is offered. */
  readonly phoneAddress?: string | undefined;
  readonly sandbox: boolean;
}

const problems: Readonly<Record<Problem, readonly [title: string, text: string]>> = {
  wrong: ['That was not right', 'Name or password is wrong.'],
  limited: ['Too many tries', 'Wait a minute before you try again.'],
  expired: ['Log in again', 'The link has expired, or was used.'],
  cancelled: ['Cancelled', 'The login was declined, on the phone or on the page.'],
  'no-answer': ['No answer', 'The phone was not answered in time.'],
  'phone-busy': ['The phone is busy', 'It shows another request. Answer that one first, then try again.'],
  'no-method': ['Not with this phone', 'The number has no method that this console accepts.'],
  activation: ['Not activated yet', 'The account of this number has to be activated first.'],
  failed: ['That did not work', 'The phone could not be asked, or its answer did not hold.'],
  over: ['Log in again', 'This login had ended, or another window of this browser has begun a later one.'],
  away: ['Not possible now', 'The login with the phone does not answer. Try again in a moment.'],
};

/** Says nothing that the documentation does not say to anybody. */
const wayIn = (sandbox: boolean): Html =>
  sandbox
    ? html`<section class="other" aria-labelledby="way-in"><h2 id="way-in">No user yet?</h2>
<p>Run this where the sandbox runs. It prints a link that logs you in as an admin:</p>
<code class="secret">npx paraph users link local</code>
<p class="quiet">With the same <code>PARAPH_DATA</code> or <code>REDIS_URL</code>, if you set one. A link works once, for 15 minutes. The admin can then add users.</p></section>`
    : html`<details class="other"><summary>You cannot log in?</summary>
<p>Ask an admin for a new password. On the machine of the service, <code>paraph users link &lt;name&gt;</code> prints a link that logs a user in, once; with the name <code>local</code> it logs in an admin.</p></details>`;

export const loginPage = ({ problem, next, phoneAddress, sandbox }: LoginModel): string =>
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
${wayIn(sandbox)}</div>`,
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
<p>The page “Users” takes it, and so does <code>paraph users add &lt;name&gt; --role admin --no-password --oidc-subject …</code> on the machine of the service.</p>
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

/** For a browser without scripts, which cannot say its time zone. */
export const timeZonePage = (session: ConsoleSession): string =>
  layOut({
    title: 'Time zone',
    session,
    main: html`<h1>Time zone</h1><form class="ask narrow" method="post" action="/admin/view">${csrfField(session.csrf)}
<div class="field"><label for="zone">Your time zone</label><select id="zone" name="times">${options(Intl.supportedValuesOf('timeZone'), undefined)}</select></div>
<button type="submit">Show times in this zone</button></form>`,
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
