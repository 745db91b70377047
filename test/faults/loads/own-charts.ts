/**
 * Instances of an application's own charts (own-charts.workflow.mjs): timers, activities that fail
 * at times, children, events. Plain XState runs each of them as well, with a simulated clock, and
 * says what must come out and which effects there must be.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type AnyActorLogic,
  type AnyStateMachine,
  createActor,
  fromPromise,
  SimulatedClock,
} from 'xstate';
import { type Check, type Evidence, hindrances, type Violation } from '../evidence.ts';
import { excused, marginMs } from '../excuses.ts';
import type { Mark } from '../gateway.ts';
import { type Heard, workflowCalls } from '../http.ts';
import { chartsId } from '../people.ts';
import type { Random } from '../random.ts';
import { beginOften, type Scene } from './scene.ts';

export const chartsFile = fileURLToPath(new URL('own-charts.workflow.mjs', import.meta.url));

type ChartName = 'rounds' | 'family' | 'till';
type Part = { readonly n: number; readonly left: number; readonly pauseMs: number };
type ChartEvent = { readonly type: 'ADD'; readonly n: number } | { readonly type: 'CLOSE' };

/** What plain XState does. */
export interface Expected {
  readonly output: unknown;
  /** Of each instance, children too: what its effects say, in order. */
  readonly effects: Readonly<Record<string, readonly string[]>>;
  /** The same of its activities. */
  readonly activities: Readonly<Record<string, readonly string[]>>;
  /** How long its timers take. */
  readonly durationMs: number;
}

export interface ChartRun {
  readonly chart: ChartName;
  readonly id: string;
  readonly startedAt: number;
  acknowledgedAt?: number;
  /** When the last event was taken. */
  lastTakenAt?: number;
  readonly looks: Heard[];
  /** More than one where it is not known whether the last event was taken. */
  expected: readonly Expected[];
}

const stepMs = 50;
const maxSteps = 2000;

/** @param events In the order in which the service has taken them. */
export const runPlain = async (
  chart: ChartName,
  input: object,
  events: readonly ChartEvent[],
): Promise<Expected> => {
  const effects: Record<string, string[]> = {};
  const activities: Record<string, string[]> = {};
  const note = (to: Record<string, string[]>, name: string, says: string): void => {
    to[name] = [...(to[name] ?? []), says];
  };
  const actions = {
    tell: ({ context }: { readonly context: { readonly name: string } }, says: string) =>
      note(effects, context.name, says),
  };
  const double = fromPromise<number, { readonly name: string; readonly n: number }>(
    async ({ input: { name, n } }) => {
      note(activities, name, String(n));
      return 2 * n + 1;
    },
  );
  const { charts } = (await import(chartsFile)) as {
    readonly charts: Readonly<Record<ChartName, AnyStateMachine>>;
  };
  const rounds = charts.rounds.provide({ actions, actors: { double } } as never);
  const actors: Readonly<Record<ChartName, Readonly<Record<string, AnyActorLogic>>>> = {
    rounds: { double },
    family: { rounds },
    till: {},
  };
  const clock = new SimulatedClock();
  const machine = charts[chart].provide({ actions, actors: actors[chart] } as never);
  const actor = createActor(machine, { clock, input } as never).start();
  for (const event of events) actor.send(event);
  for (let step = 0; step < maxSteps && actor.getSnapshot().status === 'active'; step += 1) {
    await new Promise(setImmediate);
    clock.increment(stepMs);
  }
  const { output } = actor.getSnapshot();
  actor.stop();
  return { output, effects, activities, durationMs: clock.now() };
};

const everyMs = 1500;
const startMs = 20_000;
/** Longer than any of them takes, also beside faults. */
const followMs = 90_000;
const lookEveryMs = 700;

const partFor = (random: Random): Part => ({
  n: random.below(10),
  left: random.between(1, 4),
  pauseMs: random.between(0, 8) * 150,
});

const inputFor = (chart: ChartName, id: string, marks: string, random: Random): object => {
  const named = { marks, name: id };
  if (chart === 'till') return named;
  if (chart === 'rounds') return { ...named, ...partFor(random) };
  return { ...named, parts: { a: partFor(random), b: partFor(random), c: partFor(random) } };
};

