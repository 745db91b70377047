/**
 * Every rule about processes is shown one process that keeps it and one that breaks it. The random
 * shapes of processes are usable.
 */
import { describe, expect, it } from 'vitest';
import { checkDefinition } from '../../parts/processes/definition/check-definition.ts';
import { processChecks } from './checks/processes.ts';
import type { Evidence, FinalJob } from './evidence.ts';
import { noLoads } from './loads/no-loads.ts';
import type { Answer, ProcessRun } from './process-clients.ts';
import { type Shape, shapeFor } from './process-shapes.ts';
import { createRandom } from './random.ts';

const start = Date.UTC(2026, 0, 5, 9);
const iso = (ms: number): string => new Date(start + ms).toISOString();

const person = (step: string, key: string) => ({
  name: `${key}/0`,
  msisdn: `+4179700000${key}`,
  text: `p-1 ${step} ${key}/0`,
});
const [shape] = [
  {
    deadline: 'PT60S',
    steps: [
      {
        name: 's0',
        signers: [person('s0', '1'), person('s0', '2')],
        need: 'first',
        remind: ['PT1S'],
        deadline: 'PT10S',
        askAgain: { times: 1, every: 'PT1S' },
        escalate: { after: 'PT2S', to: { ...person('s0', '3'), text: 'p-1 s0 escalated/0' } },
      },
      { name: 's1', signers: [person('s1', '1')], ask: 'page' },
    ],
    compensation: [{ name: 'c0', signers: [person('c0', '1')], deadline: 'PT5S' }],
  } as unknown as Shape,
];

type StepSeen = NonNullable<Answer['context']>['steps'][number];
const s0: StepSeen = {
  name: 's0',
  state: 'done',
  need: 1,
  signers: [
    { key: '1', name: '1/0', state: 'signed', at: start + 900, msspTransId: 'H1' },
    { key: '2', name: '2/0', state: 'withdrawn', at: start + 1000 },
  ],
};
const s1: StepSeen = {
  name: 's1',
  state: 'done',
  need: 1,
  signers: [{ key: '1', name: '1/0', state: 'signed', at: start + 2500, msspTransId: 'H3' }],
};
const ended = (changes: Partial<Answer> = {}, steps: readonly StepSeen[] = [s0, s1]): Answer => ({
  status: 'completed',
  context: { steps },
  output: { steps, outcome: 'completed', evidence: 'a.b.c' },
  createdAt: iso(0),
  endedAt: iso(3000),
  ...changes,
});
const seen = (at: number, answer?: Answer, status = 200) => ({
  from: start + at - 10,
  to: start + at,
  status,
  answer,
});
const openAt = (at: number, changes: Partial<StepSeen> = {}) => {
  const signers = s0.signers.map(({ key, name }) => ({ key, name, state: 'open' as const }));
  const {
    endedAt: _,
    output: __,
    ...answer
  } = ended({ status: 'open' }, [
    { ...s0, state: 'open', signers, ...changes },
    { ...s1, state: 'waiting' },
  ]);
  return seen(at, answer);
};

const job = (id: string, text: string, added: number, endedAt: number, isSigned = true) => ({
  job: {
    id,
    apTransId: 'process--p-1',
    text,
    timeoutSeconds: 180,
    timestamp: start + added,
    msisdn: text.includes('escalated') ? '+41797000003' : `+4179700000${text.at(-3)}`,
    failedReason: undefined,
    answers: [],
    end: isSigned ? 'completed' : 'failed',
    record: { history: [{ state: 'pending', attempt: 1, at: start + added + 5 }] },
  } as unknown as FinalJob,
  events: [
    { id, event: 'added', at: start + added },
    { id, event: isSigned ? 'completed' : 'failed', at: start + endedAt },
  ],
});
/** Asked and signed in one moment, after the next step has begun. */
const late = job('H4', 'p-1 s0 2/0', 1900, 2600);
const askedLate = {
  ...late,
  job: {
    ...late.job,
    record: {
      history: ['pending', 'signed'].map((state) => ({ state, attempt: 1, at: start + 2550 })),
    },
  } as unknown as FinalJob,
};
const stoodStill = {
  kind: 'starved',
  target: 'worker-1',
  amount: 0,
  from: start + 1950,
  to: start + 2580,
} as const;
const first = job('H1', 'p-1 s0 1/0', 100, 900);
const withdrawn = job('H2', 'p-1 s0 2/0', 100, 1100, false);
const second = job('H3', 'p-1 s1 1/0', 2000, 2500);
const all = [first, withdrawn, second];

const evidence = (
  changes: Partial<ProcessRun['evidence'] & object> = {},
): NonNullable<ProcessRun['evidence']> =>
  ({
    outcome: 'completed',
    signatures: [{ msspTransId: 'H1' }, { msspTransId: 'H3' }],
    ...changes,
  }) as never;

