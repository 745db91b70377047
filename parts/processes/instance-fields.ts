/** The filter of the list of instances: a table of fields, like that of transactions. */
import {
  between,
  type Choice,
  type FilterOf,
  numberOf,
  oneOf,
  partOf,
  textOf,
} from '../../src/history/fields.ts';
import { nameIn, ownPartOf, tenantOf, tenantOfInstance } from '../../src/jobs/instance-ids.ts';
import { statuses, type WorkflowStatus } from './workflows/contract.ts';

export interface ListedInstance {
  readonly id: string;
  readonly status: WorkflowStatus;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** By which it was found: of somebody whom a process names, digits. */
  readonly number?: string;
}

const choices: readonly Choice[] = statuses;

/** In the order of the page. */
export const instanceFields = {
  status: oneOf({ of: ({ status }: ListedInstance) => status }, statuses, {
    label: 'Status',
    about: 'How the instance stands.',
    option: ['--status <statuses>', `in one of these: ${statuses.join(', ')}`],
    must: `must be one of ${statuses.join(', ')}`,
    choices,
  }),
  name: textOf(
    { of: ({ id }: ListedInstance) => nameIn(id) },
    {
      label: 'Workflow',
      about: 'The name of the workflow: `process`, or one of your own.',
      option: ['--name <workflow>', 'of this workflow: process, or one of your own'],
    },
  ),
  apId: textOf(
    { of: ({ id }: ListedInstance) => tenantOfInstance(id) },
    {
      label: 'Application',
      about: 'The AP_ID of its application.',
      option: ['--ap <id>', 'of this AP_ID'],
    },
    tenantOf,
  ),
  msisdn: numberOf(
    { of: ({ number = '' }: ListedInstance) => number },
    {
      label: 'Number of a signer',
      about: 'The phone number of anybody whom the definition of a process names.',
      option: ['--msisdn <number>', 'of a signer with this mobile number'],
    },
  ),
  text: partOf(({ id }: ListedInstance) => [ownPartOf(id)], {
    label: 'Part of the id',
    about: 'A part of the id that the application has chosen.',
    option: ['--text <text>', 'a part of the id'],
  }),
  ...between(
    { of: ({ createdAt }: ListedInstance) => createdAt },
    {
      label: 'Started',
      about: 'Started',
      options: ['started then or later; ISO 8601, or 2h ago', 'started before'],
      more: 'time',
    },
  ),
};

/** All members must match; of a list, one entry must match. An empty `text` does not filter. */
export type InstanceFilter = FilterOf<typeof instanceFields>;
