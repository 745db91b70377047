/** Every state that a page can be in, by a name. */
import { failureCauses } from '../../../src/oauth/pages/failure-cause.ts';
import type { PageFrame } from '../../../src/oauth/pages/frame.ts';
import { type LoginView, loginPage, type NumberProblem } from '../../../src/oauth/pages/login-page.ts';
import { type Notice, noticePage } from '../../../src/oauth/pages/notice-page.ts';
import type { LoginLanguage } from '../../../src/registry/oauth-client.ts';

export const frameOf = (language: LoginLanguage, own: Partial<PageFrame> = {}): PageFrame => ({
  language,
  tenantName: 'Canton of Example',
  branding: { color: '#1f5fbf', logoSvg: undefined },
  path: '/oidc',
  clientName: 'Example Shop',
  ...own,
});

const at = '/oidc/interaction/abc';
const form = (name: string) => ({ action: `${at}/${name}`, csrf: 'token-of-the-form' });
const hint = (msisdn: string, byDefault = false) => ({ msisdn, default: byDefault });

const number = (own: Partial<Extract<LoginView, { kind: 'number' }>>): LoginView => ({
  kind: 'number',
  ...form('number'),
  hints: [],
  manualInput: true,
  cancelAction: `${at}/cancel`,
  ...own,
});

const waiting = (own: Partial<Extract<LoginView, { kind: 'waiting' }>>): LoginView => ({
  kind: 'waiting',
  eventsUrl: `${at}/events`,
  stateUrl: `${at}/state`,
  sessionCode: 'K7XW',
  matchNumber: undefined,
  phone: '+41 … 01',
  secondsLeft: 80,
  csrf: 'token-of-the-form',
  cancelAction: `${at}/cancel`,
  ...own,
});

const code = (own: Partial<Extract<LoginView, { kind: 'code' }>>): LoginView => ({
  kind: 'code',
  ...form('code'),
  phone: '+41 … 01',
  triesLeft: 3,
  cancelAction: `${at}/cancel`,
  ...own,
});

const three = [hint('41791234501'), hint('41791234502', true), hint('436641234503')];
const problems: readonly NumberProblem[] = ['missing', 'malformed', 'not-listed', 'limited', 'busy'];

export const loginViews: Readonly<Record<string, LoginView>> = {
  'number empty': number({}),
  'number prefilled': number({ hints: [hint('41791234501', true)] }),
  'number confirm': number({ hints: [hint('41791234501', true)], manualInput: false }),
  'number choice': number({ hints: three, manualInput: false }),
  'number choice or other': number({ hints: three }),
  'number other malformed': number({ hints: three, entered: '079', problem: 'malformed' }),
  'number choice missing': number({ hints: three, manualInput: false, entered: '', problem: 'missing' }),
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
  'code wrong': code({ problem: 'wrong', triesLeft: 2 }),
  'code wrong last': code({ problem: 'wrong', triesLeft: 1 }),
  ...Object.fromEntries(
    failureCauses.map((cause) => [
      `failed ${cause}`,
      { kind: 'failed', cause, reference: 'f3c81a90', returnUrl: `${at}/return` } satisfies LoginView,
    ]),
  ),
  'failed every way': {
    kind: 'failed',
    cause: 'no-method',
    reference: 'f3c81a90',
    retry: form('retry'),
    otherNumber: form('other'),
    textMessage: form('text'),
    returnUrl: `${at}/return`,
  },
  'leaving signed': { kind: 'leaving', url: `${at}/finish`, how: 'signed' },
  'leaving cancelled': { kind: 'leaving', url: `${at}/return`, how: 'cancelled' },
};

const errorCauses = ['request-unusable', 'login-expired', 'cookie-missing', 'internal', 'other'] as const;

const notices: Readonly<Record<string, Notice>> = {
  ...Object.fromEntries(
    errorCauses.map((cause) => [
      `error ${cause}`,
      { kind: 'error', cause, reference: 'mid_req_1900_f3c81a90' } satisfies Notice,
    ]),
  ),
  'log out': {
    kind: 'log-out',
    form: '<form id="op.logoutForm" method="post" action="/oidc/session/end/confirm"><input type="hidden" name="xsrf" value="a1b2"/></form>',
  },
  'logged out': { kind: 'logged-out' },
};

export const everyPage: ReadonlyMap<string, (frame: PageFrame) => string> = new Map([
  ...Object.entries(loginViews).map(
    ([name, view]) => [name, (frame: PageFrame) => loginPage(frame, view)] as const,
  ),
  ...Object.entries(notices).map(
    ([name, notice]) => [name, (frame: PageFrame) => noticePage(frame, notice)] as const,
  ),
]);
