/** The order to ask a signer of a process once more. Page and API. */
import { Hono } from 'hono';
import type { z } from 'zod';
import type { ConsoleEnvironment } from '../../../src/console/deps.ts';
import { json, optionalReasonBody, readForm, text } from '../../../src/console/input.ts';
import type { Operator } from '../../../src/console/operators/operator.ts';
import { noticeOf, type OrderError } from '../../../src/console/order-errors.ts';
import type { NoticeText } from '../../../src/console/part.ts';
import { needs } from '../../../src/console/session/session.ts';
import type { WorkflowOrders } from '../../workflows/index.ts';
import type { ProcessOrder } from '../charts/process-actions.ts';

const againBody = optionalReasonBody.extend({ step: text(64), key: text(32) });

const notAsked: OrderError = {
  status: 409,
  code: 'refused',
  title: 'Not asked',
  message: 'The signer cannot be asked again: a prompt is open, or the step is over',
};

export const againNotices: Readonly<Record<string, NoticeText>> = {
  asked: ['good', 'Asked again', 'The signatures of the others stay.'],
  'not-asked': noticeOf(notAsked),
};

export const createAgainRoutes = (orders: WorkflowOrders): Hono<ConsoleEnvironment> => {
  const askAgain = (
    id: string,
    operator: Operator,
    { step, key, reason = '' }: z.output<typeof againBody>,
  ) =>
    orders.order<'refused'>(
      id,
      operator,
      { action: 'workflow-again', reason, details: { key } },
      async (found) => {
        const order: ProcessOrder = { type: 'AGAIN', step, key };
        const { kind } = await orders.send(found, order);
        if (kind === 'taken') return 'done';
        return kind === 'invalid' ? 'refused' : kind === 'unknown' ? 'ended' : kind;
      },
    );

  const routes = new Hono<ConsoleEnvironment>();

  routes.post('/admin/api/workflows/:id/again', needs('operator'), json(againBody), async (c) => {
    const { operator } = c.get('session');
    const done = await askAgain(c.req.param('id'), operator, c.req.valid('json'));
    return orders.answer(done, { refused: notAsked });
  });

  routes.post('/admin/workflows/:id/again', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const { reason = '', step = '', key = '' } = await readForm(c);
    const done = await askAgain(id, c.get('session').operator, { step, key, reason });
    return orders.show(c, id, done, 'asked', { refused: 'not-asked' });
  });

  return routes;
};
