/** The frame of every page. Pages work without the script, which only updates them. */
import { html, raw } from 'hono/html';
import { headStart } from '../../http/pages/layout.ts';
import { flourish } from '../../http/pages/theme.ts';
import type { ConsoleSession } from '../deps.ts';
import { includesRole } from '../operators/operator.ts';
import type { Section } from '../part.ts';
import { iconAddress, scriptAddress, stylesheetAddress } from './assets.ts';
import { csrfField, type Html, nothing, timesIn } from './markup.ts';

export interface PageParts {
  readonly title: string;
  readonly session?: Omit<ConsoleSession, 'id'> | undefined;
  /** The name of a section, or `tokens`. */
  readonly current?: string;
  /** The updates of the page: every few seconds, and at events of a stream. */
  readonly live?:
    | {
        readonly everySeconds: number;
        readonly events?: string;
      }
    | undefined;
  readonly main: Html;
}

const ownSections = [
  ['overview', '/admin', 'Overview', 'viewer'],
  ['transactions', '/admin/transactions', 'Transactions', 'viewer'],
  ['refusals', '/admin/refusals', 'Refused', 'viewer'],
  ['replays', '/admin/replays', 'Replays', 'viewer'],
  ['queues', '/admin/queues', 'Queues', 'viewer'],
  ['audit', '/admin/audit', 'Audit', 'operator'],
  ['users', '/admin/users', 'Users', 'admin'],
] as const satisfies readonly Section[];

/** Those of parts for all operators come before the queues, and the others before the users. */
const sectionsWith = (ofParts: readonly Section[]): readonly Section[] => {
  const forAll = ofParts.filter(([, , , role]) => role === 'viewer');
  const others = ofParts.filter(([, , , role]) => role !== 'viewer');
  const before: Readonly<Record<string, readonly Section[]>> = { queues: forAll, users: others };
  return ownSections.flatMap((section) => [...(before[section[0]] ?? []), section]);
};

/** The sections that the role may see, and the user. */
const navigation = (
  { operator, csrf, frame }: NonNullable<PageParts['session']>,
  current: PageParts['current'],
): Html => {
  const mark = (name: PageParts['current']) => (name === current ? html` aria-current="page"` : '');
  const links = sectionsWith(frame.sections)
    .filter(([, , , role]) => includesRole(operator.role, role))
    .map(([name, href, label]) => html`<li><a href="${href}"${mark(name)}>${label}</a></li>`);
  return html`<nav aria-label="Console"><ul>${links}</ul></nav><form class="who" method="post" action="/admin/logout">${csrfField(csrf)}<span>${operator.name} <span class="quiet">${operator.role}</span></span><a href="/admin/tokens"${mark('tokens')}>Tokens</a><button class="link" type="submit">Log out</button></form>`;
};

const liveAttributes = (live: PageParts['live']): Html =>
  live === undefined
    ? nothing
    : html` data-every="${live.everySeconds}"${live.events === undefined ? '' : html` data-events="${live.events}"`}`;

/** The banner that the script shows on a live page while its updates do not work. */
const notLive: Html = html`<div class="banner bad" id="stale" hidden><p><strong role="alert"></strong></p><p>What is shown is <span></span> old.</p></div>
`;

/** The switch of the time zone. The script puts the browser's own zone into the button `local`. */
const footer = (
  { csrf, view: { times }, isPosted }: Omit<ConsoleSession, 'id'>,
  isLive: boolean,
): Html => {
  // The switch leads back to the page.
  if (isPosted) return nothing;
  const isZone = times !== 'UTC' && times !== 'relative';
  const choices = [
    ['UTC', 'UTC'],
    ['local', isZone ? times : 'Local'],
    ['relative', 'Relative'],
  ] as const;
  const buttons = choices.map(([value, label]) => {
    const isChosen = value === times || (isZone && value === 'local');
    return html`<button class="link" name="times" value="${value}" aria-pressed="${String(isChosen)}">${label}</button>`;
  });
  return html`<footer><form class="times" method="post" action="/admin/view">${csrfField(csrf)}<span>Times:</span>${buttons}</form>${
    isLive ? html`<p id="live" role="status"></p>` : nothing
  }</footer>`;
};

export const layOut = ({ title, session, current, live, main }: PageParts): string => {
  const page = html`<!doctype html>
<html lang="en">
<head>
${headStart}
<title>${title} · Paraph</title>
<link rel="icon" type="image/svg+xml" href="${iconAddress}">
<link rel="stylesheet" href="${stylesheetAddress}">
${session === undefined ? nothing : html`<script src="${scriptAddress}" defer></script>`}
</head>
<body${session === undefined ? html` class="outside"` : ''}>
<a class="skip" href="#content">Skip to content</a>
<header><div class="top"><a class="brand" href="/admin">${raw(flourish)}<span>Paraph</span></a>
${session === undefined ? nothing : navigation(session, current)}</div></header>
<main id="content" tabindex="-1"${liveAttributes(live)}>
${live === undefined ? nothing : notLive}${main}
</main>
${session === undefined ? nothing : footer(session, live !== undefined)}
</body>
</html>
`;
  return session === undefined ? `${page}` : timesIn(`${page}`, session.view.times, session.at);
};
