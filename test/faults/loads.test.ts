/**
 * Each rule about bulks, mails, logins and own charts is shown evidence that keeps it and evidence
 * that breaks it.
 */
import { describe, expect, it } from 'vitest';
import { type Evidence, finalJob } from './evidence.ts';
import type { Mark, Message } from './gateway.ts';
import type { Heard } from './http.ts';
import { type BulkRun, bulkChecks } from './loads/bulks.ts';
import { type DocumentRun, type Download, documentChecks } from './loads/documents.ts';
import { type LoginNote, type LoginRun, loginChecks } from './loads/logins.ts';
import { type ArrivedMail, type MailRun, mailChecks } from './loads/mails.ts';
import { noLoads } from './loads/no-loads.ts';
import { type ChartRun, chartChecks, repeatedMarks, runPlain } from './loads/own-charts.ts';
import type { InjectedFault } from './nemesis.ts';

const start = 1_700_000_000_000;
const fault: InjectedFault = {
  kind: 'kill-redis',
  target: 'redis-1',
  amount: 0,
  from: start + 900,
  to: start + 60_000,
};

const evidence = (loads: Partial<Evidence['loads']>, changes: Partial<Evidence> = {}): Evidence =>
  ({
    journal: [],
    faults: [],
    jobs: new Map(),
    timeline: new Map(),
    finals: new Map(),
    processes: { runs: [], messages: [], instances: [], starved: [] },
    loads: { ...noLoads, ...loads },
    ...changes,
  }) as unknown as Evidence;

const rulesOf =
  (checks: typeof bulkChecks) =>
  (given: Evidence): readonly string[] => [
    ...new Set(checks.flatMap((check) => [...check(given)]).map(({ rule }) => rule)),
  ];

const at = (ms: number, body: unknown, status = 200): Heard => ({
  from: start + ms,
  to: start + ms + 10,
  status,
  body,
});

describe('bulks', () => {
  const id = 'H00aaaaaaaaaaaaaaaaa';
  const bulk: BulkRun = {
    kind: 'replay',
    reason: 'bulk-1 replay',
    ids: [id],
    orderedAt: start,
    id: 'B1',
    audited: [id],
    endedAt: start + 2000,
    report: {
      state: 'done',
      total: 1,
      items: [{ id, result: 'failed', fault: 401 }],
    },
  };
  const timeline = new Map([[id, [{ id, event: 'failed', at: start + 1500 }]]]);
  const told = { kind: 'fault', code: 401, detail: 'No' } as const;
  const run = (changes: Partial<BulkRun>, more: Partial<Evidence> = {}): Evidence =>
    evidence(
      { bulks: [{ ...bulk, ...changes }] },
      { timeline, finals: new Map([[id, told]]), ...more },
    );
  const report = (changes: Partial<NonNullable<BulkRun['report']>>): Partial<BulkRun> => ({
    report: { state: 'done', total: 1, items: bulk.report?.items ?? [], ...changes },
  });
  const rules = rulesOf(bulkChecks);
  const result = (word: string) => report({ items: [{ id, result: word }] });

  it('are fine when each has done what it lists', () => {
    expect(rules(run({}))).toEqual([]);
    expect(rules(run({ kind: 'cancel', ...result('cancelled') }))).toEqual([]);
    // Nobody was told that it was taken in.
    expect(rules(evidence({ bulks: [{ ...bulk, id: undefined } as unknown as BulkRun] }))).toEqual(
      [],
    );
    expect(rules(run({ endedAt: start + 64_000 }, { faults: [fault] }))).toEqual([]);
    const expired = { state: 'failed', fault: { code: 208, detail: 'Expired' }, history: [] };
    const job = finalJob(id, { data: '{}', returnvalue: JSON.stringify(expired), finishedOn: '1' });
    expect(
      rules(
        run({ kind: 'cancel', audited: [], ...result('changed') }, { jobs: new Map([[id, job]]) }),
      ),
    ).toEqual([]);
  });

  it.each<[rule: string, broken: Evidence]>([
    [
      'an acknowledged bulk is done',
      evidence({ bulks: [{ ...bulk, report: undefined } as unknown as BulkRun] }),
    ],
    ['an acknowledged bulk is done', run(report({ state: 'running' }))],
    ['a bulk is of what its filter finds', run({ ids: [id, 'H00bbbbbbbbbbbbbbbbb'] })],
    ['a bulk does all that is listed', run(result('open'))],
    ['a bulk does all that is listed', run({ kind: 'cancel', ...result('changed') })],
    ['the report of a bulk is true', run({}, { finals: new Map([[id, { ...told, code: 209 }]]) })],
    ['what a bulk does is in the audit log once', run({ audited: [] })],
    ['what a bulk does is in the audit log once', run({ audited: [id, id] })],
    ['a bulk ends in time', run({ endedAt: start + 15_000 })],
    ['a bulk ends in time', run({ endedAt: undefined })],
  ])('break their promise: %s', (rule, broken) => {
    expect(rules(broken)).toEqual([rule]);
  });
});

