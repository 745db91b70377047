/** Every rule of the checker is shown one run that keeps it and one that breaks it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateNode, initialTransition, transition } from 'xstate';
import { recordOf, type SignatureRecord } from '../../machines/record.ts';
import {
  type HistoryEntry,
  type SignatureState,
  signatureMachine,
} from '../../machines/signature.machine.ts';
import { maxKeys } from '../../packages/engine/src/redis/deliver-script.ts';
import { newCustody, owner, signComplete } from '../../packages/pki/test/fixtures.ts';
import { type Fault, fault, faultLine } from '../../packages/protocol/src/fault.ts';
import type { PhoneNote } from './browser-phones.ts';
import { judge } from './checker.ts';
import { follows } from './checks/history.ts';
import { type Evidence, type FinalJob, finalJob } from './evidence.ts';
import { excused } from './excuses.ts';
import type { Entry } from './journal.ts';
import { noLoads } from './loads/no-loads.ts';
import type { InjectedFault } from './nemesis.ts';
import { createRandom } from './random.ts';
import { faultKinds, planFaults } from './schedule.ts';
import { shrink } from './shrink.ts';

const id = 'H00aaaaaaaaaaaaaaaaa';
const other = 'H00bbbbbbbbbbbbbbbbb';
const cancelled = { code: 401, detail: 'Cancelled by client-1-2' } as const;

const failedWith = (reason: Fault): SignatureRecord => ({
  version: 1,
  state: 'failed',
  attempt: 1,
  deadline: 11_000,
  fault: reason,
  history: [
    { state: 'submitted', attempt: 1, at: 1000 },
    { state: 'pending', attempt: 1, at: 1100 },
    { state: 'failed', attempt: 1, at: 3000, fault: reason },
  ],
});
const record = failedWith(cancelled);
/** The same with another entry in its place. */
const changed = (index: number, changes: Partial<HistoryEntry>): SignatureRecord => ({
  ...record,
  history: record.history.map((entry, place) =>
    place === index ? { ...entry, ...changes } : entry,
  ),
});

const job = (changes: Partial<FinalJob> = {}): FinalJob => ({
  id,
  apTransId: 'client-1-1',
  msisdn: '+41792000001',
  text: 'Order?',
  timeoutSeconds: 10,
  timestamp: 1000,
  end: 'failed',
  failedReason: faultLine(cancelled),
  record,
  answers: ['taken', 'refused'],
  ...changes,
});

const sign: Entry = {
  client: 'client-1',
  name: 'sign',
  mode: 'asynch',
  apTransId: 'client-1-1',
  from: 990,
  to: 1010,
  told: { kind: 'accepted', id },
};
const cancel: Entry = {
  client: 'client-1',
  name: 'cancel',
  id,
  attempt: 1,
  detail: cancelled.detail,
  from: 2980,
  to: 2990,
  told: { kind: 'answer', result: 'accepted' },
};
const status = (at: number, told: Entry['told']): Entry => ({
  client: 'client-1',
  name: 'status',
  id,
  from: at,
  to: at + 5,
  told,
});

const told401 = { kind: 'fault', ...cancelled } as const;

const onPhone = (changes: Partial<PhoneNote> = {}): PhoneNote => ({
  phone: 'a',
  prompt: `${id}.1`,
  text: 'Order?',
  from: 2900,
  to: 3000,
  kind: 'shown',
  times: 1,
  ...changes,
});

const run = (changes: Partial<Evidence> = {}): Evidence => ({
  journal: [sign, cancel, status(4000, told401)],
  faults: [],
  healedAt: 20_000,
  jobs: new Map([[id, job()]]),
  timeline: new Map([
    [
      id,
      [
        { id, event: 'added', at: 1000 },
        { id, event: 'active', at: 1005 },
        { id, event: 'failed', at: 3010 },
      ],
    ],
  ]),
  finals: new Map([[id, told401]]),
  stuck: [],
  asked: [{ at: 1110, worker: 'worker-1', id, attempt: 1 }],
  clashes: [],
  deliveries: [],
  phones: [onPhone(), onPhone({ kind: 'cancelled' })],
  crashes: [],
  notices: new Set([`${id}-1-failed`]),
  people: new Map(),
  processes: { runs: [], messages: [], instances: [], starved: [] },
  loads: noLoads,
  roots: [],
  ...changes,
});

