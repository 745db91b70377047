/**
 * What the definition of a process says about its published view. Knows nothing of how the chart
 * decides.
 */
import type { Condition, PlanStep } from '../../parts/processes/charts/process-plan.ts';
import type { ProcessView, StepView } from '../../parts/processes/charts/process-report.ts';

const holds = (condition: Condition | undefined, steps: readonly StepView[]): boolean => {
  if (condition === undefined) return true;
  if ('not' in condition) return !holds(condition.not, steps);
  if ('all' in condition) return condition.all.every((each) => holds(each, steps));
  if ('any' in condition) return condition.any.some((each) => holds(each, steps));
  const step = steps.find(({ name }) => name === condition.step);
  if ('is' in condition) return step?.state === condition.is;
  const hasSigned = step?.signers.some(
    ({ key, state }) => key === condition.signer && state === 'signed',
  );
  return (hasSigned ?? false) === condition.signed;
};

const signedKeys = ({ signers }: StepView): ReadonlySet<string> =>
  new Set(signers.filter(({ state }) => state === 'signed').map(({ key }) => key));

/** Failures that may come when enough have signed, and before this is known. */
const endsSteps: readonly string[] = ['EXPIRED', 'CANCELLED'];

/** @returns What a step of a process that has ended must not be. */
const problemOf = (
  step: PlanStep,
  view: StepView,
  { steps, failure }: ProcessView,
): string | undefined => {
  const keys = signedKeys(view);
  const isEnough = keys.size >= step.need || keys.has('escalated');
  const isTimed = step.deadline !== undefined;
  const is = (state: string) => view.signers.some((each) => each.state === state);
  // Somebody gave no signature, and the rule for just this says that the process goes on.
  const mayGoOn =
    step.onDeadline === 'continue' ||
    (step.onRefusal === 'continue' && is('refused')) ||
    (step.onUnreached === 'continue' && is('unreached'));
  switch (view.state) {
    case 'done':
      return isEnough ? undefined : `done with ${keys.size} of ${step.need} signatures`;
    case 'unmet':
      // A signature may come in when the deadline has decided.
      return (isEnough ? isTimed && step.onDeadline === 'continue' : mayGoOn)
        ? undefined
        : 'unmet, against its rules';
    case 'skipped':
      return holds(step.if, steps) ? 'skipped, and its condition holds' : undefined;
    case 'failed':
      return failure !== undefined && (!isEnough || endsSteps.includes(failure.reason))
        ? undefined
        : 'failed, and nothing says why';
    case 'waiting':
      return failure === undefined ? 'waiting, and the process has not failed' : undefined;
    default:
      return `${view.state} at the end`;
  }
};

/** @param plan The steps without the compensation. @param view Of a process that has ended. */
export function* stepProblems(
  plan: readonly PlanStep[],
  compensates: boolean,
  view: ProcessView,
): Generator<string> {
  let isStopped = false;
  for (const [index, step] of plan.entries()) {
    const seen = view.steps[index];
    if (seen?.name !== step.name) {
      yield `${step.name} is not published`;
      continue;
    }
    const problem =
      isStopped && seen.state !== 'waiting'
        ? 'after the step that has failed'
        : problemOf(step, seen, view);
    if (problem !== undefined) yield `${step.name} is ${problem}`;
    const isIdle = seen.state === 'waiting' || seen.state === 'skipped';
    if (!isIdle && !holds(step.if, view.steps))
      yield `${step.name} began, and its condition does not hold`;
    if (isIdle && seen.signers.some(({ state }) => state !== 'waiting'))
      yield `${step.name} is ${seen.state}, and somebody was asked`;
    if (seen.signers.some(({ state }) => state === 'open' || state === 'rests'))
      yield `${step.name} has somebody who is open`;
    isStopped ||= seen.state === 'failed' || seen.state === 'waiting';
  }
  const hasSigned = view.steps.slice(0, plan.length).some((step) => signedKeys(step).size > 0);
  const mustCompensate = compensates && view.failure !== undefined && hasSigned;
  if (view.steps.length > plan.length !== mustCompensate)
    yield mustCompensate ? 'it does not compensate' : 'it compensates without a reason';
}
