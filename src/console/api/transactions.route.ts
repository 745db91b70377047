/** Transactions over the API: lists, one of them, its progress, replay and cancel. */
import { type Context, Hono } from 'hono';
import type { Change } from '../../history/watch.ts';
import { headOfStream } from '../../oauth/head-of-stream.ts';
import type { Role } from '../../operators/operator.ts';
import type { OneReplay } from '../../operators/replays.ts';
import type { AdminApiDeps, ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { seesPeople, shownFault, shownRow } from '../redaction.ts';
import { needs } from '../session/session.ts';
import { answer, refuse } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import {
  detailQuery,
  eventsQuery,
  filterOf,
  optionalReasonBody,
  readJson,
  readQuery,
  reasonBody,
  transactionsQuery,
} from './input.ts';
import type { Details } from './transaction-detail.ts';

const unknown = (): Response => refuse(404, 'unknown', 'There is no such transaction');

/** Also what the queue board's button gets. */
export const presentReplay = (result: OneReplay): Response => {
  if (result === 'replayed') return answer({ result });
  if (result === 'unknown') return unknown();
  if (result === 'not-failed') {
    return refuse(409, 'not-failed', 'The transaction has not failed, or is being replayed already');
  }
  switch (result.refused) {
    case 'login':
      return refuse(409, 'login', 'A login is not replayed: nobody waits for it any more');
    case 'never':
      return refuse(409, 'never', 'What failed with this fault is not replayed');
    case 'role':
      return refuse(403, 'forbidden', 'Your role does not allow this replay');
    case 'reason':
      return refuse(422, 'reason', 'reason is needed for this fault');
    case 'too-many':
      return refuse(429, 'too-many', 'This person has been prompted often enough just now');
  }
};

const presentCancel = (result: Awaited<ReturnType<ConsoleDeps['replays']['cancel']>>): Response => {
  switch (result) {
    case 'cancelled':
      return answer({ result });
    case 'unknown':
      return unknown();
    case 'too-late':
      return refuse(409, 'too-late', 'It has ended, or the person has answered');
    case 'busy':
      return refuse(503, 'busy', 'A worker is at it; ask again');
    default:
      return result.refused === 'role'
        ? refuse(403, 'forbidden', 'Your role does not allow this')
        : refuse(422, 'reason', 'reason is needed');
  }
};

/** Changes that were missed are found by looking. */
const lookEveryMs = 2000;

export const createTransactionRoutes = (
  deps: AdminApiDeps,
  details: Details,
  streams: EventStreams,
): Hono<ConsoleEnvironment> => {
  const { history, replays, log } = deps;
  const routes = new Hono<ConsoleEnvironment>();

  routes.get('/transactions', async (c) => {
    const query = readQuery(c, transactionsQuery);
    if (!query.ok) return query.response;
    const { role } = c.get('session').operator;
    const { limit, cursor } = query.value;
    if (query.value.msisdn !== undefined && !seesPeople(role)) {
      // Whoever may not see numbers may not try them out either.
      return refuse(403, 'forbidden', 'msisdn needs the role operator');
    }
    const page = await history.search(filterOf(query.value), { limit, cursor });
    if (page === undefined) return refuse(400, 'bad-request', 'cursor is none');
    return answer({ ...page, rows: page.rows.map((row) => shownRow(role, row)) });
  });

  routes.get('/transactions/:id', async (c) => {
    const query = readQuery(c, detailQuery);
    if (!query.ok) return query.response;
    const detail = await details.read(c.req.param('id'), c.get('session'), query.value.reveal);
    return detail === undefined ? unknown() : answer(detail);
  });

  const withRows = async (change: Change, role: Role): Promise<object> => {
    if (change.kind === 'many') return change;
    const rows = await Promise.all(change.ids.map(history.find));
    return { ...change, rows: rows.flatMap((row) => (row === undefined ? [] : [shownRow(role, row)])) };
  };

  /** Which transactions have changed, with `rows` how they stand now; `many` when too many to name. */
  routes.get('/events', (c) => {
    const query = readQuery(c, eventsQuery);
    if (!query.ok) return query.response;
    const session = c.get('session');
    const newsOf = async (change: Change): Promise<object> =>
      query.value.rows ? withRows(change, session.operator.role) : change;
    return (
      headOfStream(c) ??
      streams.open(session, (send) =>
        history.watch((change) => {
          newsOf(change)
            .catch(() => ({ kind: 'many' }))
            .then((news) => send('changed', news));
        }),
      )
    );
  });

  const progressOf = (c: Context<ConsoleEnvironment>, id: string): Response =>
    streams.open(c.get('session'), (send) => {
      const { role } = c.get('session').operator;
      let last = '';
      const look = async (): Promise<void> => {
        const row = await history.find(id);
        if (row === undefined) return;
        const { state, attempt, submittedAt, endedAt, tookMs } = row;
        const fault = row.fault && { fault: shownFault(role, row.fault) };
        const news = { msspTransId: id, state, attempt, submittedAt, endedAt, tookMs, ...fault };
        const text = JSON.stringify(news);
        if (text !== last) send('state', news);
        last = text;
      };
      const tryLook = (): void => {
        look().catch((error: unknown) =>
          log.trouble(error instanceof Error ? error : new Error(String(error))),
        );
      };
      // Before the first look: what changes between the two is told.
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

  routes.get('/transactions/:id/events', async (c) => {
    const id = c.req.param('id');
    if ((await history.find(id)) === undefined) return unknown();
    return headOfStream(c) ?? progressOf(c, id);
  });

  routes.post('/transactions/:id/replay', needs('operator'), async (c) => {
    const body = await readJson(c, optionalReasonBody);
    if (!body.ok) return body.response;
    const { operator } = c.get('session');
    return presentReplay(await replays.replay(c.req.param('id'), operator, body.value.reason));
  });

  routes.post('/transactions/:id/cancel', needs('operator'), async (c) => {
    const body = await readJson(c, reasonBody);
    if (!body.ok) return body.response;
    const { operator } = c.get('session');
    return presentCancel(await replays.cancel(c.req.param('id'), operator, body.value.reason));
  });

  return routes;
};
