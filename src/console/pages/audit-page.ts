/** The audit log. */
import { html } from 'hono/html';
import type { AuditField } from '../audit.route.ts';
import type { ConsoleSession } from '../deps.ts';
import { maxExported } from '../export.ts';
import type { FormFields } from '../filter.ts';
import type { AuditAction, AuditEntry, AuditPage } from '../operators/audit.ts';
import { bulkOrderedBy } from '../operators/audit-bulks.ts';
import type { Frame } from '../part.ts';
import { createFields, filterForm } from './filter-form.ts';
import { layOut } from './layout.ts';
import {
  banner,
  count,
  fullTime,
  type Html,
  hiddenFields,
  linkTo,
  nothing,
  pagedList,
  queryOf,
  timeOf,
} from './markup.ts';

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

/** The link from the order of a bulk to what is behind it. */
const itemsLink = (entry: AuditEntry): Html => {
  const bulk = bulkOrderedBy(entry);
  return bulk === undefined
    ? nothing
    : html`<a class="sub" href="/admin/audit${queryOf({ bulk })}">Each of its items</a>`;
};

const row = (entry: AuditEntry, frame: Frame): Html => {
  const { at, who, via, action, reason } = entry;
  const details = Object.entries(entry.details ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
  return html`<tr role="row" data-id="${entry.id}"><th scope="row" role="rowheader" class="nowrap">${timeOf(at, fullTime(at).slice(0, 19))}</th><td role="cell">${who} <span class="quiet">${via}</span></td><td role="cell" class="nowrap">${action}</td><td role="cell" class="wide">${targetCell(entry, frame)}${itemsLink(entry)}</td><td role="cell" class="wide">${reason ?? ''}${details === '' ? nothing : html`<span class="sub">${details}</span>`}</td></tr>`;
};

export interface AuditModel {
  readonly session: ConsoleSession;
  readonly read: FormFields<AuditField>;
  readonly page: AuditPage;
  readonly isFirst: boolean;
  /** The actions to choose from. */
  readonly actions: readonly string[];
}

/** What of bulks is shown, and the way to see it otherwise. */
const bulksNote = ({ read: { form } }: AuditModel): Html => {
  const { bulk, items, ...others } = form;
  if (bulk !== undefined)
    return html`<p>Only the bulk <strong class="code">${bulk}</strong>: its order, its end, and each of its items. <a href="/admin/audit${queryOf(others)}">Show all bulks</a></p>`;
  if (form.target !== undefined) return nothing;
  return items === undefined
    ? html`<p class="quiet">A bulk is one entry. <a href="/admin/audit${queryOf({ ...others, items: 'true' })}">Show each of its items</a></p>`
    : html`<p class="quiet">Each item of a bulk is an entry. <a href="/admin/audit${queryOf(others)}">Show a bulk as one</a></p>`;
};

const exportLinks = ({ read: { form } }: AuditModel): Html =>
  html`<p class="quiet">Export what the filter finds, at most ${count(maxExported)} entries: ${(
    ['csv', 'json'] as const
  ).map(
    (format) =>
      html`<a href="/admin/audit/export${queryOf({ format, ...form })}" download>${format.toUpperCase()}</a> `,
  )}</p>`;

export const auditPage = (model: AuditModel): string => {
  const { session, read, page, isFirst, actions } = model;
  const { form } = read;
  const { input, select, time, zone } = createFields(read, session.view.times);
  const isWrong = Object.keys(read.problems).length > 0;
  const list = html`<div class="head">${bulksNote(model)}${exportLinks(model)}</div>
${pagedList({
  path: '/admin/audit',
  fields: form,
  isFirst,
  next: page.cursor,
  what: ['entry', 'entries'],
  none: 'Nothing has been done yet. Logins and orders of operators will be listed here.',
  caption: 'Audit log, newest first',
  headings: ['Time', 'Who', 'Action', 'Of what', 'Why'],
  rows: page.entries.map((entry) => row(entry, session.frame)),
})}`;
  return layOut({
    title: isWrong ? 'Error: Audit' : 'Audit',
    session,
    current: 'audit',
    ...(!isWrong && { live: { everySeconds: 10 } }),
    main: html`<h1>Audit</h1>
${filterForm(
  { path: '/admin/audit', label: 'Audit log', all: 'All entries' },
  form,
  html`${hiddenFields({ ...(form.bulk && { bulk: form.bulk }), ...(form.items && { items: form.items }) })}
${input('who', 'Who', html` autocapitalize="none"`)}
${select('action', 'Action', actions)}
${input('target', 'Transaction, bulk or user')}
${zone()}${time('from', 'From')}
${time('to', 'until')}`,
)}
${isWrong ? banner('bad', 'The filter cannot be read', 'Correct the marked fields.') : list}`,
  });
};
