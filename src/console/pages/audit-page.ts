/** The audit log. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../deps.ts';
import type { FilterForm } from '../filter.ts';
import type { AuditAction, AuditEntry, AuditPage } from '../operators/audit.ts';
import type { Frame } from '../part.ts';
import { createFields, filterForm } from './filter-form.ts';
import { layOut } from './layout.ts';
import { fullTime, type Html, linkTo, nothing, pagedList, timeOf } from './markup.ts';

/** The kind of page about the target, for actions that have one. */
const subjects: Readonly<Partial<Record<AuditAction, Parameters<typeof linkTo>[0]>>> = {
  replay: 'transactions',
  cancel: 'transactions',
  'view-sensitive': 'transactions',
  'bulk-replay': 'replays',
  'bulk-cancel': 'replays',
  'bulk-stop': 'replays',
  'bulk-end': 'replays',
};

const targetCell = ({ action, target = '' }: AuditEntry, { actions }: Frame): string | Html => {
  const subject =
    target === '' ? undefined : (subjects[action as AuditAction] ?? actions[action]?.target);
  if (subject === undefined) return target;
  // A viewed target is a transaction or a workflow. Only the ids of workflows have a dash.
  return linkTo(
    action === 'view-sensitive' && target.includes('-') ? 'workflows' : subject,
    target,
  );
};

const row = (entry: AuditEntry, frame: Frame): Html => {
  const { at, who, via, action, reason } = entry;
  const details = Object.entries(entry.details ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
  return html`<tr role="row" data-id="${entry.id}"><th scope="row" role="rowheader" class="nowrap">${timeOf(at, fullTime(at).slice(0, 19))}</th><td role="cell">${who} <span class="quiet">${via}</span></td><td role="cell" class="nowrap">${action}</td><td role="cell" class="wide">${targetCell(entry, frame)}</td><td role="cell" class="wide">${reason ?? ''}${details === '' ? nothing : html`<span class="sub">${details}</span>`}</td></tr>`;
};

export const auditPage = (
  session: ConsoleSession,
  form: FilterForm<'who' | 'action' | 'target'>,
  { entries, cursor: next }: AuditPage,
  isFirst: boolean,
  /** The actions to choose from. */
  actions: readonly string[],
): string => {
  const { input, select } = createFields({ form, problems: {} });
  return layOut({
    title: 'Audit',
    session,
    current: 'audit',
    live: { everySeconds: 10 },
    main: html`<h1>Audit</h1>
${filterForm(
  { path: '/admin/audit', label: 'Audit log', all: 'All entries' },
  form,
  html`${input('who', 'Who', html` autocapitalize="none"`)}
${select('action', 'Action', actions)}
${input('target', 'Transaction, bulk or user')}`,
)}
${pagedList({
  path: '/admin/audit',
  fields: form,
  isFirst,
  next,
  what: ['entry', 'entries'],
  none: 'Nothing has been done yet. Logins and orders of operators will be listed here.',
  caption: 'Audit log, newest first',
  headings: ['Time', 'Who', 'Action', 'Of what', 'Why'],
  rows: entries.map((entry) => row(entry, session.frame)),
})}`,
  });
};
