/** What programs that add workflows by themselves check of processes. */
import type { InputRules } from '../workflows/index.ts';
import type { DefinitionAddition } from './definition/addition.ts';
import { checkDefinition } from './definition/check-definition.ts';
import { mailWorkflowName, processName } from './names.ts';

/** @param addition Members of another part. */
const createProcessInputs = (addition?: DefinitionAddition): InputRules => ({
  receive: ([one]) => createProcessInputs(one as DefinitionAddition | undefined),
  hidden: [mailWorkflowName],
  problemIn: (name, input, now) => {
    if (name !== processName) return undefined;
    const checked = checkDefinition(input, { now, isKnown: () => true, addition });
    return checked.ok ? undefined : checked.problem;
  },
});

export const processInputs = createProcessInputs();