describe('mails', () => {
  const signer = { step: 0, email: 'm-1@faults.example', text: 'Mail m-1', reminders: 0 };
  const view = (state: string, status = 'open') => ({
    status,
    createdAt: new Date(start).toISOString(),
    endedAt: new Date(start + 20_000).toISOString(),
    context: { steps: [{ signers: [{ name: signer.text, state }] }] },
  });
  const mail: ArrivedMail = {
    at: start + 1200,
    to: signer.email,
    id: '<1@faults.example>',
    link: 'http://x/tasks/1',
    isTaken: true,
  };
  const opened = {
    ...at(2000, `<p>${signer.text}</p>`),
    email: signer.email,
    what: 'open',
  } as const;
  const pressed = { ...at(2100, '', 303), email: signer.email, what: 'press' } as const;
  const process: MailRun = {
    id: 'm-1',
    signers: [signer],
    acknowledgedAt: start,
    visits: [opened, pressed],
    looks: [
      at(1000, view('open')),
      at(20_000, view('open')),
      at(21_000, view('signed', 'completed')),
    ],
  };
  const run = (
    changes: Partial<MailRun>,
    mails: readonly ArrivedMail[] = [mail],
    more: Partial<Evidence> = {},
  ): Evidence =>
    evidence({ mails: { runs: [{ ...process, ...changes }], mails, refused: [] } }, more);
  const rules = rulesOf(mailChecks);
  const reminded = { signers: [{ ...signer, reminders: 1 }] };

  it('are fine when each came once and its link led to a signature', () => {
    expect(rules(run({}))).toEqual([]);
    expect(
      rules(run(reminded, [mail, { ...mail, id: '<2@faults.example>', at: start + 8000 }])),
    ).toEqual([]);
    // The server had disowned it, or a fault was in the way.
    expect(rules(run({}, [{ ...mail, isTaken: false }, mail]))).toEqual([]);
    expect(rules(run({}, [mail, mail], { faults: [fault] }))).toEqual([]);
    expect(rules(run({}, [], { faults: [fault] }))).toEqual([]);
    expect(rules(run({ visits: [{ ...opened, status: 0 }] }, [mail], { faults: [fault] }))).toEqual(
      [],
    );
    // They had pressed, and got no answer.
    const later = { ...at(4000, 'You have signed'), email: signer.email, what: 'open' } as const;
    const lost = { ...pressed, status: 500 };
    expect(rules(run({ visits: [opened, lost, later] }, [mail], { faults: [fault] }))).toEqual([]);
  });

  it.each<[rule: string, broken: Evidence]>([
    ['every mail is sent', run({}, [])],
    ['every mail is sent', run(reminded)],
    ['every mail once', run({}, [mail, { ...mail, id: '<2@faults.example>' }])],
    ['every mail once', run({}, [mail, mail])],
    [
      'the link of a mail works',
      run({ visits: [{ ...opened, status: 404 }] }, [mail], { faults: [fault] }),
    ],
    ['the link of a mail works', run({ visits: [{ ...opened, status: 500 }] })],
    ['the link of a mail works', run({ visits: [{ ...opened, body: 'Mail m-2' }] })],
    [
      'who presses Sign has signed',
      run({ looks: [at(1000, view('open')), at(45_000, view('open', 'failed'))] }),
    ],
    ['an acknowledged process is never lost', run({ looks: [at(21_000, {}, 404)], visits: [] })],
    ['every process ends', run({ looks: [at(1000, view('open'))], visits: [] })],
  ])('break their promise: %s', (rule, broken) => {
    expect(rules(broken)).toEqual([rule]);
  });
});

