/** Dead callbacks: the list, the replay of one, and of all that a filter finds. */
import { Hono } from 'hono';
import { callbacksPerSecond } from '../../operators/callback-replays.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { shownCallbacks } from '../shown-callback.ts';
import { callbacksPage, callbacksQueryOf } from './callbacks-page.ts';
import { callbackBulkPage, callbackPlanPage } from './callbacks-plan-page.ts';
import { readForm } from './form.ts';
import { type Notice, readNotice } from './notices.ts';
import { messagePage } from './session-pages.ts';
import { unknownPage } from './transactions.route.ts';

const rowsOnPage = 50;
const mostText = 256;

const written = (text: string | undefined): string => (text ?? '').trim().slice(0, mostText);
/** @param apId Empty for all applications. */
const filterOf = (apId: string, to?: number) => ({ ...(apId !== '' && { apId }), to });

const replayNotices = { replayed: 'callback-replayed', 'not-dead': 'callback-not-dead' } as const;

export const createCallbackPages = ({ callbacks, providers, now }: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  routes.get('/admin/callbacks', async (c) => {
    const apId = written(c.req.query('apId'));
    const cursor = c.req.query('cursor') || undefined;
    const page = await callbacks.dead(filterOf(apId), { limit: rowsOnPage, cursor });
    if (page === undefined) return c.html(unknownPage('page of the list'), 404);
    return c.html(
      callbacksPage({
        session: c.get('session'),
        apId,
        rows: shownCallbacks(page.rows, providers()),
        next: page.cursor,
        isFirst: cursor === undefined,
        apIds: providers().flatMap(({ id, callbackHost }) => (callbackHost === undefined ? [] : [id])),
        notice: readNotice(c.req.query('notice')),
      }),
    );
  });

  routes.get('/admin/callbacks/plan', needs('operator'), async (c) => {
    const apId = written(c.req.query('apId'));
    const to = now();
    const plan = await callbacks.plan(filterOf(apId, to));
    const common = { session: c.get('session'), apId, to, plan, problem: undefined };
    return c.html(callbackPlanPage({ ...common, reason: '', perSecond: String(callbacksPerSecond.usual) }));
  });

  routes.post('/admin/callbacks/replay', needs('operator'), async (c) => {
    const session = c.get('session');
    const field = await readForm(c);
    const apId = written(field('apId'));
    const wanted = Number(field('to'));
    const to = wanted > 0 && wanted < now() ? wanted : now();
    const filter = filterOf(apId, to);
    const [reason, perSecond] = [field('reason') ?? '', (field('perSecond') ?? '').trim()];
    const order = { perSecond: Number(perSecond), operator: session.operator, reason };
    const done = await callbacks.replayAll(filter, order);
    if (!('refused' in done)) return c.html(callbackBulkPage({ session, apId, done }));
    if (done.refused === 'role') {
      const text = 'Your role does not allow this.';
      return c.html(messagePage({ title: 'Not allowed', text, status: 403 }), 403);
    }
    const problem = done.refused === 'nothing' ? undefined : done.refused;
    const plan = await callbacks.plan(filter);
    return c.html(callbackPlanPage({ session, apId, to, plan, problem, reason, perSecond }), 422);
  });

  routes.post('/admin/callbacks/:id/replay', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const field = await readForm(c);
    const result = await callbacks.replay(id, c.get('session').operator);
    if (result === 'unknown') return c.html(unknownPage('callback'), 404);
    const notice: Notice =
      typeof result === 'string' ? replayNotices[result] : result.refused === 'role' ? 'role' : 'reason';
    const list = field('list');
    if (list !== undefined) {
      return c.redirect(`/admin/callbacks${callbacksQueryOf({ apId: written(list), notice })}`, 303);
    }
    const transaction = encodeURIComponent(id.replace(/-.*$/s, ''));
    return c.redirect(`/admin/transactions/${transaction}?notice=${notice}#callbacks`, 303);
  });

  return routes;
};
