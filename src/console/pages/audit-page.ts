/** The audit log. */
import { html } from 'hono/html';
import { type AuditEntry, type AuditFilter, type AuditPage, auditActions } from '../../operators/audit.ts';
import type { ConsoleSession } from '../deps.ts';
import { layOut } from './layout.ts';
import { fullTime, type Html, nothing, options, pagedList, timeOf } from './markup.ts';

/** A link where there is a page about the target. */
const targetCell = ({ action, target }: AuditEntry): string | Html => {
  if (target === undefined) return '';
  switch (action) {
    case 'replay':
    case 'cancel':
    case 'view-sensitive':
    case 'callback-replay':
      return html`<a class="code" href="/admin/transactions/${encodeURIComponent(target)}">${target}</a>`;
    case 'workflow-cancel':
    case 'workflow-again':
      return html`<a class="code" href="/admin/workflows/${encodeURIComponent(target)}">${target}</a>`;
    case 'bulk-replay':
    case 'bulk-cancel':
    case 'bulk-stop':
    case 'bulk-end':
      return html`<a class="code" href="/admin/replays/${encodeURIComponent(target)}">${target}</a>`;
    default:
      return target;
  }
};

const row = (entry: AuditEntry): Html => {
  const { at, who, via, action, reason } = entry;
  const details = Object.entries(entry.details ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
  return html`<tr role="row" data-id="${entry.id}"><th scope="row" role="rowheader" class="nowrap">${timeOf(at, fullTime(at).slice(0, 19))}</th><td role="cell">${who} <span class="quiet">${via}</span></td><td role="cell" class="nowrap">${action}</td><td role="cell" class="wide">${targetCell(entry)}</td><td role="cell" class="wide">${reason ?? ''}${details === '' ? nothing : html`<span class="sub">${details}</span>`}</td></tr>`;
};

export const auditPage = (
  session: ConsoleSession,
  { who, action, target }: Pick<AuditFilter, 'who' | 'action' | 'target'>,
  { entries, cursor: next }: AuditPage,
  isFirst: boolean,
): string => {
  const none = next === undefined ? 'Nothing is found.' : 'Nothing is found on this page. See older pages.';
  return layOut({
    title: 'Audit',
    session,
    current: 'audit',
    live: { everySeconds: 10 },
    main: html`<h1>Audit</h1>
<form class="filter" method="get" action="/admin/audit" role="search" aria-label="Audit log"><div class="fields">
<div class="field"><label for="who">Who</label><input id="who" name="who" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" value="${who ?? ''}"></div>
<div class="field"><label for="action">Action</label><select id="action" name="action"><option value="">Any</option>${options(auditActions, action)}</select></div>
<div class="field"><label for="target">Transaction, bulk or user</label><input id="target" name="target" type="text" autocomplete="off" spellcheck="false" value="${target ?? ''}"></div>
<div class="actions"><button type="submit">Show</button>${who || action || target ? html`<a href="/admin/audit">All entries</a>` : nothing}</div></div></form>
${pagedList({
  path: '/admin/audit',
  fields: { who, action, target },
  isFirst,
  next,
  summary: isFirst ? 'Newest entries' : 'Older entries',
  empty: entries.length === 0 ? none : undefined,
  caption: 'Audit log, newest first',
  headings: ['Time', 'Who', 'Action', 'Of what', 'Why'],
  rows: entries.map(row),
})}`,
  });
};
