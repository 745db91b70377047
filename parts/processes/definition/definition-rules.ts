/** What must hold between the members of a definition. */

import { dtbsLimit } from '../../../packages/protocol/src/gsm.ts';
import { maxPeople, readDuration, readInstant } from '../../workflows/index.ts';
import { type Condition, holds, type StepFacts } from '../charts/process-plan.ts';
import { type DefinitionAddition, isEmpty, membersOf } from './addition.ts';
import {
  longestList,
  type PersonDefinition,
  type ProcessDefinition,
  type StepDefinition,
  tooManyPeople,
} from './definition.ts';

type Signer = StepDefinition['signers'][number];

/**
 * A step of the compensation ends, too, although the deadline of the process has no effect on it.
 */
export const compensationDeadlineMs = 7 * 86_400_000;

export const keyOf = ({ key }: Signer, index: number): string => key ?? String(index + 1);
export const digitsOf = (msisdn: string): string => msisdn.replace('+', '');

export const needOf = ({ need, signers }: StepDefinition): number =>
  need === 'all' ? signers.length : need === 'first' ? 1 : need;

const hasSubstitutes = ({ signers }: StepDefinition): boolean =>
  signers.some(({ substitutes = [] }) => substitutes.length > 0);

/** The rules of a step, with their defaults. */
export const rulesOf = (step: StepDefinition) => {
  const replaces = hasSubstitutes(step);
  const {
    onRefusal = replaces ? 'substitute' : 'fail',
    onUnreached = replaces ? 'substitute' : 'wait',
  } = step;
  return { onRefusal, onUnreached, onDeadline: step.onDeadline };
};

/** The members of an addition for a step; undefined without any. */
export const addedTo = (
  definition: ProcessDefinition,
  step: StepDefinition,
  inCompensation: boolean,
  addition: DefinitionAddition | undefined,
) => {
  const added = membersOf(addition, 'definition', definition);
  return isEmpty(added)
    ? undefined
    : addition?.stepOf(added, membersOf(addition, 'step', step), inCompensation);
};

/** The people of a step, with their places in it, and the text that each signs. */
const peopleOf = (step: StepDefinition, usual: string | undefined) => {
  const text = step.text ?? usual;
  const people: { place: string; person: PersonDefinition; text: string | undefined }[] = [];
  step.signers.forEach((signer, index) => {
    const own = signer.text ?? text;
    people.push({ place: `signers[${index}]`, person: signer, text: own });
    signer.substitutes?.forEach((person, at) => {
      const place = `signers[${index}].substitutes[${at}]`;
      people.push({ place, person, text: person.text ?? own });
    });
  });
  const { to } = step.escalate ?? {};
  if (to !== undefined) people.push({ place: 'escalate.to', person: to, text: to.text ?? text });
  return people;
};

/** @param place `steps[1].signers[0].msisdn`. */
const problem = (place: string, words: string): string => `${place} ${words}`;

/** @param at Of the step: `steps[1]`. */
function* personProblems(
  step: StepDefinition,
  at: string,
  {
    usual,
    isKnown,
  }: {
    readonly usual: string | undefined;
    readonly isKnown: (msisdn: string) => boolean;
  },
  roomFor: (text: string) => number | undefined,
): Generator<string> {
  const numbers = new Set<string>();
  for (const { place, person, text } of peopleOf(step, usual)) {
    const where = `${at}.${place}`;
    const number = digitsOf(person.msisdn);
    if (numbers.has(number)) yield problem(`${where}.msisdn`, 'must not be in a step twice');
    numbers.add(number);
    if (!isKnown(number)) yield problem(`${where}.msisdn`, 'is not known');
    const room = roomFor(text ?? '');
    if (text === undefined) {
      if (room === undefined)
        yield problem(
          `${where}.text`,
          'must be there: neither the step nor the process has a text',
        );
      continue;
    }
    const most = dtbsLimit(text) - (room ?? 0);
    if (text.length <= most) continue;
    const why = [
      dtbsLimit(text) === 239 ? [] : ['because some are not in the GSM 03.38 alphabet'],
      room === undefined ? [] : ['because the text also says what is signed'],
    ].flat();
    yield problem(`${where}.text`, `may have ${most} characters at most, ${why.join(', and ')}`);
  }
}

/**
 * The possible results of a step, as far as a condition looks at it.
 *
 * @param inCompensation The condition is one of the compensation: the process ended in any step.
 */
const resultsOf = (
  step: StepDefinition,
  looked: readonly string[],
  inCompensation: boolean,
): readonly StepFacts[] => {
  const need = needOf(step);
  const { onRefusal, onUnreached, onDeadline } = rulesOf(step);
  const others = step.signers.length - looked.length;
  const subsets = Array.from({ length: 2 ** looked.length }, (_, bits) =>
    looked.filter((_key, index) => (bits >> index) % 2 === 1),
  );
  const isPossible = (signed: readonly string[]): boolean =>
    signed.length <= need && (step.escalate !== undefined || signed.length + others >= need);
  const isUnmetPossible = [onRefusal, onUnreached, onDeadline].includes('continue');
  return [
    ...subsets.filter(isPossible).map((signed) => ({ state: 'done', signed })),
    ...(isUnmetPossible
      ? subsets.filter(({ length }) => length < need).map((signed) => ({ state: 'unmet', signed }))
      : []),
    ...(step.if === undefined ? [] : [{ state: 'skipped', signed: [] }]),
    // The empty subset is also that of a step that has not begun.
    ...(inCompensation ? subsets.map((signed) => ({ state: 'failed', signed })) : []),
  ];
};

