/**
 * Why an order of an operator is not carried out: one table for all faces. The admin API answers
 * with status, code and message, which the command line prints; a page shows title and message in
 * the notice after its form; a plan of many shows the message beside its number. The room that
 * carries out the order gives a reason, and its route names the entry here for each (`satisfies
 * Record<…>`, so that a new reason does not compile without one).
 */
import { answer, refuse } from './answers.ts';
import type { ReplayPlan } from './operators/transaction-bulk.ts';
import type { NoticeText } from './part.ts';

export interface OrderError {
  readonly status: 400 | 403 | 404 | 409 | 422 | 429 | 503;
  /** The name of the error by which programs tell errors apart. */
  readonly code: string;
  readonly title: string;
  /** A sentence without its full stop. Names fields of the API, never values. */
  readonly message: string;
}

/** The errors of orders, by the name that a notice has in the address of a page. */
export const orderErrors = {
  role: {
    status: 403,
    code: 'forbidden',
    title: 'Not allowed',
    message: 'Your role does not allow this',
  },
  reason: {
    status: 422,
    code: 'reason',
    title: 'A reason is needed',
    message: 'Give a reason of at most 500 characters',
  },
  'transaction-unknown': {
    status: 404,
    code: 'unknown',
    title: 'Not done',
    message: 'There is no such transaction',
  },
  'not-failed': {
    status: 409,
    code: 'not-failed',
    title: 'Not replayed',
    message: 'The transaction has not failed, or is being replayed already',
  },
  login: {
    status: 409,
    code: 'login',
    title: 'Not replayed',
    message: 'A login is never replayed: its session has ended',
  },
  workflow: {
    status: 409,
    code: 'workflow',
    title: 'Not replayed',
    message: 'A workflow has asked for it: the workflow asks again, not a replay',
  },
  never: {
    status: 409,
    code: 'never',
    title: 'Not replayed',
    message: 'This fault is never replayed by this service (operations.replay.policy)',
  },
  'too-many': {
    status: 429,
    code: 'too-many',
    title: 'Not replayed',
    message: 'This person has been prompted often enough just now: try again in ten seconds',
  },
  'too-late': {
    status: 409,
    code: 'too-late',
    title: 'Not cancelled',
    message: 'It has ended, or the person has answered',
  },
  busy: {
    status: 503,
    code: 'busy',
    title: 'Not cancelled',
    message: 'A worker is busy with it: try again',
  },
  'bulk-unknown': {
    status: 404,
    code: 'unknown',
    title: 'Not done',
    message: 'There is no such bulk replay',
  },
  nothing: {
    status: 409,
    code: 'nothing',
    title: 'There is nothing to do now',
    message: 'There is nothing to do: what was found has changed, or is gone',
  },
  rate: {
    status: 400,
    code: 'bad-request',
    title: 'The rate cannot be read',
    message: 'perSecond must be above 0 and at most 1000',
  },
  'not-running': {
    status: 409,
    code: 'not-running',
    title: 'Not stopped',
    message: 'It is over, or being stopped already',
  },
  'user-unknown': {
    status: 404,
    code: 'unknown',
    title: 'Not changed',
    message: 'There is no such user',
  },
  'user-configured': {
    status: 409,
    code: 'configured',
    title: 'Not changed',
    message: 'The user is in the configuration file and is changed there',
  },
  'user-number': {
    status: 400,
    code: 'bad-subject',
    title: 'Not changed',
    message: 'Give a mobile number with its country code, or an oidcSubject of 1 to 255 characters',
  },
  'user-taken': {
    status: 409,
    code: 'exists',
    title: 'Not changed',
    message: 'The phone (oidcSubject) belongs to another user',
  },
  oneself: {
    status: 409,
    code: 'oneself',
    title: 'Not changed',
    message: 'Another admin has to change your own user',
  },
} as const satisfies Record<string, OrderError>;

/** Why a bulk leaves a transaction out. */
export const transactionRefusals = {
  login: orderErrors.login.message,
  workflow: orderErrors.workflow.message,
  never: orderErrors.never.message,
  role: orderErrors.role.message,
  reason: orderErrors.reason.title,
  attempts: 'Attempted too often already',
  'not-failed': 'Not failed',
  'not-open': 'Not open any more',
  unknown: 'Not known any more',
} as const satisfies Record<keyof ReplayPlan['refused'], string>;

export type OrderErrorName = keyof typeof orderErrors;

export const noticeOf = ({ title, message }: OrderError): NoticeText => [
  'bad',
  title,
  `${message}.`,
];

/** One of the core, by its name; a part has its own. */
type Named = OrderErrorName | OrderError;

/** The answer of the API. @param message What is wrong with this one, where that is known. */
export const refuseOrder = (named: Named, message?: string): Response => {
  const error = typeof named === 'string' ? orderErrors[named] : named;
  return refuse(error.status, error.code, message ?? error.message);
};

/** The result of an order, as the rooms return it. */
type Result = string | { readonly refused: string };
type NameOf<R> = R extends { readonly refused: infer Why } ? Why & string : R & string;

export const nameOf = <R extends Result>(result: R): NameOf<R> =>
  (typeof result === 'string' ? result : result.refused) as NameOf<R>;

/** @param good The successful result. @param errors The errors of all others. */
export const present = <R extends Result, Good extends string>(
  result: R,
  good: Good,
  errors: Readonly<Record<Exclude<NameOf<R>, Good>, Named>>,
): Response => {
  const name: string = nameOf(result);
  if (name === good) return answer({ result: name });
  return refuseOrder(errors[name as Exclude<NameOf<R>, Good>]);
};
