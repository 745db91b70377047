/** What a page says of an order to callbacks, and why one is not carried out. */
import { noticeOf, type OrderError, orderErrors } from '../../src/console/order-errors.ts';
import type { NoticeText } from '../../src/console/part.ts';
import {
  type CallbackError,
  type CallbackOrder,
  callbacksPerSecond,
  type NotNow,
} from './replays.ts';

const { min, max } = callbacksPerSecond;

const standings: Readonly<Record<NotNow, string>> = {
  delivered: 'It has been delivered',
  dead: 'It is dead: replay it',
  waiting: 'It waits for its next try: try it now instead',
  trying: 'A try runs, or is about to begin',
};

/** Why an order is not for a callback as it stands. */
const notNow = (kind: CallbackOrder): Readonly<Record<NotNow, OrderError>> => {
  const code = kind === 'replay' ? 'not-dead' : 'not-waiting';
  const title = kind === 'replay' ? 'Not replayed' : 'Not tried';
  const of = (message: string) => ({ status: 409, code, title, message }) as const;
  return {
    delivered: of(standings.delivered),
    dead: of(standings.dead),
    waiting: of(standings.waiting),
    trying: of(standings.trying),
  };
};

const nothing = (code: string, message: string): OrderError => ({
  status: 409,
  code,
  title: 'There is nothing to do now',
  message,
});

export const callbackErrors = (
  kind: CallbackOrder,
): Readonly<Record<CallbackError | NotNow | 'unknown' | 'busy', OrderError>> => ({
  role: orderErrors.role,
  reason: {
    status: 422,
    code: 'reason',
    title: 'The reason is too long',
    message: 'reason must have at most 500 characters',
  },
  rate: {
    status: 400,
    code: 'bad-request',
    title: 'The rate cannot be read',
    message: `perSecond must be from ${min} to ${max}`,
  },
  nothing:
    kind === 'replay'
      ? nothing('nothing', 'There is no dead callback like that')
      : nothing('nothing-waiting', 'No callback like that waits'),
  unknown: {
    status: 404,
    code: 'unknown',
    title: 'Not done',
    message: 'There is no such callback',
  },
  busy: {
    status: 503,
    code: 'busy',
    title: 'Not done',
    message: 'A worker is busy with it: try again',
  },
  ...notNow(kind),
});

const errors = callbackErrors('replay');

/** By the name that a notice has in the address of a page. */
export const callbackNotices = {
  'callback-replayed': ['good', 'Replayed', 'The callback begins with its first try again.'],
  'callback-tried': ['good', 'Tried now', 'The callback begins with its first try again, now.'],
  'callback-delivered': noticeOf({ ...errors.delivered, title: 'Not done' }),
  'callback-dead': noticeOf({ ...errors.dead, title: 'Not done' }),
  'callback-waiting': noticeOf({ ...errors.waiting, title: 'Not done' }),
  'callback-trying': noticeOf({ ...errors.trying, title: 'Not done' }),
  'callback-busy': noticeOf(errors.busy),
  'callback-rate': noticeOf(errors.rate),
  'callback-reason': noticeOf(errors.reason),
} as const satisfies Record<string, NoticeText>;