type Comparison = Extract<Condition, { readonly step: string }>;

const comparisonsOf = (condition: Condition): readonly Comparison[] => {
  if ('all' in condition) return condition.all.flatMap(comparisonsOf);
  if ('any' in condition) return condition.any.flatMap(comparisonsOf);
  return 'not' in condition ? comparisonsOf(condition.not) : [condition];
};

/**
 * The event loop waits for the tries. With more signers, or more comparisons in all tries of all
 * conditions of the definition, a condition counts as possible.
 */
const maxLooked = 8;
const maxCompared = 100_000;
interface Budget {
  comparisons: number;
}

/**
 * The conditions, by the names of their steps, on which it depends through the steps that it names.
 */
const conditionsBehind = (
  condition: Condition,
  earlier: readonly StepDefinition[],
): ReadonlyMap<string, Condition> => {
  const behind = new Map<string, Condition>();
  const look = (each: Condition): void => {
    for (const { step: name } of comparisonsOf(each)) {
      const { if: next } = earlier.find((step) => step.name === name) ?? {};
      if (next === undefined || behind.has(name)) continue;
      behind.set(name, next);
      look(next);
    }
  };
  look(condition);
  return behind;
};

/** @param behind With these, a step is skipped exactly when its own condition does not hold. */
const canHold = (
  condition: Condition,
  behind: ReadonlyMap<string, Condition>,
  earlier: readonly StepDefinition[],
  inCompensation: boolean,
  budget: Budget,
): boolean => {
  const looked = new Map<string, Set<string>>();
  const comparisons = [condition, ...behind.values()].flatMap(comparisonsOf);
  for (const each of comparisons) {
    const keys = looked.get(each.step) ?? new Set();
    if ('signer' in each) keys.add(each.signer);
    looked.set(each.step, keys);
  }
  if ([...looked.values()].reduce((sum, { size }) => sum + size, 0) > maxLooked) return true;
  const options = [...looked].map(([name, keys]) => {
    const step = earlier.find((each) => each.name === name);
    return { name, results: step === undefined ? [] : resultsOf(step, [...keys], inCompensation) };
  });
  const tries = options.reduce((product, { results }) => product * results.length, 1);
  if (tries * comparisons.length > budget.comparisons) return true;
  // A step that has failed may also be one that the process never came to.
  const fits = (factsOf: (name: string) => StepFacts | undefined): boolean =>
    [...behind].every(([name, own]) => {
      const { state } = factsOf(name) ?? {};
      return state === 'failed' || (state !== 'skipped') === holds(own, factsOf);
    });
  for (let number = 0; number < tries; number += 1) {
    budget.comparisons -= comparisons.length;
    let rest = number;
    const facts = new Map(
      options.map(({ name, results }) => {
        const result = results[rest % results.length];
        rest = Math.floor(rest / results.length);
        return [name, result];
      }),
    );
    const factsOf = (name: string) => facts.get(name);
    if (holds(condition, factsOf) && fits(factsOf)) return true;
  }
  return false;
};

function* conditionProblems(
  condition: Condition,
  at: string,
  earlier: readonly StepDefinition[],
): Generator<string> {
  if ('all' in condition) {
    for (const [index, each] of condition.all.entries())
      yield* conditionProblems(each, `${at}.all[${index}]`, earlier);
  } else if ('any' in condition) {
    for (const [index, each] of condition.any.entries())
      yield* conditionProblems(each, `${at}.any[${index}]`, earlier);
  } else if ('not' in condition) yield* conditionProblems(condition.not, `${at}.not`, earlier);
  else {
    const named = earlier.find(({ name }) => name === condition.step);
    if (named === undefined) yield problem(`${at}.step`, 'must name an earlier step');
    else if ('signer' in condition && !named.signers.map(keyOf).includes(condition.signer))
      yield problem(`${at}.signer`, 'must be the key of a signer of that step');
  }
}

/** @param at Of a step. */
const isCompensation = (at: string): boolean => at.startsWith('compensation');

/** The longest time that is left until a deadline, for what begins now or later. */
const remainingMs = (deadline: string, now: number): number => {
  const until = readInstant(deadline);
  return until === undefined ? readDuration(deadline) : until - now;
};

