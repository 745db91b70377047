/** Every state that the page of a signer can be in, by a name. */
import type { PageFrame } from '../../../../src/http/pages/assets.ts';
import type { EveryPage } from '../../../../test/http/pages/page-contract.ts';
import { type NoticeCause, type TaskView, taskNotice, taskPage } from '../../tasks/task-page.ts';
import type { AskProblem, Task, TaskState } from '../../tasks/tasks.ts';
import { en } from '../../tasks/words-en.ts';

export const now = Date.UTC(2026, 9, 12, 14, 3);

export const viewOf = (
  state: TaskState,
  own: Partial<Task> = {},
  more: Partial<TaskView> = {},
): TaskView => ({
  pagePath: '/tasks/token-of-the-link',
  csrf: 'token-of-the-form',
  now,
  task: {
    application: 'Example Insurance',
    title: 'Contract 4711',
    step: 'board',
    name: 'Anna Muster',
    msisdn: '41791234501',
    text: 'Contract 4711: I agree to the terms of 1 October 2026.',
    signed: [{ name: 'Beat Beispiel', at: now - 86_400_000 }],
    state,
    ...own,
  },
  ...more,
});

const open = { kind: 'open', mayAsk: true } as const;
const ends = ['signed', 'refused', 'withdrawn'] as const;

export const taskViews: Readonly<Record<string, TaskView>> = {
  open: viewOf(open),
  'open first': viewOf(open, { title: undefined, signed: [] }),
  'open exhausted': viewOf({ kind: 'open', mayAsk: false, problem: 'expired' }),
  ...Object.fromEntries(
    (['expired', 'unreachable', 'busy', 'limited', 'failed'] satisfies AskProblem[]).map(
      (problem) => [`open ${problem}`, viewOf({ ...open, problem })],
    ),
  ),
  'open busy service': viewOf(open, {}, { formError: { problem: 'service' } }),
  'open reason too long': viewOf(
    open,
    {},
    { formError: { problem: 'tooLong', reason: 'Because …' } },
  ),
  asking: viewOf({ kind: 'asking', deadline: now + 80_000 }),
  ...Object.fromEntries(
    ends.map((how) => [`ended ${how}`, viewOf({ kind: 'ended', how, at: now })]),
  ),
};

export const everyTaskPage: EveryPage = new Map([
  ...Object.entries(taskViews).map(
    ([name, view]) => [name, (frame: PageFrame) => taskPage(frame, view)] as const,
  ),
  ...(Object.keys(en.notices) as NoticeCause[]).map(
    (cause) => [`notice ${cause}`, (frame: PageFrame) => taskNotice(frame, cause)] as const,
  ),
]);
