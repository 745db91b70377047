/** What pages say of orders to workflows, and why one is not carried out. */
import { noticeOf, type OrderError, orderErrors } from '../../../src/console/order-errors.ts';
import type { NoticeText } from '../../../src/console/part.ts';

const ownErrors = {
  'workflow-unknown': {
    status: 404,
    code: 'unknown',
    title: 'Not done',
    message: 'There is no such workflow',
  },
  'workflow-undefined': {
    status: 409,
    code: 'undefined',
    title: 'Not done',
    message:
      'No definition of this workflow is known: name its file in workflows of the configuration (in a shell, set PARAPH_CONFIG as for the service)',
  },
  'workflow-ended': {
    status: 409,
    code: 'ended',
    title: 'Not done',
    message: 'The workflow has ended',
  },
  'workflow-gone': {
    status: 404,
    code: 'unknown',
    title: 'Not done',
    message: 'There is no such workflow, or it has ended',
  },
  'workflow-busy': {
    status: 503,
    code: 'busy',
    title: 'Not done',
    message: 'A worker is busy with it: try again',
  },
  'workflow-too-late': {
    status: 409,
    code: 'too-late',
    title: 'Not cancelled',
    message: 'The workflow takes no cancel in its state',
  },
  'workflow-not-failed': {
    status: 409,
    code: 'not-failed',
    title: 'Not run again',
    message: 'The workflow has not failed, or runs again already',
  },
  'workflow-no-replay': {
    status: 409,
    code: 'refused',
    title: 'Not run again',
    message:
      'The chart has ended and takes no REPLAY: its author adds it, or the application starts a new instance (docs/operations/replay.md)',
  },
  'event-refused': {
    status: 409,
    code: 'refused',
    title: 'Not taken',
    message: 'The workflow takes no such event in its state',
  },
  'event-invalid': {
    status: 400,
    code: 'bad-request',
    title: 'Not sent',
    message: 'The workflow takes no event with these members',
  },
} as const satisfies Record<string, OrderError>;

/** `reason` is of the core. */
export type WorkflowErrorName = keyof typeof ownErrors | 'reason';

export const workflowError = (name: WorkflowErrorName): OrderError =>
  name === 'reason' ? orderErrors.reason : ownErrors[name];

/** The errors behind the names of a route, for the answers of the API. */
export const workflowErrors = <Key extends string>(
  names: Readonly<Record<Key, WorkflowErrorName>>,
): Readonly<Record<Key, OrderError>> => {
  const entries = Object.entries<WorkflowErrorName>(names);
  return Object.fromEntries(entries.map(([key, name]) => [key, workflowError(name)])) as Readonly<
    Record<Key, OrderError>
  >;
};

const good = {
  'workflow-cancelled': ['good', 'Cancelled', 'Nobody is asked any more.'],
  'workflow-replayed': ['good', 'Runs again', 'It goes on where it failed.'],
  'event-taken': ['good', 'Sent', 'The workflow has taken the event.'],
} as const satisfies Record<string, NoticeText>;

/** By the name that a notice has in the address of a page. */
export const workflowNotices: Readonly<Record<string, NoticeText>> = {
  ...good,
  ...Object.fromEntries(Object.entries(ownErrors).map(([name, error]) => [name, noticeOf(error)])),
  'event-data': ['bad', 'Not sent', 'Choose a type, and give the other members as a JSON object.'],
};

export type WorkflowNotice = keyof typeof good | WorkflowErrorName | 'event-data';
