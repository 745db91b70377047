/** `paraph evidence`, and what `paraph workflow show` says of a process. */
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { listFields } from '../../src/command-line/screen.ts';
import type { HostedWorkflows } from '../workflows/index.ts';
import type { StepView } from './charts/process-report.ts';
import type { DefinitionAddition } from './definition/addition.ts';
import { createAddEvidence } from './evidence/evidence.command.ts';

/** @param addition Members of another part. */
export const createProcessCommands = (addition?: DefinitionAddition): PartCommands => ({
  add: { 'Sign:': [createAddEvidence(addition)] },
  examples: {
    'evidence verify': [
      'evidence.jws --service-root root.pem',
      'a.json --service-root root.pem --definition input.json',
    ],
    'workflow ls': ['--name process --status open'],
    'workflow cancel': ['aZ3_kQ9xLm2p-process--7 --reason "Wrong contract"'],
  },
});

export const shownPeople: NonNullable<HostedWorkflows['shown']> = (detail) => {
  const { steps } = detail as { readonly steps?: readonly StepView[] };
  return (
    steps &&
    listFields(
      'people',
      steps.flatMap((step) =>
        step.signers.map((each) => `${step.name}: ${each.name} ${each.state}`),
      ),
    )
  );
};
