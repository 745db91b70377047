/** Callbacks over the API: those of a transaction, the dead ones, and their replay. */
import { Hono } from 'hono';
import type { CallbackRefusal, OneCallbackReplay } from '../../operators/callback-replays.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { shownCallbacks } from '../shown-callback.ts';
import { answer, refuse } from './answers.ts';
import {
  callbackPlanBody,
  callbackReplayBody,
  callbacksQuery,
  optionalReasonBody,
  readJson,
  readQuery,
} from './input.ts';

const refuseFor = (why: CallbackRefusal): Response => {
  switch (why) {
    case 'role':
      return refuse(403, 'forbidden', 'Your role does not allow this');
    case 'reason':
      return refuse(422, 'reason', 'reason must have at most 500 characters');
    case 'rate':
      return refuse(400, 'bad-request', 'perSecond is out of bounds');
    case 'nothing':
      return refuse(409, 'nothing', 'There is no dead callback like that');
  }
};

/** Also what the queue board's button gets. */
export const presentCallbackReplay = (result: OneCallbackReplay): Response => {
  switch (result) {
    case 'replayed':
      return answer({ result });
    case 'unknown':
      return refuse(404, 'unknown', 'There is no such callback');
    case 'not-dead':
      return refuse(409, 'not-dead', 'It has been delivered, or will be tried again by itself');
    default:
      return refuseFor(result.refused);
  }
};

export const createCallbackRoutes = (deps: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const { callbacks, history, providers } = deps;
  const routes = new Hono<ConsoleEnvironment>();

  routes.get('/transactions/:id/callbacks', async (c) => {
    const row = await history.find(c.req.param('id'));
    if (row === undefined) return refuse(404, 'unknown', 'There is no such transaction');
    const rows = await callbacks.of(row.msspTransId, row.attempt);
    return answer({ callbacks: shownCallbacks(rows, providers()) });
  });

  routes.get('/callbacks', async (c) => {
    const query = readQuery(c, callbacksQuery);
    if (!query.ok) return query.response;
    const { apId, to, limit, cursor } = query.value;
    const page = await callbacks.dead({ apId, to }, { limit, cursor });
    if (page === undefined) return refuse(400, 'bad-request', 'cursor is none');
    return answer({ ...page, rows: shownCallbacks(page.rows, providers()) });
  });

  routes.post('/callbacks/plan', needs('operator'), async (c) => {
    const body = await readJson(c, callbackPlanBody);
    if (!body.ok) return body.response;
    return answer(await callbacks.plan(body.value.filter));
  });

  /** All of a filter. */
  routes.post('/callbacks/replay', needs('operator'), async (c) => {
    const body = await readJson(c, callbackReplayBody);
    if (!body.ok) return body.response;
    const { filter, perSecond, reason } = body.value;
    const { operator } = c.get('session');
    const done = await callbacks.replayAll(filter, { perSecond, operator, reason });
    return 'refused' in done ? refuseFor(done.refused) : answer(done);
  });

  routes.post('/callbacks/:id/replay', needs('operator'), async (c) => {
    const body = await readJson(c, optionalReasonBody);
    if (!body.ok) return body.response;
    const { operator } = c.get('session');
    return presentCallbackReplay(await callbacks.replay(c.req.param('id'), operator, body.value.reason));
  });

  return routes;
};