describe('logins', () => {
  const msisdn = '+41798300000';
  const note = (what: LoginNote['what'], ms: number): LoginNote => ({
    what,
    from: start + ms,
    to: start + ms + 100,
  });
  const login: LoginRun = {
    id: 'l-1',
    msisdn,
    startedAt: start,
    wrongs: [],
    subject: 'anna',
    notes: [note('asked', 100), note('code', 100), note('tokens', 1000), note('checked', 1100)],
  };
  const job = (id: string, end: 'completed' | 'failed') => ({
    ...finalJob(id, { data: '{}' }),
    msisdn,
    end,
  });
  const signed = new Map([['a', job('a', 'completed')]]);
  const run = (
    changes: Partial<LoginRun>,
    others: readonly LoginRun[] = [],
    more: Partial<Evidence> = {},
  ): Evidence =>
    evidence({ logins: [{ ...login, ...changes }, ...others] }, { jobs: signed, ...more });
  const rules = rulesOf(loginChecks);
  const trouble = [...login.notes, { ...note('trouble', 900), says: 'token: 500' }];

  it('are fine when each gave the tokens of its person once', () => {
    expect(rules(run({}))).toEqual([]);
    expect(rules(run({ notes: trouble }, [], { faults: [fault] }))).toEqual([]);
    expect(rules(run({ notes: [] }, [], { faults: [fault] }))).toEqual([
      'a login asks its person once',
    ]);
    expect(rules(run({ notes: [] }, [], { faults: [fault], jobs: new Map() }))).toEqual([]);
  });

  it.each<[rule: string, broken: Evidence]>([
    ['logins give the right tokens, once', run({ wrongs: ['a code has given tokens twice'] })],
    [
      'a person keeps their sub',
      run({}, [{ ...login, id: 'l-2', msisdn: '+41798300001', notes: [note('code', 0)] }], {
        jobs: new Map([...signed, ['b', { ...job('b', 'completed'), msisdn: '+41798300001' }]]),
      }),
    ],
    ['a login works when nothing is in the way', run({ notes: trouble })],
    ['a login works when nothing is in the way', run({ notes: [note('asked', 100)] })],
    [
      'a login asks its person once',
      run({}, [], { jobs: new Map([...signed, ['b', job('b', 'failed')]]) }),
    ],
    ['a login asks its person once', run({}, [], { jobs: new Map([['a', job('a', 'failed')]]) })],
  ])('break their promise: %s', (rule, broken) => {
    expect(rules(broken)).toContain(rule);
  });
});