const run = (changes: Partial<ProcessRun> = {}): ProcessRun => ({
  id: 'p-1',
  shape,
  startedAt: start - 20,
  acknowledgedAt: start + 10,
  seen: [openAt(500)],
  orders: [{ what: 'press', step: 1, key: '1', from: start + 1900, result: 'taken' }],
  final: seen(70_000, ended()),
  evidence: evidence(),
  ...changes,
});
const root = 'tenant-process--p-1';
const end = {
  at: start + 3000,
  arrivedAt: start + 3100,
  id: 'end',
  type: 'process.end',
  data: { process: 'p-1', state: 'completed' },
};
const reminder = {
  at: start + 1500,
  arrivedAt: start + 1600,
  type: 'process.reminded',
  data: { process: 'p-1', step: 's0', key: '1' },
};

const known = (
  given: Partial<Evidence['processes']> = {},
  jobs: readonly (typeof first)[] = all,
  faults: Evidence['faults'] = [],
): Evidence =>
  ({
    journal: [],
    faults,
    healedAt: start + 60_000,
    finals: new Map(),
    stuck: [],
    asked: [],
    clashes: [],
    deliveries: [],
    phones: [],
    crashes: [],
    roots: [],
    notices: new Set(),
    people: new Map(),
    loads: noLoads,
    jobs: new Map(jobs.map((each) => [each.job.id, each.job])),
    timeline: new Map(jobs.map((each) => [each.job.id, each.events])),
    processes: {
      runs: [run()],
      messages: [end],
      starved: [],
      instances: [
        { id: root, isOver: true },
        { id: `${root}.0-1-0.1`, isOver: true },
      ],
      ...given,
    },
  }) as Evidence;

const judge = (given: Evidence) => processChecks.flatMap((check) => [...check(given)]);
const rulesOf = (given: Evidence): readonly string[] => [
  ...new Set(judge(given).map(({ rule }) => rule)),
];
const runs = (changes: Partial<ProcessRun>) => known({ runs: [run(changes)] });
const endedAs = (answer: Answer) => runs({ final: seen(70_000, answer) });
const reminded = (looks: ProcessRun['seen'], jobs = all) => {
  const messages = ['1', '2'].map((key) => ({
    ...reminder,
    id: key,
    data: { ...reminder.data, key },
  }));
  return known({ runs: [run({ seen: looks })], messages: [end, ...messages] }, jobs);
};
const missed = { ...withdrawn, job: { ...withdrawn.job, failedReason: '_209 UNREACHABLE: Away' } };
const escalated = [...s0.signers, { key: 'escalated', name: '3/0', state: 'open' as const }];

const lost = 'an acknowledged process is never lost';
const oneOutcome = 'a process has one outcome';
const asDefined = 'steps end as they are defined';
const inTime = 'every timer fires within five seconds';
const limits = 'no prompt beyond the limits';
const attests = 'the evidence verifies';

