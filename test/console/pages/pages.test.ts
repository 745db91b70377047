import { describe, expect, it } from 'vitest';
import type { CallbackRow } from '../../../parts/callbacks/callback-row.ts';
import { callbackNotices } from '../../../parts/callbacks/notices.ts';
import { callbacksPage, callbacksSection } from '../../../parts/callbacks/page.ts';
import { callbackBulkPage, callbackPlanPage } from '../../../parts/callbacks/plan-page.ts';
import { receiversOf } from '../../../parts/callbacks/receivers.ts';
import type { ConsoleSession } from '../../../src/console/deps.ts';
import { readFilter } from '../../../src/console/filter.ts';
import type { Role } from '../../../src/console/operators/operator.ts';
import { usualView } from '../../../src/console/operators/views.ts';
import { assets } from '../../../src/console/pages/assets.ts';
import { auditPage } from '../../../src/console/pages/audit-page.ts';
import { count, counted, duration } from '../../../src/console/pages/markup.ts';
import { readNotice } from '../../../src/console/pages/notices.ts';
import {
  niceTop,
  type OverviewModel,
  overviewPage,
} from '../../../src/console/pages/overview-page.ts';
import { planPage } from '../../../src/console/pages/plan-pages.ts';
import { refusalsPage } from '../../../src/console/pages/refusals-page.ts';
import { replayPage, replaysPage } from '../../../src/console/pages/replays-page.ts';
import {
  enteredPage,
  linkPage,
  loginPage,
  messagePage,
  strangerPage,
} from '../../../src/console/pages/session-pages.ts';
import { tokensPage } from '../../../src/console/pages/tokens-page.ts';
import { transactionBulkFace } from '../../../src/console/pages/transaction-bulk-face.ts';
import { type ReplayOffer, transactionPage } from '../../../src/console/pages/transaction-page.ts';
import { transactionsPage } from '../../../src/console/pages/transactions-page.ts';
import { usersPage } from '../../../src/console/pages/users-page.ts';
import type { TransactionDetail } from '../../../src/console/transaction-detail.ts';
import type { Overview } from '../../../src/transactions/history/overview.ts';
import type { Refusals } from '../../../src/transactions/history/refusals.ts';

const evil = `<img src=x onerror=alert(1)>"'&`;
const at = Date.UTC(2026, 10, 21, 14, 3, 9, 120);

const session = (role: Role = 'admin'): ConsoleSession => ({
  operator: { name: 'olga', role, via: 'oidc' },
  csrf: 'the-csrf-token',
  id: 'session',
  view: usualView,
  frame: {
    sections: [
      ['callbacks', '/admin/callbacks', 'Callbacks', 'viewer', 'Transactions'],
      ['workflows', '/admin/workflows', 'Workflows', 'viewer', 'Workflows'],
    ],
    notices: callbackNotices,
    actions: {},
  },
  at,
});

const row = {
  msspTransId: `H01${evil}`,
  apId: evil,
  apTransId: evil,
  msisdn: '+41791234567',
  profile: 'Any-LoA4' as const,
  state: 'failed' as const,
  fault: { code: 401, reason: 'USER_CANCEL', detail: evil },
  attempt: 2,
  submittedAt: at,
  endedAt: at + 4200,
  tookMs: 4200,
};

const detail: TransactionDetail = {
  transaction: row,
  links: { log: undefined, trace: undefined },
  upstreams: [{ attempt: 1, gateway: evil, msspTransId: evil }],
  deadline: undefined,
  request: {
    msisdn: '+41791234567',
    messagingMode: 'asynch',
    timeoutSeconds: 60,
    instant: evil,
    services: [evil],
    language: evil,
    data: { kind: 'transaction-approval', text: evil, dtbd: evil },
  },
  outcome: undefined,
  timeline: [
    { kind: 'state', at, attempt: 1, state: 'submitted' },
    { kind: 'state', at: at + 9, attempt: 1, state: 'pending' },
    {
      kind: 'action',
      at: at + 10,
      action: 'replay',
      who: evil,
      via: 'oidc',
      reason: evil,
      outcome: evil,
    },
    {
      kind: 'state',
      at: at + 20,
      attempt: 2,
      state: 'submitted',
      by: { who: evil, order: `B${evil}` },
    },
    { kind: 'state', at: at + 30, attempt: 2, state: 'failed', fault: row.fault },
  ],
};

