import type { NoticeText } from '../../../src/console/part.ts';

export const workflowNotices = {
  'workflow-cancelled': ['good', 'Cancelled', 'Nobody is asked any more.'],
  'workflow-ended': ['bad', 'Not done', 'The workflow has ended.'],
  'workflow-undefined': ['bad', 'Not done', 'The service has no definition of this workflow.'],
  'workflow-busy': ['bad', 'Not done', 'A worker was busy with it. Try again.'],
  'workflow-replayed': ['good', 'Runs again', 'Its chart gets REPLAY.'],
  'workflow-not-failed': [
    'bad',
    'Not run again',
    'It has not failed, runs again already, or takes no REPLAY.',
  ],
  'event-taken': ['good', 'Sent', 'The workflow has taken the event.'],
  'event-refused': ['bad', 'Not taken', 'The workflow takes no such event in its state.'],
  'event-invalid': ['bad', 'Not sent', 'The workflow takes no event with these members.'],
  'event-data': ['bad', 'Not sent', 'Choose a type, and give the other members as a JSON object.'],
  'workflow-too-late': ['bad', 'Not cancelled', 'It takes no cancel in its state.'],
  asked: ['good', 'Asked again', 'The signatures of the others stay.'],
  'not-asked': ['bad', 'Not asked', 'The signer has an open prompt, or the step is over.'],
} as const satisfies Record<string, NoticeText>;

/** By its name; `reason` is of the core. */
export type WorkflowNotice = keyof typeof workflowNotices | 'reason';