const rulesOf = (evidence: Evidence): readonly string[] => [
  ...new Set(judge(evidence).map(({ rule }) => rule)),
];

const ending = (at: number) => new Map([[id, [{ id, event: 'failed', at }]]]);
const pause: InjectedFault = {
  kind: 'pause-redis',
  target: 'redis-1',
  amount: 0,
  from: 10_000,
  to: 30_000,
};
const deadPeer: InjectedFault = {
  kind: 'dead-peer-api',
  target: 'api-1',
  amount: 0,
  from: 11_000,
  to: 16_000,
};
const refused = { kind: 'fault', code: 900, detail: 'Unknown Error' } as const;
const asked = { at: 1110, worker: 'worker-1', id, attempt: 1 };
const prompt = { ...asked, id: other };
const delivery = {
  at: 1,
  key: `${id}-1`,
  msisdn: '+41796000000',
  text: 'one',
  worker: 'worker-1',
  shown: true,
};

describe('the checker', () => {
  it('finds nothing in a run that keeps every promise', () => {
    expect(judge(run())).toEqual([]);
  });

  it('finds nothing where so many events were refused that the verdict on the answer is gone', () => {
    const refusals = (count: number) =>
      new Map([[id, job({ answers: Array(count).fill('refused') })]]);
    expect(judge(run({ jobs: refusals(maxKeys) }))).toEqual([]);
    expect(rulesOf(run({ jobs: refusals(maxKeys - 1) }))).toEqual(['one answer ends an attempt']);
  });

  it.each<[string, Partial<Evidence>]>([
    ['what was acknowledged is never lost', { jobs: new Map() }],
    ['what was acknowledged is never lost', { finals: new Map([[id, { kind: 'open' }]]) }],
    [
      'what was acknowledged is never lost',
      {
        journal: [
          sign,
          status(2000, { kind: 'fault', code: 101, detail: 'MSSP_TransID is unknown' }),
        ],
      },
    ],
    ['every transaction ends', { stuck: [{ id, state: 'active' }] }],
    ['no process ends by itself', { crashes: ['worker-1'] }],
    ['every transaction ends in time', { timeline: ending(60_000) }],
    [
      'nobody is cut short',
      {
        jobs: new Map([[id, job({ record: failedWith(fault(208)) })]]),
      },
    ],
    [
      'the first outcome of an attempt stands',
      {
        journal: [sign, status(4000, told401), status(5000, { kind: 'fault', ...fault(208) })],
      },
    ],
    [
      'the first outcome of an attempt stands',
      {
        journal: [sign, status(4000, { kind: 'fault', ...fault(406) })],
        finals: new Map([[id, told401]]),
      },
    ],
    [
      'history is a path of the machine',
      { jobs: new Map([[id, job({ record: { ...record, state: 'pending' } })]]) },
    ],
    [
      'history is a path of the machine',
      {
        jobs: new Map([[id, job({ record: { ...record, history: record.history.toReversed() } })]]),
      },
    ],
    ...[
      changed(0, { state: 'pending' }),
      changed(1, { state: 'signed' }),
      changed(1, { attempt: 2 }),
      changed(1, { at: 3001 }),
      changed(1, { fault: cancelled }),
      changed(2, { fault: undefined }),
      { ...record, attempt: 2 },
      { ...record, deadline: record.deadline + 1 },
      { ...record, fault: undefined },
      { ...record, receipt: 'accepted' as const },
    ].map((wrong): [string, Partial<Evidence>] => [
      'history is a path of the machine',
      { jobs: new Map([[id, job({ record: wrong })]]) },
    ]),
    ['history is a path of the machine', { jobs: new Map([[id, job({ end: 'completed' })]]) }],
    [
      'an accepted answer decides',
      { journal: [sign, { ...cancel, detail: 'Cancelled by somebody else' }] },
    ],
    ['an accepted answer ends the attempt at once', { timeline: ending(9000) }],
    ...[['taken', 'taken'], [], ['taken', 'waiting'], ['taken', 'accepted']].map(
      (answers): [string, Partial<Evidence>] => [
        'one answer ends an attempt',
        { jobs: new Map([[id, job({ answers: answers as FinalJob['answers'] })]]) },
      ],
    ),
    [
      'an answer is taken or refused at once',
      { journal: [sign, { ...cancel, to: 12_980, told: { kind: 'answer', result: 'busy' } }] },
    ],
    [
      'a replay is one more attempt',
      {
        journal: [
          sign,
          { client: 'client-1', name: 'replay', id, from: 1, to: 2, told: { kind: 'replayed' } },
        ],
      },
    ],
    [
      'a SIM shows one prompt at a time',
      { clashes: [{ msisdn: '+41792000001', first: asked, second: prompt }] },
    ],
    ['a phone shows an attempt once', { asked: [{ ...asked, attempt: 2 }] }],
    ['a phone shows an attempt once', { asked: [{ ...asked, attempt: 2 }, asked] }],
    ['a phone shows an attempt once', { deliveries: [delivery, { ...delivery, text: 'another' }] }],
    [
      'a repeated request joins the first one',
      {
        jobs: new Map([
          [id, job()],
          [other, job({ id: other })],
        ]),
        timeline: new Map([...run().timeline, [other, [{ id: other, event: 'added', at: 2000 }]]]),
      },
    ],
    [
      'an acknowledged receipt is never lost',
      {
        journal: [
          sign,
          {
            client: 'client-1',
            name: 'receipt',
            id,
            from: 1,
            to: 2,
            told: { kind: 'reaction', reaction: 'accepted' },
          },
        ],
      },
    ],
    ['what was refused does not run', { journal: [{ ...sign, to: 600, told: refused }] }],
    [
      'an API gives up silent connections within 5 s',
      {
        journal: [
          sign,
          {
            ...sign,
            api: 'api-1',
            apTransId: 'client-1-2',
            from: 17_000,
            to: 17_800,
            told: refused,
          },
        ],
        faults: [deadPeer],
      },
    ],
    [
      'nobody is given up while they could sign',
      {
        finals: new Map([[id, refused]]),
        jobs: new Map([[id, job({ record: failedWith(fault(900)) })]]),
      },
    ],
    [
      'nobody is given up while they could sign',
      {
        finals: new Map([[id, refused]]),
        timeline: ending(11_500),
        faults: [{ ...pause, from: 3100 }],
      },
    ],
    [
      'nobody is given up while they could sign',
      { finals: new Map([[id, refused]]), jobs: new Map() },
    ],
    [
      'what has ended is not answered as open',
      { journal: [sign, cancel, status(3200, { kind: 'open' }), status(4000, told401)] },
    ],
    [
      'what has ended is not answered as open',
      {
        journal: [sign, status(4000, told401), status(4100, { kind: 'open' })],
        timeline: new Map(),
      },
    ],
    ['every end is told', { notices: new Set([`${other}-1-failed`]) }],
    ['signatures verify', { finals: new Map([[id, { kind: 'signed', signature: 'AAAA' }]]) }],
    ['a phone in a browser never shows a prompt as two', { phones: [onPhone({ times: 2 })] }],
    [
      'a phone in a browser never shows a prompt as two',
      { phones: [onPhone(), onPhone({ prompt: `${other}.1` })] },
    ],
    [
      'one thing ends a prompt',
      { phones: [onPhone({ kind: 'cancelled' }), onPhone({ kind: 'signed' })] },
    ],
    [
      'a prompt that has ended does not come back',
      { phones: [onPhone({ kind: 'cancelled' }), onPhone({ from: 3100, to: 3110 })] },
    ],
    ['what a phone was told is what came', { phones: [onPhone({ kind: 'signed' })] }],
  ])('sees when this is not so: %s', (rule, changes) => {
    expect(rulesOf(run(changes))).toContain(rule);
  });

  it('allows fault 900 where nobody could be asked until the deadline', () => {
    const troubled = {
      finals: new Map([[id, refused]]),
      timeline: ending(11_500),
      faults: [{ ...pause, from: 2900 }],
    };
    expect(rulesOf(run(troubled))).not.toContain('nobody is given up while they could sign');
  });

  it('allows an end that was known before a replay, and an answer that was on its way', () => {
    const rule = 'what has ended is not answered as open';
    const replay = { client: 'c', name: 'replay', id, told: { kind: 'replayed' } } as const;
    const again: Entry = { ...replay, from: 3100, to: 3150 };
    expect(rulesOf(run({ journal: [sign, again, status(3200, { kind: 'open' })] }))).not.toContain(
      rule,
    );
    expect(rulesOf(run({ journal: [sign, status(3050, { kind: 'open' })] }))).not.toContain(rule);
    const slow = { ...status(3080, told401), to: 3400 };
    expect(
      rulesOf(run({ journal: [sign, again, slow, status(3500, { kind: 'open' })] })),
    ).not.toContain(rule);
  });

  it('knows who has signed', async () => {
    const custody = newCustody();
    const [root = new Uint8Array()] = await custody.trust();
    const key = await custody.userKey(owner());
    const signature = Buffer.from(await signComplete(key, 'Order?')).toString('base64');
    const judged = (serialNumber: string) =>
      rulesOf(
        run({
          finals: new Map([[id, { kind: 'signed', signature }]]),
          roots: [root],
          people: new Map([['+41792000001', [serialNumber]]]),
        }),
      );
    expect(judged(key.serialNumber)).not.toContain('who signs is who was asked');
    expect(judged(key.serialNumber)).not.toContain('signatures verify');
    expect(judged('MIDCHEOTHERPERSON')).toContain('who signs is who was asked');
  });

  it('allows what Redis had taken in before its client was refused', () => {
    expect(rulesOf(run({ journal: [{ ...sign, told: refused }] }))).not.toContain(
      'what was refused does not run',
    );
  });

  it('allows an API to refuse while its connections are found out, or for another reason', () => {
    const refusal = { ...sign, api: 'api-1', apTransId: 'client-1-2', told: refused };
    const soon = { ...refusal, from: 14_000, to: 14_800 };
    const later = { ...refusal, from: 17_000, to: 17_800 };
    const rule = 'an API gives up silent connections within 5 s';
    expect(rulesOf(run({ journal: [sign, soon], faults: [deadPeer] }))).not.toContain(rule);
    expect(rulesOf(run({ journal: [sign, later], faults: [deadPeer, pause] }))).not.toContain(rule);
    expect(
      rulesOf(run({ journal: [sign, { ...later, api: 'api-2' }], faults: [deadPeer] })),
    ).not.toContain(rule);
  });

  it('excuses the time that a fault took, and what it held up, but no more', () => {
    expect(excused([pause], 11_000)).toBe(30_000);
    expect(excused([pause], 3000)).toBe(3000);
    expect(excused([pause], 40_000)).toBe(40_000);
    expect(rulesOf(run({ timeline: ending(31_000), faults: [pause] }))).not.toContain(
      'every transaction ends in time',
    );
  });

  it('allows another outcome after a replay', () => {
    const later = { kind: 'fault', ...fault(406) } as const;
    const replay: Entry = {
      client: 'c',
      name: 'replay',
      id,
      from: 4500,
      to: 4600,
      told: { kind: 'replayed' },
    };
    const replayed = run({
      journal: [sign, status(4000, told401), replay, status(5000, later)],
      finals: new Map([[id, later]]),
    });
    expect(judge(replayed).filter(({ says }) => says.includes('without a replay'))).toEqual([]);
  });

  it('reads a job from its hash', () => {
    const read = finalJob(id, {
      data: JSON.stringify({ MSS_SignatureReq: { TimeOut: '10' } }),
      progress: JSON.stringify({ version: 1, value: 'failed', context: record }),
      timestamp: '1000',
      finishedOn: '3000',
      failedReason: faultLine(cancelled),
      'key:out/one': 'taken',
      'key:0/1': 'refused',
    });
    expect(read).toMatchObject({ end: 'failed', timeoutSeconds: 10, answers: ['taken'] });
    expect(read.record).toEqual(record);
  });
});

