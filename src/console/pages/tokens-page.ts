/** The page of bearer tokens: the user's own, for an admin all. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../deps.ts';
import { includesRole, type Role } from '../operators/operator.ts';
import { type IssuedToken, maxTokens, type TokenView } from '../operators/tokens.ts';
import { confirmPage } from './confirm-page.ts';
import { layOut } from './layout.ts';
import {
  banner,
  cardTable,
  csrfField,
  fullTime,
  type Html,
  invalid,
  nothing,
  options,
  secretBanner,
  timeOf,
} from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

export interface TokensModel {
  readonly session: ConsoleSession;
  readonly tokens: readonly TokenView[];
  /** Names of users for whom a token can be made. */
  readonly owners: readonly string[];
  readonly notice?: Notice | undefined;
  readonly problem?:
    | 'label'
    | 'days'
    | Extract<IssuedToken, { refused: unknown }>['refused']
    | undefined;
  /** A new token, which is shown once. */
  readonly secret?: { readonly name: string; readonly token: string } | undefined;
}

export const maxTokenDays = 366;
export const maxTokenLabel = 100;

const problems: Readonly<Record<NonNullable<TokensModel['problem']>, string>> = {
  unknown: 'There is no such user, or you may not make a token for this user.',
  'by-token': 'A token makes no tokens.',
  label: `Say what it is for, in at most ${maxTokenLabel} characters.`,
  days: `Give 1 to ${maxTokenDays} days.`,
  'too-many': `The user has ${maxTokens} tokens. End one first.`,
  'too-often': 'You have made many just now. Wait a minute.',
};

/** The day of a time, `2026-11-21`: tokens are valid for months. */
const dayOf = (at: number): string => fullTime(at).slice(0, 10);

const row = ({ id, name, label, createdAt, expiresAt }: TokenView, csrf: Html): Html =>
  html`<tr role="row"><th scope="row" role="rowheader" class="first"><strong>${label}</strong></th><td role="cell">${name}</td><td role="cell" class="nowrap" data-label="made">${timeOf(createdAt, dayOf(createdAt))}</td><td role="cell" class="nowrap" data-label="until">${timeOf(expiresAt, dayOf(expiresAt))}</td><td role="cell" class="nowrap end"><form method="post" action="/admin/tokens/${encodeURIComponent(id)}/revoke">${csrf}<button type="submit" class="plain small danger" aria-label="End the token ${label} of ${name}">End it …</button></form></td></tr>`;

/** The text without owners: `local` and people of an OpenID provider are not users. */
const noOwner = (role: Role): Html =>
  includesRole(role, 'admin')
    ? html`<p>A token acts for a user, and there are no users yet.</p>`
    : html`<p>A token acts for a user, and your organisation’s login makes you none. Ask an admin for a user for your program, and for its token.</p>`;

const addForm = ({ session, owners, problem }: TokensModel): Html => {
  const { name, role } = session.operator;
  return html`<form class="ask" method="post" action="/admin/tokens">${csrfField(session.csrf)}
${
  includesRole(role, 'admin')
    ? html`<div class="field"><label for="owner">Acts for</label><select id="owner" name="name">${options(owners, name)}</select></div>`
    : html`<input type="hidden" name="name" value="${name}">`
}
<div class="field"><label for="label">What it is for</label><input id="label" name="label" type="text" required maxlength="${maxTokenLabel}" autocomplete="off"${invalid(problem === 'label')}></div>
<div class="field"><label for="days">Good for, in days</label><input id="days" name="days" type="number" required min="1" max="${maxTokenDays}" value="90"${invalid(problem === 'days')}></div>
<button type="submit">Make a token, and show it</button></form>`;
};

export const tokensPage = (model: TokensModel): string => {
  const { session, tokens, owners, notice, problem, secret } = model;
  const csrf = csrfField(session.csrf);
  return layOut({
    title: problem === undefined ? 'Tokens' : 'Error: Tokens',
    session,
    current: 'tokens',
    main: html`<h1>Tokens</h1>
<p>With a token a program uses the console’s API (<a href="/admin/api/openapi.json">OpenAPI</a>) as a user, with the role of that user. Every change of the user ends the token.</p>
${noticeBanner(notice)}
${problem === undefined ? nothing : banner('bad', 'No token was made', problems[problem])}
${
  secret === undefined
    ? nothing
    : secretBanner(
        `A token that acts for ${secret.name}`,
        secret.token,
        `It is shown once. It gives all rights of ${secret.name}.`,
      )
}
<div class="columns main"><section aria-labelledby="all"><h2 id="all" class="unseen">Tokens that are good</h2>
${cardTable(
  'Tokens that are good',
  ['For', 'Acts for', 'Made', 'Good until', ['End', 'unseen']],
  tokens.map((token) => row(token, csrf)),
  html`There are no tokens yet. <a href="#add">Make one</a> for a program or for <code>paraph --url</code>.`,
)}</section>
<section aria-labelledby="add"><h2 id="add">Make a token</h2>${owners.length === 0 ? noOwner(session.operator.role) : addForm(model)}</section></div>`,
  });
};

export const endTokenPage = (
  session: ConsoleSession,
  { id, name, label, expiresAt }: TokenView,
): string =>
  confirmPage({
    session,
    current: 'tokens',
    title: 'End the token?',
    about: [
      ['For', label],
      ['Acts for', name],
      ['Good until', timeOf(expiresAt, dayOf(expiresAt))],
    ],
    consequences: ['Programs that use the token are refused from now on. They need a new one.'],
    action: `/admin/tokens/${encodeURIComponent(id)}/revoke`,
    fields: {},
    button: 'End the token',
    back: '/admin/tokens',
  });
