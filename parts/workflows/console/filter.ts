/** The filter of the list of workflows. */
import { z } from 'zod';
import {
  type Fields,
  type FilterLabels,
  filterLabels,
  readFields,
  transactionFilter,
} from '../../../src/console/filter.ts';
import { text } from '../../../src/console/input.ts';
import { statuses } from '../instances/contract.ts';

const { apId, msisdn, from, to, text: part } = transactionFilter.shape;
export const workflowFilter = z
  .object({ status: z.enum(statuses, { error: 'must be a status' }), name: text(64) })
  .partial()
  .extend({ apId, msisdn, from, to, text: part });
export type WorkflowField = keyof typeof workflowFilter.shape;

/** Each field's label on pages, and its error. */
export const workflowLabels: FilterLabels<WorkflowField> = {
  ...filterLabels,
  status: ['Status', 'Choose a status of the list'],
  name: ['Workflow', 'This is too long'],
};

/** @param fields Of an address. */
export const readWorkflowFilter = (fields: Fields) =>
  readFields(workflowFilter, workflowLabels, fields);