describe('what a history may have after what', () => {
  const states = Object.keys(follows) as SignatureState[];
  /** Where the chart goes in one step, out of each of its states and those within. */
  const steps = states.flatMap((from) => {
    const nodes: AnyStateNode[] = Object.values(signatureMachine.states).filter(
      ({ key }) => key === from,
    );
    for (const node of nodes) nodes.push(...Object.values(node.states));
    const targets = nodes
      .flatMap(({ transitions }) => [...transitions.values()].flat())
      .flatMap(({ target = [] }) => target.map(({ path: [top] }) => top as SignatureState));
    return [...new Set(targets)].filter((to) => to !== from).map((to) => ({ from, to }));
  });

  it('is what the chart does', () => {
    for (const from of states)
      for (const to of follows[from]) expect(steps).toContainEqual({ from, to });
  });

  it('is kept in any order of events, though some came before the turn that takes them', () => {
    const at = fc.integer({ min: 1000, max: 5000 });
    const done = (state: string, output: object) => ({
      type: `xstate.done.actor.0.signature.${state}`,
      output,
    });
    const chosen = { profile: 'Any-LoA4', sscdId: 'sim', screen: true } as const;
    const outcome = { kind: 'signature', cms: 'MIIB' } as const;
    const happening = fc.constantFrom<{ readonly type: string }>(
      done('submitted.choosing', { kind: 'ask', chosen }),
      done('submitted.choosing', { kind: 'signed', outcome }),
      done('pending.asking', { kind: 'awaiting' }),
      done('pending.verifying', { kind: 'signed', outcome }),
      { type: 'xstate.after.deadline.signature.submitted' },
      { type: 'xstate.after.deadline.signature.pending' },
      { type: 'CANCEL', attempt: 1, fault: cancelled } as never,
      { type: 'ANSWERED', attempt: 1, answer: outcome } as never,
      { type: 'REPLAY' },
    );
    const input = { at: 1000, addedAt: 1000, timeoutSeconds: 10 };
    fc.assert(
      fc.property(fc.array(fc.tuple(happening, at), { maxLength: 12 }), (happened) => {
        let [snapshot] = initialTransition(signatureMachine, input);
        let latest = input.at;
        for (const [event, time] of happened) {
          latest = Math.max(latest, time);
          // That one is the engine's own, and has the time of its turn.
          const cameAt = event.type === 'REPLAY' ? latest : time;
          [snapshot] = transition(signatureMachine, snapshot, { ...event, at: cameAt } as never);
        }
        const lived = job({ end: undefined, record: recordOf(snapshot.context) });
        const found = judge(run({ jobs: new Map([[id, lived]]) }));
        expect(found.filter(({ rule }) => rule === 'history is a path of the machine')).toEqual([]);
      }),
    );
  });

  it('has a way for each step of the chart', () => {
    // A robot's signature comes with its prompt, and what some tool replays has failed before.
    for (const { from, to } of steps) {
      const reached = follows[from].flatMap((next) => [next, ...follows[next]]);
      expect(reached, `${from} goes to ${to}`).toContain(to);
    }
  });
});

describe('a schedule', () => {
  const plan = (seed: string) =>
    planFaults({
      random: createRandom(seed),
      durationMs: 168_000,
      kinds: faultKinds,
      workers: 3,
      apis: 2,
    });

  it('is the same for the same seed, another for another', () => {
    expect(plan('1')).toEqual(plan('1'));
    expect(plan('1')).not.toEqual(plan('2'));
  });

  it('holds every kind of fault, also in a short run', () => {
    expect(new Set(plan('1').map(({ kind }) => kind))).toEqual(new Set(faultKinds));
  });
});

describe('shrinking', () => {
  it('finds the two faults that it takes', async () => {
    const fails = async (subset: readonly number[]) => subset.includes(3) && subset.includes(11);
    const { smallest } = await shrink([...Array(16).keys()], fails, 100);
    expect(smallest).toEqual([3, 11]);
  });

  it('stops at its budget with something that failed', async () => {
    const fails = async (subset: readonly number[]) => subset.includes(3);
    const { smallest, tried } = await shrink([...Array(16).keys()], fails, 2);
    expect(tried).toBe(2);
    expect(smallest).toContain(3);
  });
});
