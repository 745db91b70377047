/** Every state that a page can be in, by a name. */

import type { PageFrame } from '../../../src/http/pages/assets.ts';
import { loginPage } from '../../../src/oauth/pages/login-page.ts';
import { noticePage } from '../../../src/oauth/pages/page.ts';
import type {
  FailureCause,
  LoginView,
  Notice,
  NoticeCause,
  NumberError,
  ViewOf,
} from '../../../src/oauth/pages/views.ts';
import { en } from '../../../src/oauth/pages/words-en.ts';
import type { EveryPage } from '../../http/pages/page-contract.ts';

const login = { pagePath: '/oidc/interaction/abc', csrf: 'token-of-the-form' };
const hint = (msisdn: string, byDefault = false) => ({ msisdn, default: byDefault });

const number = (own: Partial<ViewOf<'number'>>): LoginView => ({
  ...login,
  kind: 'number',
  hints: [],
  manualInput: true,
  phoneStart: 'off',
  ...own,
});

const waiting = (own: Partial<ViewOf<'waiting'>>): LoginView => ({
  ...login,
  kind: 'waiting',
  sessionCode: 'K7XW',
  matchNumber: undefined,
  phone: '+41 … 01',
  secondsLeft: 80,
  ...own,
});

const code = (own: Partial<ViewOf<'code'>>): LoginView => ({
  ...login,
  kind: 'code',
  phone: '+41 … 01',
  wrong: false,
  triesLeft: 3,
  ...own,
});

const three = [hint('41791234501'), hint('41791234502', true), hint('436641234503')];
const problems: readonly NumberError[] = ['missing', 'malformed', 'not-listed', 'limited', 'busy'];

export const loginViews: Readonly<Record<string, LoginView>> = {
  'number empty': number({}),
  'number or phone': number({ phoneStart: 'offered' }),
  'number by phone': number({ phoneStart: 'required' }),
  'number prefilled': number({ hints: [hint('41791234501', true)] }),
  'number confirm': number({ hints: [hint('41791234501', true)], manualInput: false }),
  'number choice': number({ hints: three, manualInput: false }),
  'number choice or other': number({ hints: three }),
  'number other malformed': number({ hints: three, entered: '079', problem: 'malformed' }),
  'number choice missing': number({
    hints: three,
    manualInput: false,
    entered: '',
    problem: 'missing',
  }),
  'number confirm limited': number({
    hints: [hint('41791234501', true)],
    manualInput: false,
    entered: '+41791234501',
    problem: 'limited',
  }),
  ...Object.fromEntries(
    problems.map((problem) => [`number ${problem}`, number({ entered: '+41 79 12', problem })]),
  ),
  waiting: waiting({}),
  'waiting match': waiting({ matchNumber: '42' }),
  'waiting nearly over': waiting({ secondsLeft: 7 }),
  code: code({}),
  'code wrong': code({ wrong: true, triesLeft: 2 }),
  'code wrong last': code({ wrong: true, triesLeft: 1 }),
  ...Object.fromEntries(
    (Object.keys(en.failed.causes) as FailureCause[]).map((cause) => [
      `failed ${cause}`,
      { ...login, kind: 'failed', cause, reference: 'f3c81a90', ways: [] } satisfies LoginView,
    ]),
  ),
  'failed every way': {
    ...login,
    kind: 'failed',
    cause: 'no-method',
    reference: 'f3c81a90',
    ways: ['text', 'retry', 'other'],
  },
  'leaving signed': { ...login, kind: 'leaving', how: 'signed' },
  'leaving cancelled': { ...login, kind: 'leaving', how: 'cancelled' },
};

const notices: Readonly<Record<string, Notice>> = {
  ...Object.fromEntries(
    (Object.keys(en.notices) as NoticeCause[]).map((cause) => [
      `error ${cause}`,
      { kind: 'error', cause, reference: 'mid_req_1900_f3c81a90' } satisfies Notice,
    ]),
  ),
  'log out': {
    kind: 'log-out',
    form: '<form id="op.logoutForm" method="post" action="/oidc/session/end/confirm"><input type="hidden" name="xsrf" value="a1b2"/></form>',
  },
  'logged out': { kind: 'logged-out' },
  'still logged in': { kind: 'still-logged-in' },
};

export const everyPage: EveryPage = new Map([
  ...Object.entries(loginViews).map(
    ([name, view]) => [name, (frame: PageFrame) => loginPage(frame, view)] as const,
  ),
  ...Object.entries(notices).map(
    ([name, notice]) => [name, (frame: PageFrame) => noticePage(frame, notice)] as const,
  ),
]);
