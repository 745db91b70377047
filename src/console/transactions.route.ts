/** Transactions: the list, one of them, its progress, replay and cancel. Pages and API. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { transactionFields } from '../transactions/history/filter.ts';
import type { TransactionRow } from '../transactions/history/row.ts';
import type { Change } from '../transactions/history/watch.ts';
import { answer, badCursor, refuse } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment, ConsoleSession } from './deps.ts';
import type { EventStreams } from './event-stream.ts';
import { exportedTransactions, exportFormatIn, exportList } from './export.ts';
import { readFilter, refuseGuess, transactionFilter, withoutGuesses } from './filter.ts';
import { json, optionalReasonBody, paged, query, readForm, reasonBody } from './input.ts';
import { createLookUps } from './look-ups.ts';
import { doneBy } from './operators/audit.ts';
import { includesRole, type Role } from './operators/operator.ts';
import { nameOf, type OrderErrorName, present, refuseOrder } from './order-errors.ts';
import { readNotice } from './pages/notices.ts';
import { messagePage, unknownPage } from './pages/session-pages.ts';
import { type ReplayOffer, transactionPage } from './pages/transaction-page.ts';
import { transactionsPage } from './pages/transactions-page.ts';
import { seesPeople, shownFault, shownNumber, shownRow } from './redaction.ts';
import { needs } from './session/session.ts';
import type { Details } from './transaction-detail.ts';

const listQuery = transactionFilter.extend(paged(50, 500));
const detailQuery = z.object({ reveal: z.stringbool().default(true) });
const eventsQuery = z.object({ rows: z.stringbool().default(false) });
const rowsOnPage = 50;

const unknown = 'transaction-unknown';

const replayErrors = {
  unknown,
  'not-failed': 'not-failed',
  login: 'login',
  workflow: 'workflow',
  never: 'never',
  role: 'role',
  reason: 'reason',
  'too-many': 'too-many',
} as const satisfies Record<string, OrderErrorName>;

const cancelErrors = {
  unknown,
  'too-late': 'too-late',
  busy: 'busy',
  role: 'role',
  reason: 'reason',
} as const satisfies Record<string, OrderErrorName>;

/** The newest transactions from which the filter makes its suggestions. */
const suggestedRows = 500;
const suggestEveryMs = 10_000;
const maxSuggested = 50;

const createSuggest = ({ history, providers, now }: AdminApiDeps) => {
  let rows: Promise<readonly TransactionRow[]> | undefined;
  let readAt = 0;
  const read = async (): Promise<readonly TransactionRow[]> =>
    (await history.search({}, { limit: suggestedRows }))?.rows ?? [];
  const distinct = (texts: readonly string[]): readonly string[] =>
    [...new Set(texts)].filter((text) => text !== '').slice(0, maxSuggested);
  return async (role: Role) => {
    if (rows === undefined || Math.abs(now() - readAt) > suggestEveryMs) {
      readAt = now();
      rows = read();
      rows.catch(() => {
        rows = undefined;
      });
    }
    const found = await rows;
    return {
      apIds: distinct([...providers().map(({ id }) => id), ...found.map(({ apId }) => apId)]),
      numbers: seesPeople(role)
        ? distinct(found.map(({ msisdn }) => shownNumber(role, msisdn)))
        : [],
    };
  };
};

/** The interval at which changes are read that the watch has missed. */
const lookEveryMs = 2000;

