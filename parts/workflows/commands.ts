/** `paraph workflow`. */
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { addWorkflow } from './command.ts';
import type { HostedWorkflows } from './hosted.ts';

export const workflowCommands = (hosted: readonly HostedWorkflows[]): PartCommands => ({
  add: { 'Workflows:': [addWorkflow(hosted)] },
  examples: {
    'workflow ls': ['--name approval --status open'],
    'workflow send': [`aZ3_kQ9xLm2p-order-7 APPROVE --data '{"by":"Anna"}'`],
    'workflow cancel': ['aZ3_kQ9xLm2p-order-7 --reason "Wrong contract"'],
  },
  errors: { 'workflows unknown': 'unknown-instance' },
  // Charts are programs of the operator.
  readsFiles: ['workflow'],
});
