/** The list of transactions, and one of them with what can be done about it. */
import { Hono } from 'hono';
import { includesRole } from '../../operators/operator.ts';
import type { OneReplay } from '../../operators/replays.ts';
import type { Details } from '../api/transaction-detail.ts';
import type { ConsoleDeps, ConsoleEnvironment, ConsoleSession } from '../deps.ts';
import { seesPeople, shownRow } from '../redaction.ts';
import { needs } from '../session/session.ts';
import { shownCallbacks } from '../shown-callback.ts';
import { readForm } from './form.ts';
import { type ReadFilter, readFilter } from './list-filter.ts';
import { type Notice, readNotice } from './notices.ts';
import { messagePage } from './session-pages.ts';
import { type ReplayOffer, transactionPage } from './transaction-page.ts';
import { transactionsPage } from './transactions-page.ts';

const rowsOnPage = 50;

/** Whoever may not see numbers may not try them out either. */
const readFilterFor = (
  { operator: { role } }: ConsoleSession,
  fieldOf: Parameters<typeof readFilter>[0],
): ReadFilter => {
  const read = readFilter(fieldOf);
  if (seesPeople(role) || read.form.msisdn === undefined) return read;
  return { ...read, problems: { ...read.problems, msisdn: 'Your role does not see numbers' } };
};

export const unknownPage = (what: string): string =>
  messagePage({
    title: 'Not found',
    text: `There is no such ${what}, or it is kept no longer.`,
    status: 404,
  });

const replayNotice = (result: OneReplay): Notice | undefined => {
  switch (result) {
    case 'replayed':
    case 'not-failed':
      return result;
    case 'unknown':
      return undefined;
    default:
      return result.refused;
  }
};

export const createTransactionPages = (deps: ConsoleDeps, details: Details): Hono<ConsoleEnvironment> => {
  const { history, replays, callbacks, providers } = deps;
  const routes = new Hono<ConsoleEnvironment>();
  const pathOf = (id: string, notice: Notice): string =>
    `/admin/transactions/${encodeURIComponent(id)}?notice=${notice}`;

  /** By asking for a plan: the policy is not known here. */
  const offerFor = async (id: string, { operator }: ConsoleSession): Promise<ReplayOffer> => {
    if (!includesRole(operator.role, 'operator')) return 'none';
    const { replayable, refused } = await replays.plan({ ids: [id] }, operator);
    if (replayable > 0) return 'plain';
    if (refused.reason > 0) return 'reason';
    if (refused.login > 0) return 'login';
    if (refused.never > 0) return 'never';
    return refused.role > 0 ? 'role' : 'none';
  };

  routes.get('/admin/transactions', async (c) => {
    const session = c.get('session');
    const { role } = session.operator;
    const read = readFilterFor(session, (name) => c.req.query(name));
    const cursor = c.req.query('cursor') || undefined;
    const isWrong = Object.keys(read.problems).length > 0;
    const found = isWrong ? undefined : await history.search(read.filter, { limit: rowsOnPage, cursor });
    if (!isWrong && found === undefined) return c.html(unknownPage('page of the list'), 404);
    const page = transactionsPage({
      session,
      read,
      rows: (found?.rows ?? []).map((row) => shownRow(role, row)),
      total: found?.total,
      next: found?.cursor,
      isFirst: cursor === undefined,
      apIds: providers().map(({ id }) => id),
    });
    return c.html(page, isWrong ? 422 : 200);
  });

  routes.get('/admin/transactions/:id', async (c) => {
    const session = c.get('session');
    const id = c.req.param('id');
    const detail = await details.read(id, session);
    if (detail === undefined) return c.html(unknownPage('transaction'), 404);
    const isFailed = detail.transaction.state === 'failed';
    const offer = isFailed ? await offerFor(id, session) : 'none';
    const { apId, attempt } = detail.transaction;
    return c.html(
      transactionPage({
        session,
        detail,
        offer,
        callbacks: shownCallbacks(await callbacks.of(id, attempt), providers()),
        callbackHost: providers().find((provider) => provider.id === apId)?.callbackHost,
        notice: readNotice(c.req.query('notice')),
      }),
    );
  });

  routes.post('/admin/transactions/:id/replay', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const form = await readForm(c);
    const result = await replays.replay(id, c.get('session').operator, form('reason'));
    const notice = replayNotice(result);
    return notice === undefined
      ? c.html(unknownPage('transaction'), 404)
      : c.redirect(pathOf(id, notice), 303);
  });

  routes.post('/admin/transactions/:id/cancel', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const form = await readForm(c);
    const result = await replays.cancel(id, c.get('session').operator, form('reason') ?? '');
    if (result === 'unknown') return c.html(unknownPage('transaction'), 404);
    return c.redirect(pathOf(id, typeof result === 'string' ? result : result.refused), 303);
  });

  return routes;
};
