/** Orders to all instances that a filter finds: `paraph workflow send`, `cancel` and `replay`. */
import type { Command } from 'commander';
import type { Admin } from '../../src/command-line/admin.ts';
import {
  addBulkOptions,
  type BulkFlags,
  countsText,
  orderBulk,
  refusedFields,
  truncatedText,
} from '../../src/command-line/bulk.ts';
import {
  type CliContext,
  type Report,
  UsageError,
  variable,
} from '../../src/command-line/context.ts';
import { countFields, fieldsText } from '../../src/command-line/screen.ts';
import { addFilterOptions, filterQuery } from '../../src/command-line/transactions-filter.ts';
import { iso } from '../../src/command-line/transactions-row.ts';
import { workflowRefusals } from './console/refusal-words.ts';
import type { WorkflowBulkKind, WorkflowPlan } from './console/workflow-bulk.ts';
import { instanceFields } from './instance-fields.ts';

/** Without the status, which the order decides. */
const { status: _, ...fields } = instanceFields;

export interface WorkflowBulkFlags extends BulkFlags {
  readonly all?: true;
}

/** `open.waiting`, `a.b + c.d` */
export const stateText = (value: unknown): string => {
  const paths = (part: unknown): readonly string[] => {
    if (typeof part === 'string') return [part];
    return Object.entries(Object(part) as object).flatMap(([name, inner]) => {
      const below = paths(inner);
      return below.length === 0 ? [name] : below.map((each) => `${name}.${each}`);
    });
  };
  return paths(value).join(' + ');
};

export const addWorkflowBulk = (command: Command, context: CliContext): Command =>
  addBulkOptions(addFilterOptions(command, fields, context), 'do nothing').option(
    '--all',
    'all of them, without a filter',
  );

const isFiltered = (flags: WorkflowBulkFlags): boolean =>
  flags.all === true ||
  Object.values(filterQuery(fields, flags)).some((value) => value !== undefined);

/** One instance or a filter, so that a mistyped command orders nothing. @throws UsageError */
export const checkOne = (instance: string | undefined, flags: WorkflowBulkFlags): void => {
  if ((instance !== undefined) !== isFiltered(flags)) return;
  throw new UsageError('Which? Either one instance, or a filter (--all for none).');
};

/** Where no chart of this workflow is looked for, and what to do. */
export const undefinedHere = (
  context: Pick<CliContext, 'env'>,
  { place }: Pick<Admin, 'place'>,
): string => {
  if (place === 'The service') return 'the service has none: name its file in workflows';
  return variable(context, 'PARAPH_CONFIG') === undefined
    ? 'not looked for: PARAPH_CONFIG is not set here; set it as for the service'
    : 'the file in PARAPH_CONFIG has none: name its chart in workflows, as for the service';
};

/** The words of refusals, where the definitions are those of this shell. */
const refusalsHere = (
  refusals: ReturnType<typeof workflowRefusals>,
  context: CliContext,
  admin: Admin,
) => ({ ...refusals, undefined: `Definition of the workflow: ${undefinedHere(context, admin)}` });

const words = {
  replay: { found: 'failed, found', done: 'to run again', verb: 'Replay' },
  cancel: { found: 'open, found', done: 'to be cancelled', verb: 'Cancel' },
  send: { found: 'open, found', done: 'to get the event', verb: 'Send the event to' },
} as const;

export const orderWorkflows = (
  context: CliContext,
  admin: Admin,
  {
    kind,
    event,
    instance,
  }: {
    readonly kind: WorkflowBulkKind;
    readonly event?: object;
    readonly instance: string | undefined;
  },
  flags: WorkflowBulkFlags,
): Promise<Report> => {
  const { found, done, verb } = words[kind];
  const selected =
    instance === undefined ? { filter: filterQuery(fields, flags) } : { ids: [instance] };
  return orderBulk<WorkflowPlan>(
    context,
    admin,
    {
      path: ['replays', 'workflows'],
      selection: { kind, ...selected, ...(event && { event }) },
      planText: (plan, screen) =>
        fieldsText(
          [
            [found, String(plan.found)],
            [done, String(plan.replayable)],
            ['by workflow', countsText(plan.byWorkflow) || undefined],
            ...countFields('by AP', plan.byAp),
            ...countFields('why they failed', kind === 'replay' ? plan.byReason : {}),
            ...refusedFields(plan, refusalsHere(workflowRefusals(kind), context, admin)),
            ['', truncatedText(plan)],
          ],
          screen,
        ),
      planDocument: ({ first, ...plan }) => ({
        ...plan,
        first: first.map(({ instanceId, createdAt, ...row }) => ({
          instance: instanceId,
          ...row,
          createdAt: iso(createdAt),
        })),
      }),
      columns: [
        { title: 'INSTANCE', cell: ({ instanceId }) => instanceId },
        { title: 'STATE', cell: ({ state }) => stateText(state) },
        { title: 'STARTED', cell: ({ createdAt }) => iso(createdAt) },
        { title: 'AP', cell: ({ apId }) => apId },
        { title: 'REASON', cell: ({ reason = '' }) => reason },
      ],
      none: 'No instance for this order is found.',
      question: ({ replayable }) =>
        `${verb} ${replayable === 1 ? 'one instance' : `${replayable} instances`}?`,
      follow: 'paraph replay --follow',
    },
    flags,
  );
};
