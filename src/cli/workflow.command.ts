/** `paraph workflow`: charts in files, and the instances of a service. */
import type { AddCommand } from './context.ts';
import { addWorkflowFiles } from './workflow-file.ts';

export const addWorkflow: AddCommand = (program, context, done) => {
  const workflow = program.command('workflow').description('check and try workflows of your own');
  addWorkflowFiles(workflow, context, done);
};