export const runCharts = (
  scene: Scene & { readonly marksUrl: string },
): Promise<readonly ChartRun[]> =>
  beginOften(scene, everyMs, async (index, random) => {
    const chart = random.pick(['rounds', 'family', 'till'] as const);
    const call = workflowCalls(chartsId, chart);
    const id = `w-${index + 1}`;
    const run: ChartRun = { chart, id, startedAt: Date.now(), looks: [], expected: [] };
    const input = inputFor(chart, id, scene.marksUrl, random);
    const url = () => random.pick(scene.urls);

    /** What is not closed never ends; 404: it was not begun. */
    const close = async (): Promise<void> => {
      for (const until = Date.now() + followMs; Date.now() < until; await delay(300)) {
        const key = { 'idempotency-key': 'close' };
        const { status } = await call(url(), 'POST', `/${id}/events`, { type: 'CLOSE' }, key);
        if (status === 202 || status === 404) return;
      }
    };

    for (
      const until = run.startedAt + startMs;
      run.acknowledgedAt === undefined;
      await delay(300)
    ) {
      const { status, to } = await call(url(), 'POST', '', { id, input });
      if (status === 200 || status === 201) run.acknowledgedAt = to;
      else if (Date.now() > until) break;
    }
    if (run.acknowledgedAt === undefined) {
      if (chart === 'till') await close();
      return run;
    }

    const taken: ChartEvent[] = [];
    let unsure: ChartEvent | undefined;
    const send = async (event: ChartEvent, key: string): Promise<void> => {
      if (unsure !== undefined) return;
      for (const until = Date.now() + startMs; Date.now() < until; await delay(200)) {
        const { status, to } = await call(url(), 'POST', `/${id}/events`, event, {
          'idempotency-key': key,
        });
        if (status !== 202) continue;
        taken.push(event);
        run.lastTakenAt = to;
        return;
      }
      unsure = event;
    };
    if (chart === 'till') {
      const adds = random.between(1, 8);
      for (let add = 0; add < adds; add += 1) {
        await send({ type: 'ADD', n: random.below(100) }, `add-${add}`);
        await delay(random.between(0, 400));
      }
      await close();
      run.lastTakenAt = Date.now();
    }
    const closing: readonly ChartEvent[] = chart === 'till' ? [{ type: 'CLOSE' }] : [];
    const histories = unsure === undefined ? [taken] : [taken, [...taken, unsure]];
    run.expected = await Promise.all(
      histories.map((events) => runPlain(chart, input, [...events, ...closing])),
    );

    for (const until = Date.now() + followMs; Date.now() < until; await delay(lookEveryMs)) {
      const seen = await call(url(), 'GET', `/${id}`);
      run.looks.push(seen);
      if (seen.status === 200 && seen.body.status !== 'open') break;
    }
    return run;
  });

/** Looks at each for the last time. */
export const lookAtCharts = async (runs: readonly ChartRun[], url: string): Promise<void> => {
  for (const { chart, id, looks } of runs)
    looks.push(await workflowCalls(chartsId, chart)(url, 'GET', `/${id}`));
};

type Rule = (run: ChartRun, evidence: Evidence) => Iterable<Omit<Violation, 'id'>>;

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const endsAsPlain: Rule = function* ({ looks, expected }) {
  const final = looks.at(-1);
  if (final?.status !== 200) {
    yield {
      rule: 'an acknowledged chart is never lost',
      says: `at the end it is answered with ${final?.status}`,
    };
    return;
  }
  if (looks.some(({ status }) => status === 404))
    yield { rule: 'an acknowledged chart is never lost', says: 'acknowledged, and later unknown' };
  const { status, output } = final.body;
  const outputs = expected.map((each) => each.output);
  if (status !== 'completed' || !outputs.some((each) => same(each, output)))
    yield {
      rule: 'a chart ends as in plain XState',
      says: `it is ${status} with ${JSON.stringify(output)}, and plain XState says ${JSON.stringify(outputs)}`,
    };
};

