/** Bulk replays over the API: a dry run, the order, how it goes, the end. */
import { Hono } from 'hono';
import type { z } from 'zod';
import type { Role } from '../../operators/operator.ts';
import type { ReplaySelection } from '../../operators/replays.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../deps.ts';
import { seesPeople, shownPlan } from '../redaction.ts';
import { needs } from '../session/session.ts';
import { answer, refuse } from './answers.ts';
import {
  filterOf,
  optionalReasonBody,
  planBody,
  readJson,
  readQuery,
  replaysQuery,
  startBody,
} from './input.ts';

const selectionOf = ({ filter, ids }: z.output<typeof planBody>): ReplaySelection => {
  if (filter === undefined) return { ids: ids ?? [] };
  const { maxAttempts, ...rest } = filter;
  return { filter: { ...filterOf(rest), ...(maxAttempts !== undefined && { maxAttempts }) } };
};

const refuseFor = (why: 'role' | 'reason' | 'nothing' | 'rate'): Response => {
  switch (why) {
    case 'role':
      return refuse(403, 'forbidden', 'Your role does not allow this');
    case 'reason':
      return refuse(422, 'reason', 'reason is needed');
    case 'nothing':
      return refuse(409, 'nothing', 'There is nothing to replay');
    case 'rate':
      return refuse(400, 'bad-request', 'perSecond is out of bounds');
  }
};

/** A reason is somebody's own words, which may name a person. */
const shown = <T extends { readonly reason: string }>(role: Role, bulk: T): object => {
  const { reason, ...rest } = bulk;
  return seesPeople(role) ? { reason, ...rest } : rest;
};

export const createReplayRoutes = ({ replays }: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  routes.post('/replays/plan', needs('operator'), async (c) => {
    const body = await readJson(c, planBody);
    if (!body.ok) return body.response;
    const { operator } = c.get('session');
    const plan = await replays.plan(selectionOf(body.value), operator, body.value.reason);
    return answer(shownPlan(operator.role, plan));
  });

  routes.post('/replays', needs('operator'), async (c) => {
    const body = await readJson(c, startBody);
    if (!body.ok) return body.response;
    const { operator } = c.get('session');
    const { reason, perSecond } = body.value;
    const started = await replays.start(selectionOf(body.value), { perSecond, operator, reason });
    if ('refused' in started) return refuseFor(started.refused);
    return answer({ ...started, plan: shownPlan(operator.role, started.plan) }, 202);
  });

  routes.get('/replays', async (c) => {
    const query = readQuery(c, replaysQuery);
    if (!query.ok) return query.response;
    const { role } = c.get('session').operator;
    const bulks = await replays.list(query.value.limit);
    return answer({ replays: bulks.map((bulk) => shown(role, bulk)) });
  });

  routes.get('/replays/:id', async (c) => {
    const { role } = c.get('session').operator;
    const report = await replays.report(c.req.param('id'));
    return report === undefined
      ? refuse(404, 'unknown', 'There is no such bulk replay')
      : answer(shown(role, report));
  });

  /** Without what became of each. */
  routes.get('/replays/:id/progress', async (c) => {
    const { role } = c.get('session').operator;
    const bulk = await replays.progress(c.req.param('id'));
    return bulk === undefined
      ? refuse(404, 'unknown', 'There is no such bulk replay')
      : answer(shown(role, bulk));
  });

  routes.post('/replays/:id/stop', needs('operator'), async (c) => {
    const body = await readJson(c, optionalReasonBody);
    if (!body.ok) return body.response;
    const result = await replays.stop(c.req.param('id'), c.get('session').operator, body.value.reason);
    switch (result) {
      case 'stopping':
        return answer({ result });
      case 'not-running':
        return refuse(409, 'not-running', 'It is over, or being stopped already');
      case 'unknown':
        return refuse(404, 'unknown', 'There is no such bulk replay');
      default:
        return refuseFor(result.refused);
    }
  });

  return routes;
};
