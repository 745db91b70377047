/** Invariant: the timers of a process fire in time, seen from outside. */
import { excusedIn, isStep, type Rule, timerMs } from './process-known.ts';

const rule = 'every timer fires within five seconds';

const endsInTime: Rule = function* ({ plan, final, evidence }) {
  if (final?.endedAt === undefined) return;
  const isCompensated = (final.context?.steps.length ?? 0) > plan.steps.length;
  const more = plan.compensation
    .filter(isStep)
    .flatMap(({ deadline }) => (deadline && 'afterMs' in deadline ? [deadline.afterMs] : []));
  const due = plan.deadline + (isCompensated ? more.reduce((sum, ms) => sum + ms, 0) : 0);
  const late = Date.parse(final.endedAt) - excusedIn(evidence, due);
  if (late > timerMs)
    yield {
      rule,
      says: `it ended ${late} ms after its deadline and all faults`,
    };
};

const timersFire: Rule = function* ({ run, plan, evidence }) {
  const views = run.seen.flatMap(({ from, to, answer }) => {
    const index = answer?.context?.steps.findIndex(({ state }) => state === 'open') ?? -1;
    const step = answer?.context?.steps[index];
    return step === undefined ? [] : [{ index, from, to, step }];
  });
  for (const [index, step] of plan.steps.entries()) {
    const open = views.filter((view) => view.index === index);
    const [first] = open;
    if (first === undefined) continue;
    /** The looks at which a timer must have fired. */
    const after = (due: number) =>
      open.filter(({ from }) => from > excusedIn(evidence, due) + timerMs);
    const { deadline, escalate, remindMs, signers } = step;
    if (deadline !== undefined) {
      const due = 'at' in deadline ? Math.max(deadline.at, first.to) : first.to + deadline.afterMs;
      const [late] = after(due);
      if (late !== undefined)
        yield { rule, says: `${step.name} is open ${late.from - due} ms after its deadline` };
    }
    if (escalate !== undefined) {
      const due = first.to + escalate.afterMs;
      const late = after(due).find((view) =>
        view.step.signers.every(({ key }) => key !== 'escalated'),
      );
      if (late !== undefined)
        yield {
          rule,
          says: `${step.name} was not escalated ${late.from - due} ms after it was due`,
        };
    }
    for (const { key } of signers) {
      const told = evidence.processes.messages.filter(
        ({ type, data }) =>
          type === 'process.reminded' &&
          data.process === run.id &&
          data.step === step.name &&
          data.key === key,
      );
      for (const [place, ms] of remindMs.entries()) {
        const due = first.to + ms;
        const late = after(due).find(({ step: { signers: seen } }) => {
          const own = seen.filter((each) => each.key === key);
          return own.length === 1 && own[0]?.state === 'open';
        });
        const count = told.filter(({ at }) => at <= (late?.from ?? 0)).length;
        if (late !== undefined && count <= place)
          yield {
            rule,
            says: `${step.name} ${key} got ${count} reminders, and ${place + 1} were due`,
          };
      }
      const most =
        remindMs.length * (1 + (signers.find((each) => each.key === key)?.substitutes.length ?? 0));
      if (told.length > most && run.orders.every(({ what }) => what !== 'again'))
        yield {
          rule: 'no prompt beyond the limits',
          says: `${step.name} ${key}: ${told.length} reminders`,
        };
    }
  }
};

const asksAgain: Rule = function* ({ run, plan, prompts, evidence }) {
  for (const { name, ask, askAgain, signers } of plan.steps) {
    const isByPage = ask === 'page' || (typeof ask === 'object' && ask.to !== '24:00');
    if (askAgain === undefined || isByPage) continue;
    for (const { key, substitutes } of signers) {
      if (substitutes.length > 0) continue;
      const own = prompts
        .filter((each) => each.step === name && each.key === key)
        .sort((one, other) => one.addedAt - other.addedAt);
      const last = own.at(-1);
      if (last === undefined || !last.isMissed || own.length > askAgain.times) continue;
      const closedAt = excusedIn(evidence, last.endedAt + askAgain.everyMs) + timerMs;
      const late = run.seen.find(
        ({ from, answer }) =>
          from > closedAt &&
          answer?.context?.steps.some(
            (step) =>
              step.name === name &&
              step.state === 'open' &&
              step.signers.some((each) => each.key === key && each.state === 'open'),
          ),
      );
      if (late !== undefined)
        yield {
          rule,
          says: `${name} ${key} was not asked again ${late.from - last.endedAt} ms after ${last.id}`,
        };
    }
  }
};

export const processTimers: readonly Rule[] = [endsInTime, timersFire, asksAgain];