/** In the order in which they first came, each once. */
const firstOf = (marks: readonly Mark[]): readonly Mark[] => {
  const first = new Map<string, Mark>();
  for (const mark of marks) if (!first.has(mark.key)) first.set(mark.key, mark);
  return [...first.values()];
};

/** With those of its children. */
const ownMarks = (id: string, { loads: { charts } }: Evidence): readonly Mark[] =>
  charts.marks.filter(({ instance }) => instance === id || instance.startsWith(`${id}/`));

const leavesItsMarks: Rule = function* ({ id, expected }, evidence) {
  const own = ownMarks(id, evidence);
  const found = (kind: Mark['kind']): Readonly<Record<string, readonly string[]>> => {
    const says: Record<string, string[]> = {};
    for (const mark of firstOf(own.filter((each) => each.kind === kind)))
      says[mark.instance] = [...(says[mark.instance] ?? []), mark.says];
    return says;
  };
  const sorted = (by: object): unknown => Object.entries(by).toSorted();
  const matches = (kind: 'effects' | 'activities', says: object): boolean =>
    expected.some((each) => same(sorted(each[kind]), sorted(says)));
  const effects = found('effect');
  if (!matches('effects', effects))
    yield {
      rule: 'effects are carried out, in order',
      says: `${JSON.stringify(effects)}, and plain XState says ${JSON.stringify(expected.map((each) => each.effects))}`,
    };
  const activities = found('activity');
  if (!matches('activities', activities))
    yield {
      rule: 'an activity keeps its token, and runs where the chart says',
      says: `${JSON.stringify(activities)}, and plain XState says ${JSON.stringify(expected.map((each) => each.activities))}`,
    };
  const taken = new Set(own.filter(({ isTaken }) => isTaken).map(({ key }) => key));
  for (const { key, kind, says } of firstOf(own))
    if (!taken.has(key))
      yield { rule: 'effects are carried out, in order', says: `${kind} ${says} was given up` };
};

/** A refused mark is tried again after a pause. */
const refusedMs = 2500;

const endsInTime: Rule = function* (run, evidence) {
  const { id, acknowledgedAt = 0, lastTakenAt, looks, expected } = run;
  const endedAt = Date.parse(looks.at(-1)?.body?.endedAt);
  const durationMs = Math.max(...expected.map((each) => each.durationMs));
  const due = lastTakenAt ?? acknowledgedAt + durationMs;
  const latest = excused(hindrances(evidence), due);
  const refused = ownMarks(id, evidence).filter(({ isTaken }) => !isTaken).length;
  const late = endedAt - latest - refused * refusedMs - (latest > due ? durationMs : 0);
  if (late > marginMs)
    yield {
      rule: 'a chart ends in time',
      says: `it ended ${late} ms after its timers and all faults`,
    };
};

const endIsTold: Rule = function* ({ id, chart, looks }, { loads: { charts } }) {
  const state: unknown = looks.at(-1)?.body?.status;
  const told = charts.ends.filter(({ data }) => data.workflow === chart && data.id === id);
  if (told.length !== 1 || told[0]?.data.state !== state)
    yield {
      rule: 'the end of a chart is told once',
      says: `it is ${state}, and ${told.length} callbacks say ${told.map(({ data }) => data.state).join(', ')}`,
    };
};

const rules: readonly Rule[] = [endsAsPlain, leavesItsMarks, endsInTime, endIsTold];

const everyChart: Check = function* (evidence) {
  for (const run of evidence.loads.charts.runs) {
    if (run.acknowledgedAt === undefined) continue;
    for (const rule of rules)
      for (const found of rule(run, evidence)) yield { ...found, id: run.id };
  }
};

export const chartChecks: readonly Check[] = [everyChart];

/** Marks that came again although they had been taken. */
export const repeatedMarks = (marks: readonly Mark[]): number => {
  const taken = new Set<string>();
  let repeated = 0;
  for (const { key, isTaken } of marks) {
    if (taken.has(key)) repeated += 1;
    if (isTaken) taken.add(key);
  }
  return repeated;
};
