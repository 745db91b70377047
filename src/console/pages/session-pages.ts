/** The login, and the pages for errors. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../deps.ts';
import type { LoginProblem } from '../login/login-problem.ts';
import type { LoginWay } from '../operators/pending-logins.ts';
import type { OpenidProviderSettings, ProviderPerson } from '../operators/provider-people.ts';
import { layOut } from './layout.ts';
import { banner, csrfField, type Html, nothing, options } from './markup.ts';

/** The problem of a login. `limited` and `expired` belong to a login by link. */
interface LoginTrouble {
  readonly way: LoginWay | 'link';
  readonly problem?: LoginProblem | 'limited' | 'expired' | undefined;
}

export interface LoginModel {
  readonly problem?: LoginTrouble | undefined;
  /** Start of the login with the phone, when it is offered. */
  readonly phoneAddress?: string | undefined;
  /** Start of the login at the provider of the organisation, when there is one. */
  readonly provider?: { readonly address: string; readonly name: string } | undefined;
  readonly sandbox: boolean;
}

const problems: Readonly<
  Record<NonNullable<LoginTrouble['problem']>, readonly [title: string, text: string]>
> = {
  limited: ['Too many tries', 'Wait a minute before you try again.'],
  expired: ['Log in again', 'The link has expired, or was used.'],
  declined: [
    'Not logged in',
    'The login was declined by your organisation, or was cancelled there.',
  ],
  cancelled: ['Cancelled', 'The login was declined, on the phone or on the page.'],
  'no-answer': ['No answer', 'The phone was not answered in time.'],
  'phone-busy': [
    'The phone is busy',
    'It shows another request. Answer that one first, then try again.',
  ],
  'no-method': ['Not with this phone', 'The number has no method that this console accepts.'],
  activation: ['Not activated yet', 'The account of this number has to be activated first.'],
  failed: ['That did not work', 'The phone could not be asked, or its answer did not hold.'],
  over: [
    'Log in again',
    'This login had ended, or another window of this browser has begun a later one.',
  ],
  away: ['Not possible now', 'The login with the phone does not answer. Try again in a moment.'],
};

/** The texts of problems for a login at the provider of the organisation. */
const providerProblems: typeof problems = {
  ...problems,
  failed: [
    'That did not work',
    'The login of your organisation gave no answer that this console accepts. The log of this service says why.',
  ],
  away: [
    'Not possible now',
    'The login of your organisation does not answer. Try again in a moment, or log in another way.',
  ],
};

const problemBanner = ({ way, problem }: LoginTrouble): Html =>
  problem === undefined
    ? nothing
    : banner('bad', ...(way === 'provider' ? providerProblems : problems)[problem]);

/** The hint how to get in. It contains nothing that is not in the public documentation. */
const wayIn = (sandbox: boolean, hasOther: boolean): Html => {
  const link = html`<code class="secret">npx paraph users link local</code>`;
  if (sandbox) {
    return html`<section class="other" aria-labelledby="way-in"><h2 id="way-in">No user yet?</h2>
<p>Run this where the sandbox runs. It prints a link that logs you in as an admin:</p>
${link}
<p class="quiet">With the same <code>PARAPH_DATA</code> or <code>REDIS_URL</code>, if you set one. A link works once, for 15 minutes. The admin can then add users.</p></section>`;
  }
  const byLink = html`<p>On the machine of the service, <code>paraph users link &lt;name&gt;</code> prints a link that logs a user in, once; with the name <code>local</code> it logs in an admin.</p>`;
  return hasOther
    ? html`<details class="other"><summary>You cannot log in?</summary>${byLink}</details>`
    : html`<section class="other" aria-labelledby="way-in"><h2 id="way-in">Log in by a link</h2>${byLink}
<p class="quiet">No user has a phone to log in with, and no OpenID provider is configured.</p></section>`;
};

export const loginPage = ({ problem, phoneAddress, provider, sandbox }: LoginModel): string =>
  layOut({
    title: problem === undefined ? 'Log in' : 'Error: Log in',
    main: html`<div class="card"><h1>Log in</h1>
${problem === undefined ? nothing : problemBanner(problem)}
${provider === undefined ? nothing : html`<p><a class="button" href="${provider.address}">Log in with ${provider.name}</a></p>`}
${phoneAddress === undefined ? nothing : html`<p><a class="button${provider === undefined ? '' : ' plain'}" href="${phoneAddress}">Log in with the phone</a></p>`}
${wayIn(sandbox, provider !== undefined || phoneAddress !== undefined)}</div>`,
  });

/** The page after a login. It leads on by the header `Refresh`, or by its link. */
export const enteredPage = ({
  name,
  next,
}: {
  readonly name: string;
  readonly next: string;
}): string =>
  layOut({
    title: 'Logged in',
    main: html`<div class="card"><h1>You are in, ${name}</h1><p><a class="button" href="${next}">To the console</a></p></div>`,
  });

/** The page for a person who has logged in with a phone, but is not a user. */
export const strangerPage = ({ subject }: { readonly subject: string }): string =>
  layOut({
    title: 'No user of this console',
    main: html`<div class="card"><h1>No user of this console</h1>
<p>Your phone has confirmed who you are, but no user of this console has this phone.</p>
<p>Give this code to an admin, who can add you as a user, or let your user log in with this phone:</p>
<code class="secret">${subject}</code>
<p>The page “Users” takes it, and so does <code>paraph users add &lt;name&gt; --role admin --oidc-subject …</code> on the machine of the service.</p>
<p class="quiet">It stands for your number at this console and is no secret: without your phone nobody can log in with it.</p>
<p class="quiet">HTTP 403</p>
<p><a href="/admin/login">Log in another way</a></p></div>`,
  });

/** The page for a person who has logged in at the organisation's provider, but has no role here. */
export const outsiderPage = ({
  person,
  settings: { issuer, nameClaim, roleClaim, roles },
}: {
  readonly person: Exclude<ProviderPerson, { kind: 'person' }>;
  readonly settings: OpenidProviderSettings;
}): string => {
  const { host } = new URL(issuer);
  const mapped = Object.entries(roles).map(
    ([value, role]) => html`<li><code>${value}</code> for the role ${role}</li>`,
  );
  const what =
    person.kind === 'no-role'
      ? html`<p>${host} has confirmed that you are <strong>${person.name.replace(/^provider:/, '')}</strong>, but your account there has no role for this console.</p>
<p>Ask those who manage accounts at ${host} to give yours one of these, in <code>${roleClaim}</code>:</p><ul>${mapped}</ul>`
      : html`<p>${host} has confirmed who you are, but gave no name that this console can use.</p>
<p>Ask those who run this service to look at <code>nameClaim</code>: the ID token of ${host} has to have a name in <code>${nameClaim}</code>.</p>`;
  return layOut({
    title: 'No role in this console',
    main: html`<div class="card"><h1>${person.kind === 'no-role' ? 'No role in this console' : 'No name'}</h1>
${what}
<p class="quiet">Then log in there again. Your account is known as <code>${person.subject}</code> there, and so it stands in the audit log.</p>
<p class="quiet">HTTP 403</p>
<p><a href="/admin/login">Log in another way</a></p></div>`,
  });
};

/**
 * The page of a login link. It has a button, because programs preview links and would use it up.
 */
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

/** The page for a browser without scripts, which cannot send its time zone. */
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
