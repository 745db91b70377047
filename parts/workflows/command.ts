/**
 * `paraph workflow`: the instances of a service, list, show, send, cancel, replay, and what parts
 * add. Instances are named by their id, which `ls` shows.
 */
import type { Command } from 'commander';
import { entryText } from '../../packages/engine/src/journal-words.ts';
import {
  type Admin,
  addAdminAction,
  type ListFlags,
  reportList,
} from '../../src/command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  type Done,
  ok,
  type Report,
  UsageError,
} from '../../src/command-line/context.ts';
import { type Column, fieldsText, listFields } from '../../src/command-line/screen.ts';
import {
  addFilterOptions,
  addPageOptions,
  filterQuery,
} from '../../src/command-line/transactions-filter.ts';
import { iso, isoOrNull } from '../../src/command-line/transactions-row.ts';
import type { WorkflowDetail, WorkflowRow } from './console/workflow-detail.ts';
import { type ChartFiles, type HostedWorkflows, namesIn } from './hosted.ts';
import { instanceFields } from './instance-fields.ts';

interface SendFlags {
  readonly data?: string;
  readonly key?: string;
  readonly reason?: string;
}

/** `open.waiting`, `a.b + c.d` */
const stateText = (value: unknown): string => {
  const paths = (part: unknown): readonly string[] => {
    if (typeof part === 'string') return [part];
    return Object.entries(Object(part) as object).flatMap(([name, inner]) => {
      const below = paths(inner);
      return below.length === 0 ? [name] : below.map((each) => `${name}.${each}`);
    });
  };
  return paths(value).join(' + ');
};

const columns: readonly Column<WorkflowRow>[] = [
  { title: 'INSTANCE', cell: ({ instanceId }) => instanceId },
  {
    title: 'STATUS',
    cell: ({ status }) => (status === 'failed' ? { text: status, paint: 'red' } : status),
  },
  { title: 'STATE', cell: ({ state }) => stateText(state) },
  { title: 'STARTED', cell: ({ createdAt }) => iso(createdAt) },
  { title: 'AP', cell: ({ apId }) => apId },
];

const documentOf = ({ createdAt, endedAt, instanceId, ...row }: WorkflowRow): object => ({
  instance: instanceId,
  ...row,
  createdAt: iso(createdAt),
  endedAt: isoOrNull(endedAt),
});

const eventText = ({
  at,
  what,
  who,
  msspTransId,
  reason,
}: WorkflowDetail['timeline'][number]): string =>
  [iso(at), what, who, msspTransId, reason].filter(Boolean).join('  ');

const show = async (
  context: CliContext,
  admin: Admin,
  id: string,
  hosted: readonly HostedWorkflows[],
): Promise<Report> => {
  const detail = await admin.get<WorkflowDetail>(['workflows', id]);
  const { instance, context: published, children, next, timeline, isDefined } = detail;
  const { entries, dropped } = detail.journal;
  const { id: own, name, version, apId, status, state, createdAt, endedAt, reason } = instance;
  const of = hosted.map((each) => each.shown?.(detail)).find((fields) => fields !== undefined);
  const text = fieldsText(
    [
      ['workflow', `${name}, version ${version}`],
      ['definition', isDefined ? undefined : 'the service has none: name its file in workflows'],
      ['id', own],
      ['AP', apId],
      ['status', status],
      ['state', stateText(state)],
      ['started', iso(createdAt)],
      ['ended', endedAt === undefined ? undefined : iso(endedAt)],
      ['reason', reason],
      ['next timer', next && `${iso(next.at)}  ${next.name}`],
      ...(of ?? []),
      ...listFields(
        'children',
        children.map((child) => `${child.name}: ${stateText(child.state)}`),
      ),
      ...listFields('timeline', timeline.map(eventText)),
      ...listFields('journal', [
        ...(dropped === 0 ? [] : [`${dropped} older lines are gone`]),
        ...entries.map((entry) => `${iso(entry.at)}  ${entryText(entry)}`),
      ]),
      [
        'context',
        published === undefined || of !== undefined ? undefined : JSON.stringify(published),
      ],
    ],
    context,
  );
  return ok({ ...detail, instance: documentOf(instance) }, text);
};

/** @throws UsageError */
const eventOf = (type: string, data: string | undefined): object => {
  if (data === undefined) return { type };
  try {
    const members: unknown = JSON.parse(data);
    if (typeof members === 'object' && members !== null && !Array.isArray(members))
      return { ...members, type };
  } catch {}
  throw new UsageError('--data must be a JSON object: the other members of the event.');
};

const addOrders = (
  workflow: Command,
  context: CliContext,
  done: Done,
  hosted: readonly HostedWorkflows[],
): void => {
  const ls = workflow.command('ls').description('list instances, newest first');
  addPageOptions(addFilterOptions(ls, instanceFields, context), 50);
  addAdminAction(ls, context, done, (admin, flags: ListFlags) =>
    reportList<WorkflowRow>(context, admin, flags, {
      command: 'workflow ls',
      path: 'workflows',
      query: filterQuery(instanceFields, flags),
      pageRows: 200,
      member: 'workflows',
      none: 'No instances.\n',
      columns,
      document: documentOf,
    }),
  );
  const one = (name: string, description: string): Command =>
    workflow
      .command(name)
      .description(description)
      .argument('<instance>', 'as paraph workflow ls shows it');
  addAdminAction(
    one('show', 'one instance: state, people, timers, timeline'),
    context,
    done,
    (admin, id: string) => show(context, admin, id, hosted),
  );
  const send = one('send', 'send an event to an instance')
    .argument('<type>', 'type of the event')
    .option('--data <json>', 'its other members, a JSON object')
    .option('--key <key>', 'sent again under the same key it counts once')
    .option('--reason <text>', 'why; for the audit log');
  addAdminAction(
    send,
    context,
    done,
    async (admin, instance: string, type: string, { data, key, reason }: SendFlags) => {
      const event = eventOf(type, data);
      const answer = await admin.post<object>(['workflows', instance, 'events'], {
        event,
        key,
        reason,
      });
      return ok({ instance, ...answer }, 'Taken.\n');
    },
    (_, type, { data }) => void eventOf(type, data),
  );
  const cancel = one('cancel', 'cancel an open instance').requiredOption('--reason <text>', 'why');
  addAdminAction(cancel, context, done, async (admin, instance: string, { reason }: SendFlags) => {
    const answer = await admin.post<object>(['workflows', instance, 'cancel'], { reason });
    return ok({ instance, ...answer }, 'It is being cancelled.\n');
  });
  const replay = one('replay', 'run a failed instance again').option('--reason <text>', 'why');
  addAdminAction(replay, context, done, async (admin, instance: string, { reason }: SendFlags) => {
    const answer = await admin.post<object>(['workflows', instance, 'replay'], { reason });
    return ok({ instance, ...answer }, 'Runs again: its chart gets REPLAY.\n');
  });
};

/** @param hosted What other parts bring. */
export const addWorkflow =
  (hosted: readonly HostedWorkflows[]): AddCommand =>
  (program, context, done) => {
    const workflow = program.command('workflow').description('instances of workflows');
    addOrders(workflow, context, done, hosted);
    const files: ChartFiles = {
      load: async (path) => {
        const { loadCharts } = await import('./charts/load.ts');
        return loadCharts([path], '', { isWhole: false, taken: namesIn(hosted) });
      },
      asServed: async () => (await import('./instances/workflows.ts')).asServiceWorkflow,
    };
    for (const { addCommands } of hosted) addCommands?.(workflow, context, done, files);
  };
