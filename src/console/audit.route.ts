/** The audit log: its list, and the list as a file. Page and API. */
import { Hono } from 'hono';
import { z } from 'zod';
import { type FilterOf, type ReadableFields, text, time } from '../transactions/history/fields.ts';
import { answer, badCursor, refuse } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { type ExportedList, exportFormatIn, exportList, isoOf } from './export.ts';
import { readFields } from './filter.ts';
import { paged, query } from './input.ts';
import { type AuditEntry, type AuditFilter, doneBy } from './operators/audit.ts';
import { auditPage } from './pages/audit-page.ts';
import { messagePage, unknownPage } from './pages/session-pages.ts';
import { needs } from './session/session.ts';

const entriesOnPage = 100;

/** @param actions The actions that may be searched for. */
const fieldsWith = (actions: readonly string[]) =>
  ({
    from: { kind: 'time', schema: time, must: 'must be a date and a time' },
    to: { kind: 'time', schema: time, must: 'must be a date and a time' },
    who: { kind: 'text', schema: text(64), must: 'must have 64 characters at most' },
    action: { kind: 'choice', schema: z.enum(actions), must: 'must be an action of the list' },
    target: { kind: 'text', schema: text(256), must: 'must have 256 characters at most' },
    bulk: {
      kind: 'text',
      schema: z.string().regex(/^[\w-]{1,64}$/, { error: 'must be the id of a bulk' }),
      must: 'must be the id of a bulk',
    },
    items: { kind: 'choice', schema: z.stringbool(), must: 'must be true or false' },
  }) as const satisfies ReadableFields;

type AuditFields = ReturnType<typeof fieldsWith>;
export type AuditField = keyof AuditFields;
type Written = FilterOf<AuditFields>;

/** Who asks about one target or one bulk gets all its entries, otherwise a bulk is one entry. */
const filterOf = ({ items = false, ...filter }: Written): AuditFilter => ({
  ...filter,
  isFolded: !items && filter.target === undefined && filter.bulk === undefined,
});

const columns: ExportedList<AuditEntry>['columns'] = {
  id: ({ id }) => id,
  time: ({ at }) => isoOf(at),
  who: ({ who }) => who,
  via: ({ via }) => via,
  action: ({ action }) => action,
  target: ({ target }) => target,
  reason: ({ reason }) => reason,
  details: ({ details }) => (details === undefined ? '' : JSON.stringify(details)),
};

export const createAuditRoutes = ({
  audit,
  auditActions,
  log,
}: Pick<AdminApiDeps, 'audit' | 'auditActions' | 'log'>): Hono<ConsoleEnvironment> => {
  const fields = fieldsWith(auditActions);
  const { from, to, who, action, target, bulk, items } = fields;
  const schema = z
    .strictObject({
      from: from.schema,
      to: to.schema,
      who: who.schema,
      action: action.schema,
      target: target.schema,
      bulk: bulk.schema,
      items: items.schema,
    })
    .partial();
  const routes = new Hono<ConsoleEnvironment>();

  routes.get(
    '/admin/api/audit',
    needs('operator'),
    query(schema.extend(paged(100, 1000))),
    async (c) => {
      const { limit, cursor, ...written } = c.req.valid('query');
      const page = await audit.read({ ...filterOf(written), limit, cursor });
      return page === undefined ? refuse(...badCursor) : answer(page);
    },
  );

  routes.get('/admin/audit', needs('operator'), async (c) => {
    const read = readFields(fields, c.req.query());
    const isWrong = Object.keys(read.problems).length > 0;
    const cursor = c.req.query('cursor') || undefined;
    const page = isWrong
      ? { entries: [] }
      : await audit.read({ ...filterOf(read.filter), cursor, limit: entriesOnPage });
    if (page === undefined) return c.html(unknownPage('page of the log'), 404);
    const model = { session: c.get('session'), read, page, isFirst: cursor === undefined };
    return c.html(auditPage({ ...model, actions: auditActions }), isWrong ? 422 : 200);
  });

  routes.get('/admin/audit/export', needs('operator'), async (c) => {
    const { form, filter, problems } = readFields(fields, c.req.query());
    const format = exportFormatIn(c.req.query('format'));
    if (format === undefined || Object.keys(problems).length > 0) {
      return c.html(
        messagePage(422, 'The filter cannot be read', 'Go back to the log and correct it.'),
        422,
      );
    }
    await audit.record({
      ...doneBy(c.get('session').operator),
      action: 'export',
      details: { list: 'audit', format, fields: Object.keys(form).join(' ') },
    });
    const list: ExportedList<AuditEntry> = {
      name: 'audit',
      columns,
      read: async (page) => {
        const found = await audit.read({ ...filterOf(filter), ...page });
        return found && { rows: found.entries, cursor: found.cursor };
      },
    };
    return exportList(list, format, log);
  });

  return routes;
};