describe('the checker of processes', () => {
  it('finds nothing in a process that keeps every promise', () => {
    expect(judge(known())).toEqual([]);
  });

  it('finds nothing out of turn in what was signed before it could be taken back', () => {
    const late = known({}, [first, withdrawn, second, askedLate], [stoodStill]);
    expect(rulesOf(late)).not.toContain('nobody is asked out of turn');
  });

  it('finds nothing while timers are on their way', () => {
    expect(judge(reminded([openAt(500), openAt(7400)]))).toEqual([]);
  });

  it.each<[string, Evidence]>([
    [lost, runs({ final: seen(70_000, undefined, 404) })],
    [lost, runs({ seen: [seen(600, undefined, 404)] })],
    ['a repeated start joins the first one', runs({ seen: [seen(600, undefined, 409)] })],
    ['every process ends', runs({ final: openAt(70_000) })],
    [oneOutcome, runs({ seen: [seen(4000, ended({ status: 'failed' }))] })],
    [oneOutcome, runs({ seen: [openAt(9000)] })],
    [oneOutcome, known({ messages: [] })],
    [oneOutcome, known({ messages: [end, { ...end, id: 'another' }] })],
    [oneOutcome, known({ messages: [{ ...end, data: { ...end.data, state: 'failed' } }] })],
    [oneOutcome, endedAs(ended({ status: 'failed' }))],
    [oneOutcome, runs({ orders: [{ what: 'cancel', from: start + 500, result: '202' }] })],
    [
      'nobody is asked out of turn',
      known({}, [first, withdrawn, second, job('H4', 'p-1 s0 2/0', 2100, 2200, false)]),
    ],
    ['nobody is asked out of turn', known({}, [first, withdrawn, second, askedLate])],
    [
      'a step begins when the one before has ended',
      known({}, [first, job('H2', 'p-1 s0 2/0', 100, 8000, false), second]),
    ],
    [asDefined, endedAs(ended({}, [{ ...s0, signers: s0.signers.slice(1) }, s1]))],
    [asDefined, endedAs(ended({}, [{ ...s0, state: 'unmet' }, s1]))],
    [asDefined, endedAs(ended({}, [s0, { ...s1, state: 'waiting' }]))],
    [asDefined, endedAs(ended({}, [s0, { ...s1, state: 'skipped' }]))],
    [asDefined, endedAs(ended({}, [s0, { ...s1, state: 'open' }]))],
    [asDefined, endedAs(ended({}, [s0, s1, { ...s1, name: 'c0' }]))],
    ['who has signed has signed', known({}, [withdrawn, second])],
    [
      'who has signed has signed',
      endedAs(
        ended({}, [
          s0,
          { ...s1, signers: [{ key: '1', name: '1/0', state: 'withdrawn', at: start + 9000 }] },
        ]),
      ),
    ],
    [
      'nobody else is asked',
      known({}, [
        first,
        { ...withdrawn, job: { ...withdrawn.job, msisdn: '+41790000000' } },
        second,
      ]),
    ],
    [attests, runs({ evidence: { problems: ['signature: does not fit'] } })],
    [attests, runs({ evidence: evidence({ outcome: 'failed' }) })],
    [attests, runs({ evidence: evidence({ signatures: [] }) })],
    [
      limits,
      known({}, [...all, ...['H4', 'H5'].map((id) => job(id, 'p-1 s0 2/0', 1100, 1200, false))]),
    ],
    [
      limits,
      known({}, [
        ...all,
        ...Array.from({ length: 9 }, (_, n) => job(`H9${n}`, 'p-1 s0 2/0', 200, 300)),
      ]),
    ],
    [
      limits,
      known({ messages: [end, ...[1, 2].map((id) => ({ ...reminder, id: `reminder-${id}` }))] }),
    ],
    [
      'a phone is asked when its definition says',
      runs({ orders: [{ ...run().orders[0], from: start + 2600 }] as never }),
    ],
    [
      'nobody is asked twice for what they have signed',
      known({}, [...all, job('H4', 'p-1 s0 1/0', 950, 960)]),
    ],
    [inTime, endedAs(ended({ endedAt: iso(66_000) }))],
    // The deadline of the step, its escalation, a reminder, another prompt.
    [inTime, reminded([openAt(500), openAt(16_000, { signers: escalated })])],
    [inTime, reminded([openAt(500), openAt(8000)])],
    [inTime, runs({ seen: [openAt(500), openAt(7000)] })],
    [inTime, reminded([openAt(500), openAt(7400)], [first, missed, second])],
  ])('sees when this is not so: %s', (rule, broken) => {
    expect(rulesOf(broken)).toContain(rule);
  });

  it('allows a prompt of a worker that stood still, when it is taken back at once', () => {
    const { job: given, events } = job('H4', 'p-1 s0 2/0', 2100, 2900, false);
    const failedReason = '_401 USER_CANCEL: The workflow no longer asks';
    const late = { job: { ...given, failedReason }, events };
    expect(rulesOf(known({}, [first, second, late]))).toEqual([]);
  });

  it('counts the prompts of a number over all processes', () => {
    const other = (n: number) => {
      const id = `p-${n + 2}`;
      const { job: given, events } = job(`H8${n}`, `${id} s0 1/0`, 100, 900);
      return { job: { ...given, apTransId: `process--${id}` }, events };
    };
    const many = Array.from({ length: 9 }, (_, n) => other(n));
    expect(rulesOf(known({}, [...all, ...many]))).toContain(limits);
    expect(rulesOf(known({}, [...all, ...many.slice(0, 4)]))).not.toContain(limits);
  });

  it('finds children without a parent', () => {
    const child = `${root}.0-1-0.1`;
    const orphan = known({ instances: [{ id: child, isOver: true }] });
    const left = known({
      instances: [
        { id: root, isOver: true },
        { id: child, isOver: false },
      ],
    });
    for (const given of [orphan, left])
      expect(rulesOf(given)).toContain('no child without a parent');
  });

  it('excuses a timer that a fault, or a machine without time for the service, has held up', () => {
    const late = run({ final: seen(70_000, ended({ endedAt: iso(66_000) })) });
    const fault = { target: 'worker-1', amount: 0, from: start + 59_000, to: start + 62_000 };
    const starved = [{ ...fault, kind: 'starved' as const }];
    expect(rulesOf(known({ runs: [late], starved }))).not.toContain(inTime);
    expect(
      rulesOf(known({ runs: [late] }, all, [{ ...fault, kind: 'kill-worker' }])),
    ).not.toContain(inTime);
  });
});

describe('the shape of a process', () => {
  it('is a usable definition, the same for the same seed', () => {
    const shapes = Array.from({ length: 100 }, (_, n) =>
      shapeFor(createRandom(String(n)), `p-${n}`, start, 'https://a.test/'),
    );
    for (const each of shapes)
      expect(checkDefinition(each, { now: start, isKnown: () => true })).toMatchObject({
        ok: true,
      });
    expect(shapeFor(createRandom('7'), 'p-7', start, 'https://a.test/')).toEqual(shapes[7]);
    expect(new Set(shapes.map(({ steps }) => steps.length)).size).toBe(4);
  });
});