describe('own charts', () => {
  const input = { marks: 'http://127.0.0.1:1', name: 'w-1', n: 1, left: 2, pauseMs: 300 };
  const mark = (
    kind: Mark['kind'],
    says: string,
    ms: number,
    changes: Partial<Mark> = {},
  ): Mark => ({
    kind,
    says,
    at: start + ms,
    instance: 'w-1',
    key: `${kind} ${says}`,
    isTaken: true,
    ...changes,
  });
  const marks = [
    mark('activity', '1', 400),
    mark('effect', 'n 3', 450),
    mark('activity', '3', 800),
    mark('effect', 'n 7', 850),
  ];
  const end: Message = {
    at: start + 900,
    arrivedAt: start + 950,
    id: 'end',
    type: 'workflow.end',
    data: { process: '', workflow: 'rounds', id: 'w-1', state: 'completed' },
  };
  const answer = { status: 'completed', output: 7, endedAt: new Date(start + 900).toISOString() };
  const run = async (
    changes: Partial<ChartRun> = {},
    charts: Partial<Evidence['loads']['charts']> = {},
    more: Partial<Evidence> = {},
  ): Promise<Evidence> => {
    const expected = [await runPlain('rounds', input, [])];
    const chart: ChartRun = {
      chart: 'rounds',
      id: 'w-1',
      startedAt: start,
      acknowledgedAt: start + 50,
      expected,
      looks: [at(1000, answer)],
      ...changes,
    };
    return evidence({ charts: { runs: [chart], marks, ends: [end], ...charts } }, more);
  };
  const rules = rulesOf(chartChecks);
  const ended = (changes: object) => ({ looks: [at(1000, { ...answer, ...changes })] });

  it('are run by plain XState, with their timers, children and events', async () => {
    expect(await runPlain('rounds', input, [])).toMatchObject({
      output: 7,
      effects: { 'w-1': ['n 3', 'n 7'] },
      activities: { 'w-1': ['1', '3'] },
    });
    const { durationMs } = await runPlain('rounds', input, []);
    expect(durationMs).toBeGreaterThanOrEqual(600);
    const part = (n: number, left: number) => ({ n, left, pauseMs: 100 });
    const parts = { a: part(1, 1), b: part(2, 2), c: part(3, 3) };
    const family = await runPlain('family', { marks: input.marks, name: 'w-2', parts }, []);
    expect(family.output).toEqual({ a: 3, b: 11, c: 31 });
    expect(family.effects).toEqual({
      'w-2/a': ['n 3'],
      'w-2/b': ['n 5', 'n 11'],
      'w-2/c': ['n 7', 'n 15', 'n 31'],
      'w-2': ['3 11 31'],
    });
    const events = [{ type: 'ADD', n: 4 }, { type: 'ADD', n: 5 }, { type: 'CLOSE' }] as const;
    const till = await runPlain('till', { marks: input.marks, name: 'w-3' }, events);
    expect([till.output, till.effects]).toEqual([9, { 'w-3': ['sum 4', 'sum 9'] }]);
  });

  it('are fine when they did what plain XState does', async () => {
    expect(rules(await run())).toEqual([]);
    // Within one millisecond.
    expect(rules(await run({}, { marks: marks.map((each) => ({ ...each, at: start })) }))).toEqual(
      [],
    );
    const again = [...marks, mark('effect', 'n 7', 900)];
    expect(rules(await run({}, { marks: again }))).toEqual([]);
    expect(repeatedMarks(again)).toBe(1);
    const refused = mark('effect', 'n 3', 440, { isTaken: false });
    expect(rules(await run({}, { marks: [refused, ...marks] }))).toEqual([]);
    const late = ended({ endedAt: new Date(start + 64_000).toISOString() });
    expect(rules(await run(late, {}, { faults: [fault] }))).toEqual([]);
    // Either of two, where the last event may have been taken or not.
    const [one] = (await run()).loads.charts.runs[0]?.expected ?? [];
    const other = { output: 1, effects: {}, activities: {}, durationMs: 0 };
    expect(rules(await run({ expected: one ? [other, one] : [] }))).toEqual([]);
  });

  it.each<
    [rule: string, changes: Partial<ChartRun>, charts?: Partial<Evidence['loads']['charts']>]
  >([
    ['an acknowledged chart is never lost', { looks: [at(500, {}, 404), at(1000, answer)] }],
    ['a chart ends as in plain XState', ended({ output: 8 })],
    [
      'a chart ends as in plain XState',
      ended({ status: 'open', output: undefined, endedAt: undefined }),
    ],
    [
      'effects are carried out, in order',
      {},
      { marks: marks.filter(({ says }) => says !== 'n 7') },
    ],
    ['effects are carried out, in order', {}, { marks: marks.toReversed() }],
    [
      'effects are carried out, in order',
      {},
      { marks: marks.map((each) => ({ ...each, isTaken: false })) },
    ],
    [
      'effects are carried out, in order',
      {},
      { marks: [...marks, mark('effect', 'n 7', 900, { key: 'x' })] },
    ],
    [
      'an activity keeps its token, and runs where the chart says',
      ...([
        {},
        { marks: [...marks, mark('activity', '3', 900, { key: 'another token' })] },
      ] as const),
    ],
    ['a chart ends in time', ended({ endedAt: new Date(start + 20_000).toISOString() })],
    ['the end of a chart is told once', {}, { ends: [] }],
    ['the end of a chart is told once', {}, { ends: [end, { ...end, id: 'other' }] }],
  ])('break their promise: %s', async (rule, changes, charts) => {
    expect(rules(await run(changes, charts))).toContain(rule);
  });
});

