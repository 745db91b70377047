/** Bulk replays: plan, order, progress, stop. */
import { Hono } from 'hono';
import type { Operator } from '../../operators/operator.ts';
import type { ReplayFilter } from '../../operators/replays.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { type ShownPlan, shownPlan } from '../redaction.ts';
import { needs } from '../session/session.ts';
import { readForm } from './form.ts';
import { fieldTime, type ReadFilter, readFilter } from './list-filter.ts';
import { type Notice, readNotice } from './notices.ts';
import { type PlanProblem, planPage } from './replay-plan-page.ts';
import { replayPage, replaysPage } from './replays-page.ts';
import { messagePage } from './session-pages.ts';
import { unknownPage } from './transactions.route.ts';

const defaultPerSecond = '5';
const mostReason = 500;
const mostPerSecond = 1000;
const bulksOnPage = 100;

const wrongFilter = (): string =>
  messagePage({
    title: 'The filter cannot be read',
    text: 'Go back to the list and correct it.',
    status: 422,
  });

/** Without the state, which is failed in any case. */
const withoutState = ({ form, filter, problems }: ReadFilter): ReadFilter => {
  const { state: _, ...rest } = form;
  const { states: __, ...narrowed } = filter;
  return { form: rest, filter: narrowed, problems };
};

export const createReplayPages = ({ replays, now }: ConsoleDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  /** The order will have a reason, so it is planned with one. */
  const planned = async (filter: ReplayFilter, operator: Operator): Promise<ShownPlan> =>
    shownPlan(operator.role, await replays.plan({ filter }, operator, 'plan'));

  routes.get('/admin/replays', async (c) =>
    c.html(replaysPage({ session: c.get('session'), bulks: await replays.list(bulksOnPage) })),
  );

  routes.get('/admin/replays/plan', needs('operator'), async (c) => {
    const session = c.get('session');
    // What is submitted from now on is not what the list has shown.
    const until = c.req.query('to') || fieldTime(now());
    const read = withoutState(readFilter((name) => (name === 'to' ? until : c.req.query(name))));
    if (Object.keys(read.problems).length > 0) return c.html(wrongFilter(), 422);
    const plan = await planned(read.filter, session.operator);
    const common = { session, form: read.form, plan, problem: undefined };
    return c.html(planPage({ ...common, reason: '', perSecond: defaultPerSecond }));
  });

  routes.post('/admin/replays', needs('operator'), async (c) => {
    const session = c.get('session');
    const { operator } = session;
    const field = await readForm(c);
    const { form, filter, problems } = withoutState(readFilter(field));
    if (Object.keys(problems).length > 0) return c.html(wrongFilter(), 422);
    const written = field('reason') ?? '';
    const reason = written.trim();
    const perSecond = (field('perSecond') ?? '').trim();
    const rate = perSecond === '' ? Number.NaN : Number(perSecond);
    const plan = await planned(filter, operator);
    const askAgain = (problem: PlanProblem) =>
      c.html(planPage({ session, form, plan, problem, reason: written, perSecond }), 422);
    if (reason === '' || reason.length > mostReason) return askAgain('reason');
    if (!(rate > 0 && rate <= mostPerSecond)) return askAgain('rate');
    // Nobody prompts more people than they have been shown.
    if (plan.replayable > Number(field('expected') ?? 0)) return askAgain('more');
    const started = await replays.start({ filter }, { perSecond: rate, operator, reason });
    if ('bulkId' in started) return c.redirect(`/admin/replays/${started.bulkId}`, 303);
    switch (started.refused) {
      case 'role':
        return c.html(
          messagePage({ title: 'Not allowed', text: 'Your role does not allow this.', status: 403 }),
          403,
        );
      case 'reason':
      case 'rate':
      case 'nothing':
        return askAgain(started.refused);
    }
  });

  routes.get('/admin/replays/:id', async (c) => {
    const report = await replays.report(c.req.param('id'));
    if (report === undefined) return c.html(unknownPage('bulk replay'), 404);
    const wanted = Number(c.req.query('from') ?? 0);
    const from = Number.isSafeInteger(wanted) && wanted > 0 && wanted < report.total ? wanted : 0;
    const notice = readNotice(c.req.query('notice'));
    return c.html(replayPage({ session: c.get('session'), report, from, notice }));
  });

  routes.post('/admin/replays/:id/stop', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const result = await replays.stop(id, c.get('session').operator);
    if (result === 'unknown') return c.html(unknownPage('bulk replay'), 404);
    const notice: Notice = typeof result === 'string' ? result : result.refused;
    return c.redirect(`/admin/replays/${encodeURIComponent(id)}?notice=${notice}`, 303);
  });

  return routes;
};
