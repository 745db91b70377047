/** The audit log: who did what, to what, and why. */
import { html } from 'hono/html';
import { type AuditAction, type AuditEntry, auditActions } from '../../operators/audit.ts';
import type { ConsoleSession } from '../deps.ts';
import { layOut } from './layout.ts';
import { fullTime, type Html, nothing, options, timeOf } from './markup.ts';

export interface AuditForm {
  readonly who?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly target?: string | undefined;
}

export interface AuditModel {
  readonly session: ConsoleSession;
  readonly form: AuditForm;
  readonly entries: readonly AuditEntry[];
  readonly next: string | undefined;
  readonly isFirst: boolean;
}

const queryOf = ({ who, action, target }: AuditForm, cursor?: string): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ who, action, target, cursor })) {
    if (value !== undefined) query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
};

/** Where there is a page about it. */
const targetCell = ({ action, target }: AuditEntry): Html => {
  if (target === undefined) return nothing;
  switch (action) {
    case 'replay':
    case 'cancel':
    case 'view-sensitive':
    case 'callback-replay':
      return html`<a class="code" href="/admin/transactions/${encodeURIComponent(target)}">${target}</a>`;
    case 'bulk-replay':
    case 'bulk-stop':
    case 'bulk-end':
      return html`<a class="code" href="/admin/replays/${encodeURIComponent(target)}">${target}</a>`;
    default:
      return html`${target}`;
  }
};

const detailsText = ({ details }: AuditEntry): string =>
  Object.entries(details ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');

const row = (entry: AuditEntry): Html => {
  const { at, who, via, action, reason } = entry;
  const details = detailsText(entry);
  return html`<tr role="row" data-id="${entry.id}"><th scope="row" role="rowheader" class="nowrap">${timeOf(at, fullTime(at).slice(0, 19))}</th><td role="cell">${who} <span class="quiet">${via}</span></td><td role="cell" class="nowrap">${action}</td><td role="cell" class="wide">${targetCell(entry)}</td><td role="cell" class="wide">${reason ?? ''}${details === '' ? nothing : html`<span class="sub">${details}</span>`}</td></tr>`;
};

export const auditPage = ({ session, form, entries, next, isFirst }: AuditModel): string => {
  const { who, action, target } = form;
  const actions = auditActions.map((value) => ({ value, label: value }));
  return layOut({
    title: 'Audit',
    session,
    current: 'audit',
    live: { everySeconds: 10 },
    main: html`<h1>Audit</h1>
<form class="filter" method="get" action="/admin/audit" role="search" aria-label="Audit log"><div class="fields">
<div class="field"><label for="who">Who</label><input id="who" name="who" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" value="${who ?? ''}"></div>
<div class="field"><label for="action">Action</label><select id="action" name="action"><option value="">Any</option>${options(actions, action)}</select></div>
<div class="field"><label for="target">Transaction, bulk or user</label><input id="target" name="target" type="text" autocomplete="off" spellcheck="false" value="${target ?? ''}"></div>
</div><div class="actions"><button type="submit">Show</button>${who || action || target ? html`<a href="/admin/audit">All entries</a>` : nothing}</div></form>
<div class="bar"><p aria-live="polite"><strong>${isFirst ? 'Newest entries' : 'Older entries'}</strong> <button id="news" type="button" class="plain" hidden></button></p></div>
${entries.length === 0 ? html`<p class="empty">Nothing is found${next === undefined ? '.' : ' on this page; look further back.'}</p>` : nothing}
<table class="cards" role="table"><caption class="unseen">Audit log, newest first</caption><thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Time</th><th scope="col" role="columnheader">Who</th><th scope="col" role="columnheader">Action</th><th scope="col" role="columnheader">Of what</th><th scope="col" role="columnheader">Why</th></tr></thead><tbody role="rowgroup" data-rows="${isFirst ? 'first' : 'later'}">${entries.map(row)}</tbody></table>
<nav class="paging" aria-label="Pages">${isFirst ? html`<span></span>` : html`<a href="/admin/audit${queryOf(form)}">Newest</a>`}${
      next === undefined ? nothing : html`<a rel="next" href="/admin/audit${queryOf(form, next)}">Older</a>`
    }</nav>`,
  });
};