export const createTransactionRoutes = (
  deps: AdminApiDeps,
  details: Details,
  streams: EventStreams,
): Hono<ConsoleEnvironment> => {
  const { history, replays, parts, audit, log } = deps;
  const suggest = createSuggest(deps);
  const noteLookUp = createLookUps(deps);
  const routes = new Hono<ConsoleEnvironment>();

  routes.get('/admin/api/transactions', query(listQuery), async (c) => {
    const { role } = c.get('session').operator;
    const { limit, cursor, ...filter } = c.req.valid('query');
    const guess = refuseGuess(transactionFields, filter, role);
    if (guess !== undefined) return refuse(403, 'forbidden', guess);
    await noteLookUp(c.get('session'), 'transactions', filter.msisdn);
    const page = await history.search(filter, { limit, cursor });
    if (page === undefined) return refuse(...badCursor);
    return answer({ ...page, rows: page.rows.map((row) => shownRow(role, row)) });
  });

  routes.get('/admin/api/transactions/:id', query(detailQuery), async (c) => {
    const { reveal } = c.req.valid('query');
    const detail = await details.read(c.req.param('id'), c.get('session'), reveal);
    return detail === undefined ? refuseOrder(unknown) : answer(detail);
  });

  const withRows = async (change: Change, role: Role): Promise<object> => {
    if (change.kind === 'many') return change;
    const rows = await Promise.all(change.ids.map(history.find));
    return {
      ...change,
      rows: rows.flatMap((row) => (row === undefined ? [] : [shownRow(role, row)])),
    };
  };

  /** The transactions that have changed, with `rows` their rows; `many` when there are too many. */
  routes.get('/admin/api/events', query(eventsQuery), (c) => {
    const session = c.get('session');
    const { rows } = c.req.valid('query');
    const newsOf = async (change: Change): Promise<object> =>
      rows ? withRows(change, session.operator.role) : change;
    return streams.open(c, session, (send) =>
      history.watch((change) => {
        newsOf(change)
          .catch(() => ({ kind: 'many' }))
          .then((news) => send('changed', news));
      }),
    );
  });

  const progressOf = (c: Pick<Context, 'req'>, session: ConsoleSession, id: string): Response =>
    streams.open(c, session, (send) => {
      let last = '';
      const look = async (): Promise<void> => {
        const row = await history.find(id);
        if (row === undefined) return;
        const { state, attempt, submittedAt, endedAt, tookMs } = row;
        const fault = row.fault && { fault: shownFault(session.operator.role, row.fault) };
        const news = { msspTransId: id, state, attempt, submittedAt, endedAt, tookMs, ...fault };
        const text = JSON.stringify(news);
        if (text !== last) send('state', news);
        last = text;
      };
      const tryLook = () => void look().catch((error: unknown) => log.trouble(toError(error)));
      // Before the first look, so that no change is lost between the two.
      const unwatch = history.watch((change) => {
        if (change.kind === 'many' || change.ids.includes(id)) tryLook();
      });
      tryLook();
      const timer = setInterval(tryLook, lookEveryMs);
      return () => {
        clearInterval(timer);
        unwatch();
      };
    });

  routes.get('/admin/api/transactions/:id/events', async (c) => {
    const id = c.req.param('id');
    if ((await history.find(id)) === undefined) return refuseOrder(unknown);
    return progressOf(c, c.get('session'), id);
  });

  routes.post(
    '/admin/api/transactions/:id/replay',
    needs('operator'),
    json(optionalReasonBody),
    async (c) => {
      const { reason } = c.req.valid('json');
      const result = await replays.replay(c.req.param('id'), c.get('session').operator, reason);
      return present(result, 'replayed', replayErrors);
    },
  );

  routes.post(
    '/admin/api/transactions/:id/cancel',
    needs('operator'),
    json(reasonBody),
    async (c) => {
      const { reason } = c.req.valid('json');
      const result = await replays.cancel(c.req.param('id'), c.get('session').operator, reason);
      return present(result, 'cancelled', cancelErrors);
    },
  );

  /** Finds the offer of a replay from a plan, because only the replay room has the policy. */
  const findOffer = async (id: string, { operator }: ConsoleSession): Promise<ReplayOffer> => {
    if (!includesRole(operator.role, 'operator')) return 'none';
    const { replayable, refused } = await replays.plan({ ids: [id] }, operator);
    if (replayable > 0) return 'plain';
    return (
      (['reason', 'login', 'workflow', 'never', 'role', 'not-failed'] as const).find(
        (why) => refused[why] > 0,
      ) ?? 'none'
    );
  };

  routes.get('/admin/transactions', async (c) => {
    const session = c.get('session');
    const read = withoutGuesses(
      transactionFields,
      readFilter(c.req.query()),
      session.operator.role,
    );
    const cursor = c.req.query('cursor') || undefined;
    const isWrong = Object.keys(read.problems).length > 0;
    if (!isWrong) await noteLookUp(session, 'transactions', read.filter.msisdn);
    const found = isWrong
      ? undefined
      : await history.search(read.filter, { limit: rowsOnPage, cursor });
    if (!isWrong && found === undefined) return c.html(unknownPage('page of the list'), 404);
    const page = transactionsPage({
      session,
      read,
      rows: (found?.rows ?? []).map((row) => shownRow(session.operator.role, row)),
      total: found?.total,
      next: found?.cursor,
      isFirst: cursor === undefined,
      ...(await suggest(session.operator.role)),
      notice: readNotice(c.req.query('notice')),
    });
    return c.html(page, isWrong ? 422 : 200);
  });

  // Before the route of one transaction, which would take it for an id.
  routes.get('/admin/transactions/export', async (c) => {
    const { operator } = c.get('session');
    const { form, filter, problems } = withoutGuesses(
      transactionFields,
      readFilter(c.req.query()),
      operator.role,
    );
    const format = exportFormatIn(c.req.query('format'));
    if (format === undefined || Object.keys(problems).length > 0) {
      return c.html(
        messagePage(422, 'The filter cannot be read', 'Go back to the list and correct it.'),
        422,
      );
    }
    await audit.record({
      ...doneBy(operator),
      action: 'export',
      details: { format, fields: Object.keys(form).join(' ') },
    });
    return exportList(exportedTransactions(history, operator.role, filter), format, log);
  });

  routes.get('/admin/transactions/:id', async (c) => {
    const session = c.get('session');
    const id = c.req.param('id');
    const detail = await details.read(id, session);
    if (detail === undefined) return c.html(unknownPage('transaction'), 404);
    const { state } = detail.transaction;
    return c.html(
      transactionPage({
        session,
        detail,
        offer: state === 'failed' ? await findOffer(id, session) : 'none',
        sections: await Promise.all(
          parts.flatMap((part) => part.ofTransaction?.(session, detail.transaction) ?? []),
        ),
        notice: readNotice(c.req.query('notice'), session.frame),
      }),
    );
  });

  const notices = {
    replayed: 'replayed',
    cancelled: 'cancelled',
    ...replayErrors,
    ...cancelErrors,
  } as const;
  for (const order of ['replay', 'cancel'] as const) {
    routes.post(`/admin/transactions/:id/${order}`, needs('operator'), async (c) => {
      const id = c.req.param('id');
      const { reason = '' } = await readForm(c);
      const result = nameOf(await replays[order](id, c.get('session').operator, reason));
      if (result === 'unknown') return c.html(unknownPage('transaction'), 404);
      const path = `/admin/transactions/${encodeURIComponent(id)}`;
      return c.redirect(`${path}?notice=${notices[result]}`, 303);
    });
  }

  return routes;
};
