/** The frame of every page. Pages work without the script, which only updates them. */
import { html, raw } from 'hono/html';
import { headStart } from '../../http/pages/layout.ts';
import { flourish } from '../../http/pages/theme.ts';
import type { ConsoleSession } from '../deps.ts';
import { includesRole } from '../operators/operator.ts';
import type { Group, Section } from '../part.ts';
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
  ['overview', '/admin', 'Overview', 'viewer', 'Overview'],
  ['transactions', '/admin/transactions', 'Transactions', 'viewer', 'Transactions'],
  ['refusals', '/admin/refusals', 'Refused', 'viewer', 'Transactions'],
  ['replays', '/admin/replays', 'Replays', 'viewer', 'Transactions'],
  ['queues', '/admin/queues', 'Queues', 'viewer', 'Service'],
  ['audit', '/admin/audit', 'Audit', 'operator', 'Service'],
  ['users', '/admin/users', 'Users', 'admin', 'People'],
] as const satisfies readonly Section[];

/** The groups of the navigation: at most five, so that they fit one row. */
const groups = [
  'Overview',
  'Transactions',
  'Workflows',
  'Service',
  'People',
] as const satisfies readonly Group[];

/** Opens by itself, without the script; of those in the same row one is open at a time. */
const dropDown = (label: Html | string, isCurrent: boolean, items: readonly Html[]): Html =>
  html`<details name="navigation"${isCurrent ? html` class="current"` : ''}><summary class="entry">${label}</summary><ul>${items}</ul></details>`;

/** The sections that the role may see, in groups, and the user. */
const navigation = (
  { operator, csrf, frame }: NonNullable<PageParts['session']>,
  current: PageParts['current'],
): Html => {
  const mark = (name: PageParts['current']) => (name === current ? html` aria-current="page"` : '');
  const mayUse = [...ownSections, ...frame.sections].filter(([, , , role]) =>
    includesRole(operator.role, role),
  );
  const link = ([name, href, label]: Section): Html =>
    html`<a class="entry" href="${href}"${mark(name)}>${label}</a>`;
  const items = groups.flatMap((group) => {
    const [first, ...others] = mayUse.filter((section) => section[4] === group);
    if (first === undefined) return [];
    if (others.length === 0) return [html`<li>${link(first)}</li>`];
    const isCurrent = [first, ...others].some(([name]) => name === current);
    const links = [first, ...others].map((section) => html`<li>${link(section)}</li>`);
    return [html`<li>${dropDown(group, isCurrent, links)}</li>`];
  });
  const who = html`${operator.name} <span class="quiet">${operator.role}</span>`;
  const ownItems = [
    html`<li><a class="entry" href="/admin/tokens"${mark('tokens')}>Tokens</a></li>`,
    html`<li><form method="post" action="/admin/logout">${csrfField(csrf)}<button class="link entry" type="submit">Log out</button></form></li>`,
  ];
  return html`<button class="menu" type="button" popovertarget="menu">Menu</button><nav id="menu" aria-label="Console" popover><ul>${items}<li class="who">${dropDown(who, current === 'tokens', ownItems)}</li></ul></nav>`;
};

const liveAttributes = (live: PageParts['live']): Html =>
  live === undefined
    ? nothing
    : html` data-every="${live.everySeconds}"${live.events === undefined ? '' : html` data-events="${live.events}"`}`;

/** The banner that the script shows on a live page while its updates do not work. */
const notLive: Html = html`<div class="banner bad" id="stale" hidden><p><strong role="alert"></strong></p><p>What is shown is <span></span> old.</p></div>
`;

/** The switch of the time zone. The script puts the browser's own zone into the button `local`. */
const timesSwitch = ({ csrf, view: { times }, isPosted }: Omit<ConsoleSession, 'id'>): Html => {
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
  return html`<form class="times" method="post" action="/admin/view">${csrfField(csrf)}<span>Times:</span>${buttons}</form>`;
};

/** What stands above the contents: how times are written, and whether the page is current. */
const viewBar = (session: Omit<ConsoleSession, 'id'>, isLive: boolean): Html =>
  html`<section class="view" aria-label="View">${isLive ? html`<p id="live" role="status"></p>` : nothing}${timesSwitch(session)}</section>
`;

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
${session === undefined ? nothing : viewBar(session, live !== undefined)}<main id="content" tabindex="-1"${liveAttributes(live)}>
${live === undefined ? nothing : notLive}${main}
</main>
</body>
</html>
`;
  return session === undefined ? `${page}` : timesIn(`${page}`, session.view.times, session.at);
};
