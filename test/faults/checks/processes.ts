/**
 * Invariants of signature processes. The checks know the definition and what can be seen from
 * outside, and nothing of how the chart decides.
 */
import type { PlanStep } from '../../../parts/processes/charts/process-plan.ts';
import type { SignerView } from '../../../parts/processes/charts/process-report.ts';
import { maxAsks } from '../../../parts/processes/charts/signer.machine.ts';
import { stepProblems } from '../../support/process-rules.ts';
import type { Evidence, Violation } from '../evidence.ts';
import type { Answer } from '../process-clients.ts';
import {
  excusedIn,
  groupsOf,
  type Known,
  knownProcesses,
  never,
  type Prompt,
  promptsOf,
  type Rule,
  timerMs,
} from './process-known.ts';
import { processTimers } from './process-timers.ts';

/** Of one number: so many prompts at once, and one more in so long (parts/workflows/activities/sign-activity.ts). */
const promptsAtOnce = 6;
const promptEveryMs = 10_000;
/** A place is taken before the transaction is added; a fault may come in between. */
const placeTakenMs = 15_000;

const personIn = (step: PlanStep | undefined, key: string, place: number) => {
  if (key === 'escalated') return step?.escalate?.to;
  const signer = step?.signers.find((each) => each.key === key);
  return place === 0 ? signer?.person : signer?.substitutes[place - 1];
};

const ordersFor = ({ run, steps }: Known, { step, key }: Prompt, what: readonly string[]) =>
  run.orders.filter(
    (order) =>
      what.includes(order.what) &&
      steps[order.step ?? -1]?.name === step &&
      (order.key ?? '') === key,
  );

const isNeverLost: Rule = function* ({ run, final }) {
  const rule = 'an acknowledged process is never lost';
  if (run.acknowledgedAt === undefined) return;
  if (final === undefined)
    yield { rule, says: `at the end it is answered with ${run.final?.status}` };
  if (run.seen.some(({ status }) => status === 404))
    yield { rule, says: 'acknowledged, and later unknown' };
  if (run.seen.some(({ status }) => status === 400 || status === 409))
    yield { rule: 'a repeated start joins the first one', says: 'it was refused' };
  if (final?.status === 'open')
    yield { rule: 'every process ends', says: 'still open when everything was due' };
};

const endsOnce: Rule = function* ({ run, evidence, final }) {
  const rule = 'a process has one outcome';
  const answers = [...run.seen, run.final].flatMap((seen) =>
    seen?.answer === undefined || seen.answer.status === 'open' ? [] : [seen.answer],
  );
  // When it ended is known with the end of its job, which comes later than the end itself.
  const ends = answers.map((answer) => JSON.stringify({ ...answer, endedAt: undefined }));
  const times = answers.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [endedAt]));
  if (new Set(ends).size > 1 || new Set(times).size > 1)
    yield { rule, says: 'its end was told in different words' };
  if (final === undefined || final.status === 'open') return;
  const told = evidence.processes.messages.filter(
    ({ type, data }) => type === 'process.end' && data.process === run.id,
  );
  if (told.length !== 1) yield { rule, says: `its end was told by ${told.length} callbacks` };
  for (const { data } of told)
    if (data.state !== final.status)
      yield { rule, says: `told as ${data.state}, and it is ${final.status}` };
  const [{ arrivedAt } = { arrivedAt: never }] = told;
  const closedAt = excusedIn(evidence, arrivedAt) + timerMs;
  if (run.seen.some(({ from, answer }) => from > closedAt && answer?.status === 'open'))
    yield { rule, says: 'its end was told, and then it was answered as open' };
  if (final.output?.outcome !== final.status)
    yield {
      rule,
      says: `its status is ${final.status}, and its output says ${final.output?.outcome}`,
    };
  const cancelled = run.orders.some(({ what, result }) => what === 'cancel' && result === '202');
  if (cancelled && final.status !== 'cancelled')
    yield { rule, says: `it was cancelled, and it is ${final.status}` };
};

/** How far the clock of a worker and that of Redis may be apart. */
const clockMs = 500;

const inTurn: Rule = function* ({ steps, prompts, evidence }) {
  const of = ({ name }: PlanStep): readonly Prompt[] => prompts.filter(({ step }) => step === name);
  for (const [index, step] of steps.entries()) {
    const begins = Math.min(
      ...of(step).flatMap(({ addedAt, askedAt }) => (askedAt === undefined ? [] : [addedAt])),
    );
    if (begins === never) continue;
    for (const prompt of steps.slice(0, index).flatMap(of)) {
      const { id, step: name, addedAt, askedAt, signedAt, endedAt, isWithdrawn } = prompt;
      const asksLater = askedAt !== undefined && Math.max(addedAt, askedAt - clockMs) > begins;
      // A worker that stood still while it was about to ask; the prompt must be taken back at once.
      // A robot that signs in the same moment leaves no time for that.
      const stoodStill = asksLater && askedAt <= excusedIn(evidence, begins);
      const isTooLate = stoodStill && signedAt !== undefined && signedAt - askedAt < clockMs;
      if (asksLater && askedAt !== endedAt && !isWithdrawn && !isTooLate)
        yield {
          rule: 'nobody is asked out of turn',
          says: `${id} of ${name} was asked ${askedAt - begins} ms after ${step.name} had begun`,
        };
      const late = endedAt - excusedIn(evidence, Math.max(begins, addedAt));
      if (late > timerMs)
        yield {
          rule: 'a step begins when the one before has ended',
          says: `${id} of ${name} ended ${late} ms after ${step.name} had begun`,
        };
    }
  }
};