function* stepProblems(
  step: StepDefinition,
  at: string,
  earlier: readonly StepDefinition[],
  context: {
    readonly now: number;
    /** The deadline of the process. */
    readonly deadline: string;
    readonly usual: string | undefined;
    readonly isKnown: (msisdn: string) => boolean;
    readonly roomIn: (step: StepDefinition, at: string) => (text: string) => number | undefined;
  },
): Generator<string> {
  const { if: condition, signers, deadline, escalate } = step;
  const inCompensation = isCompensation(at);
  if (earlier.some(({ name }) => name === step.name)) yield problem(`${at}.name`, 'must be unique');
  const keys = signers.map(keyOf);
  for (const [index, key] of keys.entries())
    if (keys.indexOf(key) < index)
      yield problem(`${at}.signers[${index}].key`, 'must be unique in the step');
  if (needOf(step) > signers.length)
    yield problem(`${at}.need`, 'must not be more than the signers');
  yield* personProblems(step, at, context, context.roomIn(step, at));
  if (condition !== undefined) {
    if (comparisonsOf(condition).length > longestList)
      yield problem(`${at}.if`, `may have ${longestList} comparisons at most`);
    yield* conditionProblems(condition, `${at}.if`, earlier);
  }
  const rules = [step.onRefusal, step.onUnreached];
  if (hasSubstitutes(step)) {
    if (rules.every((rule) => rule !== undefined && rule !== 'substitute'))
      yield problem(
        `${at}.onRefusal`,
        'must be substitute, or onUnreached: the substitutes would never be asked',
      );
  } else if (rules.includes('substitute')) {
    const member = step.onRefusal === 'substitute' ? 'onRefusal' : 'onUnreached';
    yield problem(`${at}.${member}`, 'must not be substitute: no signer has one');
  }
  const until = deadline === undefined ? undefined : readInstant(deadline);
  if (until !== undefined && until <= context.now)
    yield problem(`${at}.deadline`, 'must not be in the past');
  if (escalate === undefined) return;
  const afterMs = readDuration(escalate.after);
  const usualMs = inCompensation ? compensationDeadlineMs : Number.POSITIVE_INFINITY;
  if (afterMs >= (deadline === undefined ? usualMs : remainingMs(deadline, context.now)))
    yield problem(`${at}.escalate.after`, 'must be less than the deadline of the step');
  if (!inCompensation && afterMs >= remainingMs(context.deadline, context.now))
    yield problem(`${at}.escalate.after`, 'must be less than the deadline of the process');
}

interface PlacedStep {
  readonly step: StepDefinition;
  /** `steps[1]`. */
  readonly at: string;
}

const stepsOf = ({ steps, compensation }: ProcessDefinition): readonly PlacedStep[] => [
  ...steps.map((step, index) => ({ step, at: `steps[${index}]` })),
  ...compensation.flatMap((step, index) =>
    'name' in step ? [{ step, at: `compensation[${index}]` }] : [],
  ),
];

/** What a definition is checked with. */
export interface DefinitionContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly isKnown: (msisdn: string) => boolean;
  readonly addition?: DefinitionAddition | undefined;
}

function* ruleProblems(
  definition: ProcessDefinition,
  { now, isKnown, addition }: DefinitionContext,
): Generator<string> {
  const { text: usual, deadline } = definition;
  const all = stepsOf(definition);
  const added = membersOf(addition, 'definition', definition);
  const roomIn = (step: StepDefinition, at: string) => {
    const isAdded = addedTo(definition, step, isCompensation(at), addition) !== undefined;
    return (text: string) => (isAdded ? addition?.textRoomFor(text) : undefined);
  };
  if (addition !== undefined)
    yield* addition.problemsIn(
      added,
      all.map(({ step, at }) => ({ at, members: membersOf(addition, 'step', step) })),
    );
  let people = 0;
  for (const { step, at } of all) {
    people += peopleOf(step, usual).length;
    if (people > maxPeople) yield problem(`${at}.signers`, tooManyPeople);
  }
  const until = readInstant(deadline);
  if (until !== undefined && until <= now) yield problem('deadline', 'must not be in the past');
  for (const [index, { step, at }] of all.entries()) {
    const earlier = all.slice(0, index).map((each) => each.step);
    yield* stepProblems(step, at, earlier, { now, deadline, usual, isKnown, roomIn });
  }
}

/**
 * @param definition Without any other problem: a condition names steps and signers that are there.
 */
function* hopelessConditions(definition: ProcessDefinition): Generator<string> {
  const all = stepsOf(definition);
  const budget = { comparisons: maxCompared };
  for (const [index, { step, at }] of all.entries()) {
    const { if: condition } = step;
    if (condition === undefined) continue;
    const earlier = all.slice(0, index).map((each) => each.step);
    const behind = conditionsBehind(condition, earlier);
    // Alone it needs fewer tries, so it is decided more often.
    const looks = behind.size === 0 ? [behind] : [new Map(), behind];
    if (looks.some((each) => !canHold(condition, each, earlier, isCompensation(at), budget)))
      yield problem(`${at}.if`, 'must be able to hold: the step would never begin');
  }
}

/** @returns All problems: each names its place, and what is wrong there. */
export const findProblems = (
  definition: ProcessDefinition,
  context: DefinitionContext,
): readonly string[] => {
  const found = [...ruleProblems(definition, context)];
  return found.length > 0 ? found : [...hopelessConditions(definition)];
};
