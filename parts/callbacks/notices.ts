/** What a page says of a replay of callbacks, and why one is not done. */
import { noticeOf, type OrderError, orderErrors } from '../../src/console/order-errors.ts';
import type { NoticeText } from '../../src/console/part.ts';
import { type CallbackError, callbacksPerSecond } from './replays.ts';

const { min, max } = callbacksPerSecond;

export const callbackErrors = {
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
  nothing: {
    status: 409,
    code: 'nothing',
    title: 'There is nothing to do now',
    message: 'There is no dead callback like that',
  },
  unknown: {
    status: 404,
    code: 'unknown',
    title: 'Not done',
    message: 'There is no such callback',
  },
  'not-dead': {
    status: 409,
    code: 'not-dead',
    title: 'Not replayed',
    message: 'It has been delivered, or will be tried again by itself',
  },
} as const satisfies Record<CallbackError | 'unknown' | 'not-dead', OrderError>;

export const callbackNotices = {
  'callback-replayed': ['good', 'Replayed', 'The callback begins with its first try again.'],
  'callback-not-dead': noticeOf(callbackErrors['not-dead']),
  'callback-rate': noticeOf(callbackErrors.rate),
  'callback-reason': noticeOf(callbackErrors.reason),
} as const satisfies Record<string, NoticeText>;