const callback: CallbackRow = {
  id: `H01${evil}-1-failed`,
  msspTransId: `H01${evil}`,
  apId: evil,
  apTransId: evil,
  attempt: 1,
  event: 'failed',
  endedAt: at,
  state: 'dead',
  tries: 10,
  problem: evil,
  triedAt: at,
  nextTryAt: at,
  host: evil,
};

const overview: Overview = {
  since: at - 3_600_000,
  submitted: 120,
  signed: 90,
  failed: 30,
  faults: [
    { code: 401, reason: 'USER_CANCEL', count: 20 },
    { code: 999, reason: undefined, count: 10 },
  ],
  timeToSignMs: { p50: 840, p90: 4200, p99: 61_000 },
  queue: { waiting: 1, active: 2, delayed: 3 },
  series: Array.from({ length: 60 }, (_, index) => ({
    at: at - (60 - index) * 60_000,
    submitted: index,
    signed: index / 2,
    failed: 1,
  })),
};

const overviewOf = (
  of: ConsoleSession,
  told: Overview,
  changes: Partial<OverviewModel> = {},
): string =>
  overviewPage({
    session: of,
    tiles: [['Of a part', evil]],
    needs: [
      { kind: 'evil', count: 3, text: evil, page: '/admin/callbacks' },
      { kind: 'evil', count: 1, text: 'Only for admins', page: '/admin/users', role: 'admin' },
    ],
    range: '1h',
    overview: told,
    refused: 7,
    processes: [
      { part: 'api', host: evil, pid: 7, version: evil, startedAt: at, clockOffsetMs: -3200, at },
    ],
    now: at,
    ...changes,
  });

const refused = { apId: evil, isRegistered: false, fault: 101, reason: undefined, detail: evil };
const refusals: Refusals = {
  counts: [{ ...refused, lastHour: 1, lastDay: 2 }],
  latest: [{ ...refused, operation: evil, at, count: 1 }],
};

const counts = {
  waiting: 1,
  inFlight: 2,
  signed: 3,
  failed: { 401: 4 },
  cancelled: 0,
  done: 0,
  changed: 0,
  gone: 0,
  refused: 0,
};
const bulk = {
  id: 'B0123456789abcdef',
  by: evil,
  reason: evil,
  perSecond: 5,
  createdAt: at,
  state: 'running' as const,
  endedAt: undefined,
  total: 10,
  counts: undefined,
  ...counts,
};

const plan = {
  found: 12,
  replayable: 10,
  numbers: 7,
  mostOfOne: 2,
  byFault: { 401: 10 },
  byAp: { [evil]: 10 },
  refused: {
    login: 0,
    workflow: 0,
    never: 2,
    role: 0,
    reason: 0,
    attempts: 0,
    'not-failed': 0,
    'not-open': 0,
    unknown: 0,
  },
  first: [row],
  truncated: false,
};

const listOf = (role: Role = 'admin', fields: Readonly<Record<string, string>> = {}): string =>
  transactionsPage({
    session: session(role),
    read: readFilter(fields),
    rows: [row],
    total: 1,
    next: 'a.b.c',
    isFirst: true,
    apIds: [evil],
    numbers: [evil],
    notice: undefined,
  });

const detailWith = (
  offer: ReplayOffer,
  role: Role = 'operator',
  state: CallbackRow['state'] = 'waiting',
  shown: TransactionDetail = detail,
): string =>
  transactionPage({
    session: session(role),
    detail: shown,
    offer,
    sections: [
      { name: 'callbacks', html: callbacksSection(session(role), [{ ...callback, state }], evil) },
    ],
    notice: undefined,
  });

const face = transactionBulkFace({
  name: 'transactions',
  select: () => Promise.reject(new Error('Pages only show')),
});

const replayOf = (role: Role = 'operator'): string =>
  replayPage({
    session: session(role),
    report: { ...bulk, items: [{ id: evil, result: 'failed', fault: 401 }] },
    face,
    from: 0,
    notice: undefined,
  });

