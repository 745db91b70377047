/** Plan and order of bulks of one list. Pages and API; replays.route.ts has what is the same for all. */
import { Hono } from 'hono';
import { z } from 'zod';
import { answer } from './answers.ts';
import { type BulkFace, bulkPathOf, pageOf } from './bulk-face.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { fieldTime, readFields, type Written } from './filter.ts';
import { json, readForm, reason, text } from './input.ts';
import { createLookUps } from './look-ups.ts';
import type { BulkSelection } from './operators/bulk-list.ts';
import type { StartedBulk } from './operators/bulks.ts';
import type { Operator } from './operators/operator.ts';
import { type OrderErrorName, refuseOrder } from './order-errors.ts';
import { queryOf } from './pages/markup.ts';
import { type PlanModel, planPage } from './pages/plan-pages.ts';
import { messagePage } from './pages/session-pages.ts';
import { needs } from './session/session.ts';

const usualPerSecond = 5;

const errors = {
  role: 'role',
  reason: 'reason',
  nothing: 'nothing',
  rate: 'rate',
} as const satisfies Record<Extract<StartedBulk, { refused: string }>['refused'], OrderErrorName>;

const wrongFilter = (): string =>
  messagePage(422, 'The filter cannot be read', 'Go back to the list and correct it.');

/** The bodies of the API: `filter` or `ids`, and what the order needs beside them. */
const bodiesOf = ({ filter, words, more }: BulkFace) => {
  const kinds = Object.keys(words);
  const withMore = (kind: string | undefined): boolean => more?.(kind ?? 'replay') !== undefined;
  const withEvent = z
    .strictObject({
      kind: z.enum(kinds),
      filter,
      ids: z.array(text(100)).min(1).max(20_000),
      event: z.looseObject({ type: z.string().min(1).max(200) }),
    })
    .partial();
  // A list without such a kind does not know the member.
  const selection = kinds.some(withMore)
    ? withEvent
    : (withEvent.omit({ event: true }) as unknown as typeof withEvent);
  type Body = Readonly<z.output<typeof withEvent>>;
  const whole = <T extends z.ZodType<Body>>(schema: T): T =>
    schema
      .refine(({ filter, ids }) => (filter === undefined) !== (ids === undefined), {
        error: 'must have either filter or ids',
      })
      .refine(({ kind, event }) => withMore(kind) === (event !== undefined), {
        error: 'must have an event for the kind send, and only for it',
      });
  return {
    plan: whole(selection.extend({ reason: reason.optional() })),
    start: whole(
      selection.extend({
        reason,
        perSecond: z.number().min(0.01).max(1000).default(usualPerSecond),
      }),
    ),
  };
};

const selectionOf = ({
  kind,
  filter,
  ids = [],
  event,
}: {
  readonly kind?: string | undefined;
  readonly filter?: unknown;
  readonly ids?: readonly string[] | undefined;
  readonly event?: BulkSelection<unknown>['event'];
}): BulkSelection<unknown> => ({
  kind,
  ...(filter === undefined ? { ids } : { filter }),
  ...(event && { event }),
});

/** Why a bulk has nothing to do: what its plan leaves out, or that nothing was found. */
const whyNothing = (
  { words, refusals }: BulkFace,
  kind = 'replay',
  { refused, plan }: Extract<StartedBulk, { refused: string }>,
): string | undefined => {
  if (refused !== 'nothing' || plan === undefined) return undefined;
  const why = refusals(kind);
  const left = Object.entries(plan.refused).filter(([, number]) => number > 0);
  return left.length === 0
    ? `There is nothing to do: no ${words[kind]?.of} are found by this`
    : `There is nothing to do: ${left.map(([name, number]) => `${number} left out (${why[name] ?? name})`).join(', ')}`;
};

