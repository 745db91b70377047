/** What programs that add workflows by themselves check of processes. */
import type { InputRules } from '../workflows/index.ts';
import { checkDefinition } from './definition/check-definition.ts';
import { mailWorkflowName, processName } from './names.ts';

export const processInputs: InputRules = {
  hidden: [mailWorkflowName],
  problemIn: (name, input, now) => {
    if (name !== processName) return undefined;
    const checked = checkDefinition(input, { now, isKnown: () => true });
    return checked.ok ? undefined : checked.problem;
  },
};
