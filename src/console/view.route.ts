/** The personal settings of the console: times, columns, saved filters. */
import { Hono } from 'hono';
import type { AnyFields } from '../transactions/history/fields.ts';
import { transactionFields } from '../transactions/history/filter.ts';
import { isTimeZone } from './clock.ts';
import type { ConsoleDeps, ConsoleEnvironment } from './deps.ts';
import { readFields } from './filter.ts';
import { readForm } from './input.ts';
import { queryOf } from './pages/markup.ts';
import { timeZonePage } from './pages/session-pages.ts';
import { columnNames } from './pages/transactions-page.ts';
import { nextPath } from './session/login.route.ts';

/** The saved filters that one list may have. */
const maxFilters = 20;
const usualList = 'transactions';
const maxName = 40;

export const createViewRoutes = ({
  operators: { views },
  parts,
}: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const lists = new Map<string, AnyFields>(
    Object.entries(
      Object.assign({ [usualList]: transactionFields }, ...parts.map((part) => part.lists)),
    ),
  );

  /** The page of the form, from the header `Referer`; without it the overview. */
  const pathBefore = (referer: string | undefined): string => {
    if (referer === undefined || !URL.canParse(referer)) return nextPath(undefined);
    const { pathname, search } = new URL(referer);
    return nextPath(pathname === '/admin/view' ? undefined : `${pathname}${search}`);
  };

  routes.post('/admin/view', async (c) => {
    const session = c.get('session');
    const { name } = session.operator;
    const fields = await readForm(c);
    const { times, columns, save, forget } = fields;
    if (times !== undefined) {
      const isKnown = times === 'UTC' || times === 'relative' || isTimeZone(times);
      if (!isKnown) return c.html(timeZonePage(session));
      await views.change(name, { times });
      return c.redirect(pathBefore(c.req.header('referer')), 303);
    }
    const list = lists.has(fields.list ?? '') ? (fields.list ?? '') : usualList;
    const { form, problems } = readFields(lists.get(list) ?? {}, fields);
    const back = (notice?: string) =>
      c.redirect(`/admin/${list}${queryOf({ ...form, notice })}`, 303);
    if (columns !== undefined) {
      await views.change(name, {
        columns: columnNames.filter((each) => fields[`column-${each}`] !== undefined),
      });
      return back();
    }
    const { filters } = await views.read(name);
    const called = (save ?? forget ?? '').trim().slice(0, maxName);
    const isOfList = (filter: (typeof filters)[number]): boolean =>
      (filter.list ?? usualList) === list;
    const others = filters.filter((filter) => !isOfList(filter) || filter.name !== called);
    if (forget !== undefined) {
      await views.change(name, { filters: others });
      return back();
    }
    const query = queryOf(form).slice(1);
    if (called === '' || query === '' || Object.keys(problems).length > 0)
      return back('filter-unnamed');
    if (others.filter(isOfList).length >= maxFilters) return back('filter-many');
    const saved = { ...(list !== usualList && { list }), name: called, query };
    await views.change(name, { filters: [...others, saved] });
    return back('filter-saved');
  });

  return routes;
};