const planOf = (problem?: 'reason' | 'more'): string =>
  planPage({
    session: session(),
    face,
    kind: 'replay',
    form: { apId: evil },
    written: {},
    ids: [evil],
    plan,
    problem,
    reason: evil,
    perSecond: '5',
  });

const usersOf = (): string =>
  usersPage({
    session: session(),
    users: [
      { name: 'olga', role: 'admin', origin: 'stored', oidcSubject: null },
      { name: 'vera', role: 'viewer', origin: 'stored', oidcSubject: 'subject' },
      { name: 'conrad', role: 'viewer', origin: 'configuration', oidcSubject: null },
    ],
    phones: true,
  });

const tokensOf = (role: Role): string =>
  tokensPage({
    session: session(role),
    tokens: [{ id: evil, name: evil, label: evil, createdAt: at, expiresAt: at }],
    owners: [evil],
    problem: 'label',
    secret: { name: evil, token: evil },
  });

const pages: readonly (readonly [string, string])[] = [
  [
    'login',
    loginPage({
      problem: { way: 'provider', problem: 'failed' },
      phoneAddress: `/admin/${evil}`,
      provider: { address: `/admin/${evil}`, name: evil },
      sandbox: true,
    }),
  ],
  ['link', linkPage({ token: evil })],
  ['message', messagePage(404, evil, evil)],
  ['overview', overviewOf(session(), overview)],
  ['refusals', refusalsPage(session(), refusals, { apId: evil, fault: 101 })],
  ['list', listOf('admin', { text: evil, state: evil })],
  ['list of rows', listOf('admin', { text: evil })],
  ['transaction', detailWith('reason')],
  ['plan', planOf()],
  ['replays', replaysPage(session(), [bulk])],
  ['replay', replayOf()],
  [
    'audit',
    auditPage({
      session: session(),
      read: { form: { who: evil, target: evil, from: '2026-11-21T14:03' }, problems: {} },
      page: {
        entries: [
          {
            id: '1-0',
            at,
            who: evil,
            via: 'link',
            action: 'replay',
            target: evil,
            reason: evil,
            details: { [evil]: evil },
          },
        ],
        cursor: '1-0',
      },
      isFirst: true,
      actions: ['replay'],
    }),
  ],
  ['users', usersOf()],
  ['tokens', tokensOf('viewer')],
  ['tokens of all', tokensOf('admin')],
  ['login done', enteredPage({ name: evil, next: `/admin/${evil}` })],
  ['stranger', strangerPage({ subject: evil })],
  [
    'callbacks',
    callbacksPage({
      session: session(),
      state: 'dead',
      failing: {
        ...{ retried: 1, dead: 2, isWhole: false },
        receivers: receiversOf([{ ...callback, host: evil, problem: evil }]),
      },
      apId: evil,
      rows: [callback, { ...callback, id: `${callback.id}-2` }],
      next: '1.x',
      isFirst: false,
      apIds: [evil],
      notice: callbackNotices['callback-waiting'],
    }),
  ],
  [
    'callbacks that are tried again',
    callbacksPage({
      session: session(),
      state: 'retried',
      failing: {
        ...{ retried: 1, dead: 2, isWhole: false },
        receivers: receiversOf([{ ...callback, host: evil, problem: evil }]),
      },
      apId: evil,
      rows: [
        { ...callback, state: 'waiting', nextTryAt: at },
        { ...callback, id: `${callback.id}-2` },
      ],
      next: '1.x',
      isFirst: false,
      apIds: [evil],
      notice: callbackNotices['callback-waiting'],
    }),
  ],
  [
    'callback plan',
    callbackPlanPage({
      session: session(),
      kind: 'replay',
      apId: evil,
      to: at,
      plan: { found: 2, byAp: { [evil]: 2 }, truncated: true },
      problem: 'rate',
      reason: evil,
      perSecond: evil,
    }),
  ],
  [
    'callbacks replayed',
    callbackBulkPage(session(), 'replay', evil, {
      found: 2,
      replayed: 1,
      left: 1,
      truncated: true,
    }),
  ],
];