describe('documents', () => {
  const pdf = 'a'.repeat(64);
  const view = (changes: object = {}, document: object | undefined = { signed: 'D1' }) => ({
    status: 'completed',
    createdAt: new Date(start).toISOString(),
    endedAt: new Date(start + 5000).toISOString(),
    context: { steps: [{ signers: [{ msspTransId: 'H1', document }] }] },
    ...changes,
  });
  const download: Download = {
    from: start + 6000,
    to: start + 6010,
    status: 200,
    sha256: 'b'.repeat(64),
    transactions: ['H1'],
    hasEvidence: true,
    problems: [],
  };
  const process: DocumentRun = {
    id: 'd-1',
    sha256: pdf,
    signers: 1,
    document: 'D0',
    acknowledgedAt: start,
    looks: [at(5000, view())],
    downloads: [download],
    original: { from: start, to: start, status: 200, sha256: pdf },
  };
  const run = (changes: Partial<DocumentRun>, more: Partial<Evidence> = {}): Evidence =>
    evidence({ documents: [{ ...process, ...changes }] }, more);
  const rules = rulesOf(documentChecks);

  it('are fine when each signature is in the PDF once, and what is served is whole', () => {
    expect(rules(run({}))).toEqual([]);
    const away = { ...download, status: 503, transactions: undefined } as unknown as Download;
    expect(rules(run({ downloads: [away, download] }, { faults: [fault] }))).toEqual([]);
  });

  it.each<[rule: string, broken: Evidence]>([
    [
      'an uploaded document is never lost',
      run({ original: { from: start, to: start, status: 404 } }),
    ],
    [
      'an uploaded document is never lost',
      run({ original: { from: start, to: start, status: 200, sha256: 'c' } }),
    ],
    [
      'a signed document is whole whenever it is served',
      run({ downloads: [{ ...download, problems: ['The bytes were changed.'] }, download] }),
    ],
    [
      'a signed document is whole whenever it is served',
      run({ downloads: [{ ...download, status: 404 }, download] }),
    ],
    [
      'each signature is in the document once',
      run({ downloads: [{ ...download, transactions: ['H1', 'H1'] }] }),
    ],
    [
      'each signature is in the document once',
      run({ downloads: [{ ...download, transactions: [] }] }),
    ],
    [
      'each signature is in the document once',
      run({ downloads: [{ ...download, transactions: ['H1', 'H2'] }] }),
    ],
    ['each signature is in the document once', run({ signers: 2 })],
    ['the end has its evidence', run({ downloads: [{ ...download, hasEvidence: false }] })],
    ['an acknowledged process is never lost', run({ looks: [at(5000, {}, 404)] })],
    ['every process ends', run({ looks: [at(5000, view({ status: 'open' }))] })],
    [
      'no document is lost on its way',
      run({
        looks: [
          at(
            5000,
            view({
              status: 'failed',
              context: {
                failure: { reason: 'UNUSABLE' },
                steps: [{ signers: [{ msspTransId: 'H1', document: { signed: 'D1' } }] }],
              },
            }),
          ),
        ],
      }),
    ],
  ])('break their promise: %s', (rule, broken) => {
    expect(rules(broken)).toEqual([rule]);
  });
});