const isAsDefined: Rule = function* ({ plan, final }) {
  if (final?.context === undefined || final.status === 'open') return;
  for (const says of stepProblems(plan.steps, plan.compensation.length > 0, final.context))
    yield { rule: 'steps end as they are defined', says };
};

const signersOf = (
  final: Answer | undefined,
): readonly (SignerView & { readonly step: string })[] =>
  (final?.context?.steps ?? []).flatMap(({ name, signers }) =>
    signers.map((each) => ({ ...each, step: name })),
  );

const signaturesCount: Rule = function* ({ run, steps, prompts, final, evidence }) {
  const rule = 'who has signed has signed';
  const signers = signersOf(final);
  for (const { step, key, state, msspTransId } of signers) {
    const found = prompts.find(({ id }) => id === msspTransId);
    if (state === 'signed' && (!found?.isSigned || found.step !== step || found.key !== key))
      yield { rule, says: `${step} ${key} is said to have signed ${msspTransId}` };
  }
  for (const { id, step, key, place, msisdn, isSigned, endedAt } of prompts) {
    const person = personIn(
      steps.find(({ name }) => name === step),
      key,
      place,
    );
    if (person?.msisdn !== `+${msisdn.replace('+', '')}`)
      yield { rule: 'nobody else is asked', says: `${id} of ${step} ${key}` };
    if (!isSigned || final === undefined || signers.some(({ msspTransId }) => msspTransId === id))
      continue;
    // It may have come too late.
    const gone = signers.find((each) => each.step === step && each.key === key);
    const late = (gone?.at ?? never) - excusedIn(evidence, endedAt);
    if (late > timerMs)
      yield { rule, says: `${id} was signed, and ${step} ${key} is ${gone?.state}` };
  }
  const record = run.evidence;
  const verified = 'the evidence verifies';
  if (final === undefined || final.status === 'open') return;
  if (record === undefined) yield { rule: verified, says: 'there is none' };
  else if ('problems' in record) for (const says of record.problems) yield { rule: verified, says };
  else {
    const inView = signers.flatMap(({ state, msspTransId }) =>
      state === 'signed' ? [msspTransId] : [],
    );
    const inRecord = record.signatures.map(({ msspTransId }) => msspTransId);
    if (record.outcome !== final.status || inView.join() !== inRecord.join())
      yield {
        rule: verified,
        says: `it says ${record.outcome} by ${inRecord.length}, not ${inView.length}`,
      };
  }
};

const withinLimits: Rule = function* (known) {
  const { steps, prompts } = known;
  const people = groupsOf(prompts, ({ step, key, place }) => `${step} ${key}/${place}`);
  for (const [who, own] of people) {
    const [first] = own;
    if (first === undefined) continue;
    const step = steps.find(({ name }) => name === first.step);
    const pressed = ordersFor(known, first, ['press', 'again']);
    const isOnPage =
      step?.ask === 'page' || (typeof step?.ask === 'object' && step.ask.to !== '24:00');
    const schedule = step?.askAgain?.times ?? 0;
    const most = Math.min((isOnPage ? 0 : 1) + schedule + pressed.length, maxAsks);
    if (own.length > most)
      yield {
        rule: 'no prompt beyond the limits',
        says: `${who} got ${own.length} prompts, and ${most} were due`,
      };
    const earliest = Math.min(...own.map(({ addedAt }) => addedAt));
    if (isOnPage && earliest < Math.min(...pressed.map(({ from }) => from)))
      yield {
        rule: 'a phone is asked when its definition says',
        says: `${who}, before Sign was pressed`,
      };
    const signed = own.find(({ isSigned }) => isSigned);
    for (const { id, addedAt } of own)
      if (signed !== undefined && addedAt > signed.endedAt)
        yield {
          rule: 'nobody is asked twice for what they have signed',
          says: `${id}: ${who} again`,
        };
  }
};

const rules: readonly Rule[] = [
  isNeverLost,
  endsOnce,
  inTurn,
  isAsDefined,
  signaturesCount,
  withinLimits,
  ...processTimers,
];

const everyProcess = function* (evidence: Evidence): Generator<Violation> {
  for (const known of knownProcesses(evidence))
    for (const rule of rules) for (const found of rule(known)) yield { ...found, id: known.run.id };
};

const numbersAreSpared = function* (evidence: Evidence): Generator<Violation> {
  const all = [...promptsOf(evidence).values()].flat();
  for (const [msisdn, own] of groupsOf(all, (prompt) => prompt.msisdn)) {
    const times = own.map(({ addedAt }) => addedAt).sort((one, other) => one - other);
    for (const [from, first] of times.entries()) {
      const to = times.findIndex(
        (at, index) =>
          index >= from &&
          index - from + 1 > promptsAtOnce + (at - first + placeTakenMs) / promptEveryMs,
      );
      if (to === -1) continue;
      const says = `${msisdn} got ${to - from + 1} prompts in ${(times[to] ?? 0) - first} ms`;
      yield { rule: 'no prompt beyond the limits', says };
      break;
    }
  }
};

const noOrphans = function* ({ processes: { instances } }: Evidence): Generator<Violation> {
  const all = new Map(instances.map((each) => [each.id, each]));
  for (const { id, isOver } of instances) {
    const parent = /^(.+)\.[^.]+\.\d+$/.exec(id)?.[1];
    if (parent === undefined) continue;
    const rule = 'no child without a parent';
    const found = all.get(parent);
    if (found === undefined) yield { rule, id, says: 'its parent is gone' };
    else if (found.isOver && !isOver) yield { rule, id, says: 'open, and its parent has ended' };
  }
};

export const processChecks = [everyProcess, numbersAreSpared, noOrphans];