describe.each(pages)('the page %s', (_, page) => {
  it('escapes whatever others have written', () => {
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/onerror=alert\(1\)>/);
  });

  it('has nothing that the strict policy would refuse', () => {
    expect(page).not.toMatch(/<style|\sstyle=/);
    expect(page.replaceAll(/&[a-z]+;|&#\d+;/g, '')).not.toMatch(/<[^>]*\son[a-z]+="/);
    expect(page).not.toMatch(/<script(?! src="\/admin\/assets\/)/);
    expect(page).not.toMatch(/(?:href|src|action)="(?!\/admin|#)/);
  });

  it('has a heading, a language, no id twice, and a label for each field', () => {
    expect(page.match(/<h1/g)).toHaveLength(1);
    expect(page).toContain('<html lang="en">');
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    for (const [field] of page.matchAll(/<(?:input|select|textarea)\s[^>]*>/g)) {
      if (field.includes('type="hidden"')) continue;
      const id = /\sid="([^"]+)"/.exec(field)?.[1];
      expect(page).toContain(`<label for="${id}"`);
    }
    for (const [, id] of page.matchAll(/aria-(?:describedby|labelledby)="([^"]+)"/g))
      expect(ids).toContain(id);
  });

  it('sends no form that changes something without the token of the session', () => {
    const forms = [...page.matchAll(/<form[^>]*method="post"[^>]*>([\s\S]*?)<\/form>/g)];
    for (const [form, inside] of forms) {
      if (/action="\/admin\/login/.test(form)) continue;
      expect(inside).toContain('name="csrf" value="the-csrf-token"');
    }
  });
});

describe('the pages', () => {
  it('lead where the role may go', () => {
    const links = (role: Role) =>
      [...listOf(role).matchAll(/<a class="entry" href="([^"]+)"/g)].map(([, href]) => href);
    expect(links('viewer')).toEqual([
      '/admin',
      '/admin/transactions',
      '/admin/refusals',
      '/admin/replays',
      '/admin/callbacks',
      '/admin/workflows',
      '/admin/queues',
      '/admin/tokens',
    ]);
    expect(links('operator')).toContain('/admin/audit');
    expect(links('operator')).not.toContain('/admin/users');
    expect(links('admin')).toContain('/admin/users');
  });

  it('show the text that was signed as the phone shows it', () => {
    const data = { ...detail.request?.data, text: 'Pay 10\u{e0041}\u00ad CHF', dtbd: '9\u0338' };
    const request = detail.request && { ...detail.request, data };
    const page = detailWith('none', 'operator', 'waiting', {
      ...detail,
      request,
    } as TransactionDetail);
    expect(page).toContain('<p class="said">Pay 10[U+E0041][U+00AD] CHF</p>');
    expect(page).toContain('<p class="said code">9[U+0338]</p>');
  });

  it('offer a viewer neither a replay nor a search by number', () => {
    expect(listOf('viewer')).not.toContain('/admin/replays/plan');
    expect(listOf('viewer')).not.toContain('name="msisdn"');
    expect(listOf('operator')).toContain('/admin/replays/plan');
    expect(listOf('operator')).toContain('name="msisdn"');
    expect(detailWith('none', 'viewer')).not.toContain('/replay"');
    expect(replayOf('viewer')).not.toContain('/stop"');
    expect(replayOf('viewer')).not.toContain('Reason');
  });

  it('offer a replay of dead callbacks, to those who may', () => {
    expect(detailWith('none', 'operator', 'dead')).toContain('-1-failed/replay"');
    expect(detailWith('none', 'viewer', 'dead')).not.toContain('/replay"');
    for (const state of ['waiting', 'delivered'] as const) {
      expect(detailWith('none', 'operator', state)).not.toContain('/replay"');
    }
  });

  it('offer to replay only what may have failed', () => {
    expect(listOf('operator', { state: 'failed', fault: '401' })).toContain(
      '/admin/replays/plan?fault=401',
    );
    expect(listOf('operator', { state: 'signed' })).not.toContain('/admin/replays/plan');
  });

  it('ask for a reason where the policy wants one', () => {
    expect(detailWith('reason')).toMatch(/<textarea[^>]*required/);
    expect(detailWith('plain')).not.toMatch(/<textarea[^>]*required/);
    expect(detailWith('never')).not.toContain('<textarea');
    expect(detailWith('never')).toContain('never replayed');
    expect(detailWith('login')).not.toContain('/replay"');
    expect(detailWith('login')).toContain('A login is never replayed');
    expect(detailWith('role')).toContain('Your role does not allow');
  });

  it('say which field of a filter is wrong, and list nothing', () => {
    const page = listOf('operator', { msisdn: 'me' });
    expect(page).toContain('aria-invalid="true" aria-describedby="e-msisdn"');
    expect(page).toContain('<title>Error: Transactions');
    expect(page).not.toContain('<table');
  });

  it('show how many would be prompted before they are', () => {
    expect(planOf()).toContain('Replay 10 transactions');
    expect(planOf()).toContain('7 people');
    expect(planOf()).toContain('… and 9 more');
    expect(planOf()).toContain('name="expected" value="10"');
    expect(planOf('more')).toContain('There are more now');
  });

  it('say outside of a sandbox how a link is made, plainly where there is no other way in', () => {
    const page = loginPage({ sandbox: false });
    expect(page).toContain('<h2 id="way-in">Log in by a link</h2>');
    const withPhone = loginPage({ phoneAddress: '/admin/login/oidc', sandbox: false });
    expect(withPhone).toContain('<summary>You cannot log in?</summary>');
    expect(page).not.toContain('npx');
  });

  it('break the reason of a fault between its words, and not within them', () => {
    expect(detailWith('none')).toContain(
      '<dt>Fault</dt><dd>401 <small>USER_<wbr>CANCEL<wbr></small>',
    );
  });

  it('compare the attempts of a transaction that has several', () => {
    const page = detailWith('none');
    expect(page.match(/<th scope="col">Attempt \d</g)).toHaveLength(2);
    expect(page).toMatch(/<th scope="row">Took<\/th><td>.*<\/td><td>10 ms<\/td>/);
  });

  it('offer no change of oneself, nor of a user of the configuration file', () => {
    const page = usersOf();
    expect(page).toContain('action="/admin/users/vera/remove"');
    expect(page).not.toContain('action="/admin/users/olga/');
    expect(page).not.toContain('action="/admin/users/conrad/');
  });

  it('take no words from the address', () => {
    expect(readNotice('replayed')).toMatchObject(['good', 'Replayed', expect.any(String)]);
    expect(readNotice('toString')).toBeUndefined();
    expect(readNotice('You have been hacked')).toBeUndefined();
  });

  it('say for each chart what it shows', () => {
    const page = overviewOf(session('viewer'), overview);
    const charts = page.match(/<svg class="chart"/g) ?? [];
    expect(charts).toHaveLength(1);
    expect(page.match(/<summary>The chart as a table/g)).toHaveLength(1);
    expect(page.match(/text-anchor="end">[^<]+ UTC<\/text><\/svg>/g)).toHaveLength(1);
    expect(page).toContain('75.0 %');
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('lead from a number to what it counts, in its time, and name transactions and attempts', () => {
    const page = overviewOf(session('viewer'), overview);
    const since = new Date(overview.since).toISOString().slice(0, -1);
    const from = `from=${encodeURIComponent(since)}`;
    expect(page).toContain(`href="/admin/transactions?state=failed&amp;fault=401&amp;${from}"`);
    expect(page).toContain(`href="/admin/transactions?${from}"`);
    expect(page).toContain('<dt>Transactions submitted</dt>');
    expect(page).toContain('90 of 120 that ended');
    expect(page).toContain('<a href="/admin/refusals">7</a>');
  });

  it('say which range is shown and link to the others', () => {
    const page = overviewOf(session(), overview, { range: '30d', refused: undefined });
    expect(page).toContain('data-every="15"');
    expect(page).toContain('Last 30 days');
    expect(page).toContain('href="/admin?range=15m"');
    expect(page).toMatch(/<strong aria-current="true">.*Last 30 days: <\/span>30d<\/strong>/);
    expect(page.match(/<h2 id="last-/g)).toHaveLength(1);
    expect(page).not.toContain('Requests refused');
  });

  it('begin with what needs a person, each with a link for those who may open it', () => {
    const page = overviewOf(session('operator'), overview);
    const [needs = ''] = /<ul class="needs">.*?<\/ul>/s.exec(page) ?? [];
    expect(needs).toContain('<li><a href="/admin/callbacks">&lt;img');
    expect(needs).toContain('<li>Only for admins</li>');
    expect(page.indexOf(needs)).toBeLessThan(page.indexOf('<h2 id="now">'));
    expect(overviewOf(session(), overview, { needs: [] })).toContain('Nothing needs attention.');
  });

  it('stand when nothing has happened', () => {
    const empty: Overview = {
      ...overview,
      submitted: 0,
      signed: 0,
      failed: 0,
      faults: [],
      timeToSignMs: undefined,
      series: [],
    };
    const page = overviewOf(session(), empty);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
    expect(page).toContain('None signed.');
  });

  it('load assets whose addresses change with them', () => {
    const [, page = ''] = pages[3] ?? [];
    for (const [, name = ''] of page.matchAll(/"\/admin\/assets\/([a-z.]+)\?v=[\w-]{12}"/g)) {
      expect(Object.keys(assets)).toContain(name);
    }
    expect(page.match(/\/admin\/assets\//g)).toHaveLength(3);
  });
});

describe('a list without rows', () => {
  const empty = (fields: Readonly<Record<string, string>>, isFirst = true, next?: string): string =>
    transactionsPage({
      session: session('operator'),
      read: readFilter(fields),
      rows: [],
      total: 0,
      next,
      isFirst,
      apIds: [],
      numbers: [],
      notice: undefined,
    });

  it.each([
    ['at first what to do', empty({}), '<code>paraph sign &lt;number&gt;'],
    ['with a filter how to clear it', empty({ apId: 'x' }), '<a href="/admin/transactions">Clear'],
    [
      'on a later page the way back',
      empty({}, false),
      '<a href="/admin/transactions">See the newest',
    ],
    [
      'on a page before others the way on',
      empty({}, true, 'a'),
      'cursor=a">See older transactions',
    ],
    ['of bulks where they are ordered', replaysPage(session(), []), 'state=failed">failed</a>'],
    [
      'of refused requests where the others are',
      refusalsPage(session(), { counts: [], latest: [] }, {}),
      'href="/admin/transactions">transactions</a>',
    ],
    [
      'of callbacks in the other list that of its filter',
      callbacksPage({
        session: session(),
        state: 'retried',
        failing: { dead: 0, retried: 0, isWhole: true, receivers: [] },
        apId: 'x',
        rows: [],
        next: undefined,
        isFirst: true,
        apIds: [],
        notice: undefined,
      }),
      '<a href="/admin/callbacks?state=retried">Clear the filter',
    ],
    [
      'of users the form',
      usersPage({ session: session(), users: [], phones: true }),
      '<a href="#add">Add the first',
    ],
    [
      'of tokens the form',
      tokensPage({ session: session(), tokens: [], owners: ['olga'] }),
      '<a href="#add">Make one',
    ],
    [
      'of the audit log what will be there',
      auditPage({
        session: session(),
        read: { form: {}, problems: {} },
        page: { entries: [] },
        isFirst: true,
        actions: [],
      }),
      'Logins and orders of operators',
    ],
  ])('says %s, in one sentence, and has no head', (_, page, next) => {
    const sentences = page.match(/<p class="empty">.*?<\/p>/gs) ?? [];
    expect(sentences).toHaveLength(1);
    expect(sentences[0]).toContain(next);
    expect(page).not.toContain('<thead');
    expect(page).not.toContain('Nothing is found');
    expect(page).not.toContain('id="picked"');
  });
});

describe('numbers', () => {
  it.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [10, 10],
    [11, 20],
    [102, 200],
    [5000, 5000],
  ])('%d fit below a mark of %d', (most, top) => expect(niceTop(most)).toBe(top));

  it('are written as they are read', () => {
    expect([840, 4200, 61_000, 7_800_000].map(duration)).toEqual([
      '840 ms',
      '4.2 s',
      '1 min 01 s',
      '2 h 10 min',
    ]);
    expect(count(12_345)).toBe('12\u202f345');
    expect(counted(1, 'person', 'people')).toBe('1 person');
  });
});
