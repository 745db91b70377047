/**
 * The rows of the list of instances, and its filter: a table of facts and one of fields, like those
 * of transactions.
 */
import { hash } from 'node:crypto';
import {
  between,
  type Choice,
  type FilterOf,
  numberAmong,
  oneOf,
  partOf,
  textOf,
} from '../../src/transactions/history/fields.ts';
import { fact, type RowLayout } from '../../src/transactions/history/layout.ts';
import {
  nameIn,
  ownPartOf,
  tenantOf,
  tenantOfInstance,
} from '../../src/transactions/jobs/instance-ids.ts';
import { statuses, type WorkflowStatus } from './instances/contract.ts';

export interface ListedInstance {
  readonly id: string;
  readonly status: WorkflowStatus;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Why it has failed; present where it is asked for. */
  readonly failure?: string | undefined;
}

/** A row of the list. */
export interface InstanceRow extends ListedInstance {
  /** When its job has ended, and how; undefined while it is open. */
  readonly ended?: { readonly at: number; readonly job: 'completed' | 'failed' } | undefined;
  /** The numbers of the people whom a process names, digits only. */
  readonly numbers: readonly string[];
}

export const statusCodes: Readonly<Record<WorkflowStatus, number>> = {
  open: 1,
  completed: 2,
  failed: 3,
  cancelled: 4,
};
export const jobCodes = { completed: 1, failed: 2 } as const;

/** The first 32 bits of a text's SHA-1. */
const hash32 = (text: string): number => Number.parseInt(hash('sha1', text).slice(0, 8), 16);

const words = [0, 1, 2, 3] as const;
/** Four of 128 bits that stand for a number: it may be in a row that has them all. */
const bitsOf = (number: string): readonly (readonly [word: number, bit: number])[] =>
  [...hash('sha1', number, 'buffer').subarray(0, 4)].map((byte) => [byte >> 6, byte & 31]);
const wordOf = (numbers: readonly string[], word: number): number =>
  numbers
    .flatMap(bitsOf)
    .filter(([of]) => of === word)
    .reduce((bits, [, bit]) => (bits | (1 << bit)) >>> 0, 0);

const people = words.map((word) =>
  fact(({ numbers }: InstanceRow) => wordOf(numbers, word), {
    at: 32 + 4 * word,
    kind: 'u32',
    code: (bits) => bits,
  }),
);

/** Bytes 2 to 7 are free. */
export const instanceFacts = {
  status: fact(({ status }: InstanceRow) => status, {
    at: 0,
    kind: 'u8',
    code: (status) => statusCodes[status],
  }),
  job: fact(({ ended }: InstanceRow) => ended?.job, {
    at: 1,
    kind: 'u8',
    code: (job) => (job === undefined ? 0 : jobCodes[job]),
  }),
  createdAt: fact(({ createdAt }: InstanceRow) => createdAt, {
    at: 8,
    kind: 'f64',
    code: (time) => time,
  }),
  endedAt: fact(({ ended }: InstanceRow) => ended?.at, {
    at: 16,
    kind: 'f64',
    code: (time) => (time === undefined ? 0 : Math.max(time, 1)),
  }),
  name: fact(({ id }: InstanceRow) => nameIn(id), { at: 24, kind: 'u32', code: hash32 }),
  tenant: fact(({ id }: InstanceRow) => tenantOfInstance(id), {
    at: 28,
    kind: 'u32',
    code: hash32,
  }),
};
/** The facts of a packed row, with the bits of all numbers. */
export const packedFacts = { ...instanceFacts, ...Object.fromEntries(people.entries()) };

export const instanceLayout: RowLayout = {
  factsWidth: 48,
  namesWidth: 144,
  idWidth: 144,
  state: instanceFacts.status,
  begunAt: instanceFacts.createdAt,
  endedAt: instanceFacts.endedAt,
};

const choices: readonly Choice[] = statuses;

/** In the order of the page. */
export const instanceFields = {
  status: oneOf(instanceFacts.status, statuses, {
    label: 'Status',
    about: 'How the instance stands.',
    option: ['--status <statuses>', `in one of these: ${statuses.join(', ')}`],
    must: `must be one of ${statuses.join(', ')}`,
    choices,
  }),
  name: textOf(instanceFacts.name, {
    label: 'Workflow',
    about: 'The name of the workflow.',
    option: ['--name <workflow>', 'of the workflow of this name'],
  }),
  apId: textOf(
    instanceFacts.tenant,
    {
      label: 'Application',
      about: 'The AP_ID of its application.',
      option: ['--ap <id>', 'of this AP_ID'],
    },
    tenantOf,
  ),
  msisdn: numberAmong(
    ({ numbers }: InstanceRow) => numbers,
    (digits) =>
      people.map(({ packed }, word) => ({ packed, numbers: { bits: wordOf([digits], word) } })),
    {
      label: 'Number of a signer',
      about: 'The phone number of anybody whom the input of an instance names.',
      option: ['--msisdn <number>', 'of a signer with this mobile number'],
    },
  ),
  text: {
    ...partOf(({ id }: InstanceRow) => [ownPartOf(id)], {
      label: 'Part of the id',
      about: 'A part of the id that the application has chosen.',
      option: ['--text <text>', 'a part of the id'],
    }),
    // Names in the index have the workflow and the application, too.
    isRough: true,
  },
  failure: {
    ...partOf(({ failure }: InstanceRow) => (failure === undefined ? [] : [failure]), {
      label: 'Part of the failure',
      about: 'A part of the reason for which an instance has failed.',
      option: ['--failure <text>', 'failed for a reason with this text'],
      ofPeople: true,
    }),
    isRough: true,
    tests: () => [
      { packed: instanceFacts.status.packed, numbers: { among: new Set([statusCodes.failed]) } },
    ],
  },
  ...between(instanceFacts.createdAt, {
    label: 'Started',
    about: 'Started',
    options: ['started then or later; ISO 8601, or 2h ago', 'started before'],
    more: 'time',
  }),
};

/** All members must match; of a list, one entry must match. An empty `text` does not filter. */
export type InstanceFilter = FilterOf<typeof instanceFields>;