export const createBulkRoutes = (deps: AdminApiDeps, face: BulkFace): Hono<ConsoleEnvironment> => {
  const { replays, now } = deps;
  const { list, fields } = face;
  const path = bulkPathOf(list.name);
  const noteLookUp = createLookUps(deps);
  const routes = new Hono<ConsoleEnvironment>();
  const bodies = bodiesOf(face);

  /** The number that a filter names. */
  const numberIn = (filter: unknown): string | undefined => {
    const { msisdn } = Object(filter) as { readonly msisdn?: unknown };
    return typeof msisdn === 'string' ? msisdn : undefined;
  };

  routes.post(`/admin/api${path}/plan`, needs('operator'), json(bodies.plan), async (c) => {
    const { operator } = c.get('session');
    const { reason, ...body } = c.req.valid('json');
    await noteLookUp(c.get('session'), list.name, numberIn(body.filter));
    const { plan } = await list.select(selectionOf(body), operator, reason);
    return answer(face.shown(operator.role, plan));
  });

  routes.post(`/admin/api${path}`, needs('operator'), json(bodies.start), async (c) => {
    const { operator } = c.get('session');
    const { reason, perSecond, ...body } = c.req.valid('json');
    const order = { perSecond, operator, reason };
    const started = await replays.startOf(list, selectionOf(body), order);
    return 'refused' in started
      ? refuseOrder(errors[started.refused], whyNothing(face, body.kind, started))
      : answer({ ...started, plan: face.shown(operator.role, started.plan) }, 202);
  });

  /** Plans a bulk with a reason, because the order will have one. */
  const planned = async (selected: BulkSelection<unknown>, operator: Operator) =>
    face.shown(operator.role, (await list.select(selected, operator, 'plan')).plan);

  const kindIn = (written = ''): string =>
    Object.hasOwn(face.words, written) ? written : 'replay';

  routes.get(`/admin${path}/plan`, needs('operator'), async (c) => {
    const session = c.get('session');
    const { operator } = session;
    const written: Written = c.req.query();
    const kind = kindIn(written.kind);
    const ids = c.req.queries('id') ?? [];
    if (ids.length === 0 && written.picked !== undefined) {
      const { form } = readFields(fields, written);
      const state = Object.fromEntries(
        Object.keys(face.stateOf(kind)).map((name) => [name, written[name]]),
      );
      const back = { ...state, ...form, notice: 'none-selected' };
      return c.redirect(`${pageOf(face)}${queryOf(back)}`, 303);
    }
    // Later ones are excluded, because the list has not shown them.
    const to = written.to || fieldTime(now());
    const { form, filter, problems } = readFields(fields, {
      ...written,
      ...(ids.length === 0 && { to }),
    });
    if (Object.keys(problems).length > 0) return c.html(wrongFilter(), 422);
    const common = {
      ...{ session, face, kind, form, ids, written },
      ...{ reason: '', perSecond: String(usualPerSecond) },
    };
    const more = face.more?.(kind)?.read(written) ?? {};
    if (more === 'missing' || more === 'wrong') {
      const problem = more === 'wrong' ? 'more-wrong' : undefined;
      return c.html(
        planPage({ ...common, plan: undefined, problem }),
        more === 'wrong' ? 422 : 200,
      );
    }
    if (ids.length === 0) await noteLookUp(session, list.name, numberIn(filter));
    const selected = selectionOf({ kind, ...(ids.length > 0 ? { ids } : { filter }), ...more });
    const plan = await planned(selected, operator);
    return c.html(planPage({ ...common, plan, problem: undefined }));
  });

  routes.post(`/admin${path}`, needs('operator'), async (c) => {
    const session = c.get('session');
    const { operator } = session;
    const written = await readForm(c);
    const { form, filter, problems } = readFields(fields, written);
    const kind = kindIn(written.kind);
    const more = face.more?.(kind)?.read(written) ?? {};
    if (Object.keys(problems).length > 0 || more === 'missing' || more === 'wrong')
      return c.html(wrongFilter(), 422);
    const { reason = '', perSecond = '', expected = '0' } = written;
    const ids = (written.ids ?? '').split(' ').filter((id) => id !== '');
    const selected = selectionOf({ kind, ...(ids.length > 0 ? { ids } : { filter }), ...more });
    const plan = await planned(selected, operator);
    const common = {
      ...{ session, face, kind, form, ids, written, plan },
      ...{ reason, perSecond: perSecond.trim() },
    };
    const askAgain = (problem: PlanModel['problem']) =>
      c.html(planPage({ ...common, problem }), 422);
    // More than the page has shown: ask again.
    if (plan.replayable > Number(expected)) return askAgain('more');
    const order = { perSecond: Number(perSecond), operator, reason: reason.trim() };
    const started = await replays.startOf(list, selected, order);
    return 'refused' in started
      ? askAgain(started.refused)
      : c.redirect(`/admin/replays/${started.bulkId}`, 303);
  });

  return routes;
};
