/** Tries charts in files: `paraph workflow check` and `paraph workflow test`. */
import { definePart } from '../../src/part/part.ts';
import type { HostedWorkflows } from '../workflows/index.ts';
import { addFileCommands } from './file.command.ts';

const brought: HostedWorkflows = { addCommands: addFileCommands };

export const rehearsal = definePart({
  name: 'rehearsal',
  needs: ['workflows'],
  brings: { workflows: brought },
  commands: {
    add: {},
    examples: {
      'workflow check': ['approval.workflow.mjs'],
      'workflow test': ['approval.workflow.mjs --events events.json'],
    },
  },
});
