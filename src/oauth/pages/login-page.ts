/** The pages that a person sees between the client's “log in” and the way back. Pure: from a model to text. */
import { codePage } from './code-page.ts';
import { failedPage } from './failed-page.ts';
import type { PageFrame } from './frame.ts';
import { leavingPage } from './leaving-page.ts';
import { numberPage } from './number-page.ts';
import type { LoginView } from './views.ts';
import { waitingPage } from './waiting-page.ts';

export type { FailureCause } from './failure-cause.ts';
export type { LoginView, NumberProblem } from './views.ts';

export const loginPage = (frame: PageFrame, view: LoginView): string => {
  switch (view.kind) {
    case 'number':
      return numberPage(frame, view);
    case 'waiting':
      return waitingPage(frame, view);
    case 'code':
      return codePage(frame, view);
    case 'failed':
      return failedPage(frame, view);
    case 'leaving':
      return leavingPage(frame, view);
  }
};
