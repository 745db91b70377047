/** `paraph workflow` and `paraph evidence`. */
import type { PartCommands } from '../../../src/command-line/part-commands.ts';
import { addEvidence } from './evidence.command.ts';
import { addWorkflow } from './workflow.command.ts';

export const processCommands: PartCommands = {
  add: { 'Sign:': [addEvidence], 'Workflows:': [addWorkflow] },
  examples: {
    'evidence verify': [
      'evidence.jws --service-root root.pem',
      'a.json --service-root root.pem --definition input.json',
    ],
    'workflow ls': ['--name process --status open'],
    'workflow send': [`aZ3_kQ9xLm2p-order-7 APPROVE --data '{"by":"Anna"}'`],
    'workflow cancel': ['aZ3_kQ9xLm2p-process--7 --reason "Wrong contract"'],
    'workflow check': ['approval.workflow.mjs'],
    'workflow test': ['approval.workflow.mjs --events events.json'],
  },
  errors: { 'workflows unknown': 'unknown-instance' },
  // Charts are programs of the operator.
  readsFiles: ['workflow'],
};
