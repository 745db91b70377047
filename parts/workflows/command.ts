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
import { type Column, fieldsText, listFields, table } from '../../src/command-line/screen.ts';
import {
  addFilterOptions,
  addPageOptions,
  filterQuery,
} from '../../src/command-line/transactions-filter.ts';
import { iso, isoOrNull } from '../../src/command-line/transactions-row.ts';
import {
  addWorkflowBulk,
  checkOne,
  orderWorkflows,
  stateText,
  undefinedHere,
  type WorkflowBulkFlags,
} from './bulk-command.ts';
import type { Failures } from './console/failures.ts';
import { noReplayOfOne } from './console/refusal-words.ts';
import type { WorkflowDetail, WorkflowRow } from './console/workflow-detail.ts';
import { type ChartFiles, type HostedWorkflows, namesIn } from './hosted.ts';
import { instanceFields } from './instance-fields.ts';

interface SendFlags {
  readonly data?: string;
  readonly key?: string;
  readonly reason?: string;
}

const columns: readonly Column<WorkflowRow>[] = [
  { title: 'INSTANCE', cell: ({ instanceId }) => instanceId },
  {
    title: 'STATUS',
    cell: ({ status }) => (status === 'failed' ? { text: status, paint: 'red' } : status),
  },
  { title: 'STATE', cell: ({ state }) => stateText(state) },
  { title: 'STARTED', cell: ({ createdAt }) => iso(createdAt) },
  { title: 'AP', cell: ({ apId }) => apId },
  { title: 'REASON', cell: ({ reason = '' }) => reason },
];

/** Longer lists of reasons are cut in the text. */
const maxGroups = 10;

/** What has failed by the filter of a list, by number; empty where nothing has. */
const failuresText = ({ found, isWhole, failures }: Failures, context: CliContext): string => {
  const rest = failures.slice(maxGroups);
  const others = rest.reduce((sum, { number }) => sum + number, 0);
  const lines = failures.slice(0, maxGroups).map(({ name, reason, number, mayReplay }) => ({
    number: String(number),
    name,
    mayReplay: mayReplay ? 'yes' : 'no',
    reason: reason ?? '',
  }));
  if (rest.length > 0)
    lines.push({
      number: String(others),
      name: '',
      mayReplay: '',
      reason: `${rest.length} others`,
    });
  const newest = isWhole ? '' : `The newest ${found} failures are counted.\n`;
  return lines.length === 0
    ? ''
    : `${table(
        [
          { title: 'FAILED', cell: ({ number }) => number, right: true },
          { title: 'WORKFLOW', cell: ({ name }) => name },
          { title: 'RUNS AGAIN', cell: ({ mayReplay }) => mayReplay },
          { title: 'REASON', cell: ({ reason }) => reason },
        ],
        lines,
        context,
      )}${newest}\n`;
};

/** The list, and before it the failures that its filter finds, where it asks for such. */
const list = async (context: CliContext, admin: Admin, flags: ListFlags): Promise<Report> => {
  const query = filterQuery(instanceFields, flags);
  const report = await reportList<WorkflowRow>(context, admin, flags, {
    command: 'workflow ls',
    path: 'workflows',
    query,
    pageRows: 200,
    member: 'workflows',
    none: 'No instances.\n',
    columns,
    document: documentOf,
  });
  const { status, failure } = query;
  const ofFailures =
    status === undefined
      ? failure !== undefined
      : String(status)
          .split(/[\s,]+/)
          .includes('failed');
  if (!ofFailures || flags.cursor !== undefined) return report;
  const counted = await admin.get<Failures>(['workflows', 'failures'], query);
  return ok(
    { ...report.document, failures: counted.failures },
    `${failuresText(counted, context)}${report.text ?? ''}`,
  );
};

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
  const { instance, context: published, children, next, timeline, isDefined, mayReplay } = detail;
  const { entries, dropped } = detail.journal;
  const { id: own, name, version, apId, status, state, createdAt, endedAt, reason } = instance;
  const of = hosted.map((each) => each.shown?.(detail)).find((fields) => fields !== undefined);
  const text = fieldsText(
    [
      ['workflow', `${name}, version ${version}`],
      ['definition', isDefined ? undefined : undefinedHere(context, admin)],
      ['id', own],
      ['AP', apId],
      ['status', status],
      ['state', stateText(state)],
      ['started', iso(createdAt)],
      ['ended', endedAt === undefined ? undefined : iso(endedAt)],
      ['reason', reason],
      [
        'run again',
        status === 'failed' && isDefined
          ? mayReplay
            ? 'possible: paraph workflow replay'
            : noReplayOfOne
          : undefined,
      ],
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
  addAdminAction(ls, context, done, (admin, flags: ListFlags) => list(context, admin, flags));
  const named = (name: string, description: string, argument: string): Command =>
    workflow
      .command(name)
      .description(description)
      .argument(argument, 'as paraph workflow ls shows it');
  addAdminAction(
    named('show', 'one instance: state, people, timers, timeline', '<instance>'),
    context,
    done,
    (admin, id: string) => show(context, admin, id, hosted),
  );
  const ordering = (name: string, description: string, more = ''): Command =>
    addWorkflowBulk(
      workflow
        .command(name)
        .description(`${description}: one, or all that a filter finds`)
        .usage(`[options] [instance]${more}`),
      context,
    );
  const send = ordering('send', 'send an event to open instances', ' <type>')
    .argument('<names...>', 'the instance, unless a filter finds them; and the type of the event')
    .option('--data <json>', 'the other members of the event, a JSON object')
    .option('--key <key>', 'for one instance: sent again under the same key it counts once')
    .option('--reason <text>', 'why; for the audit log');
  const readNames = (names: readonly string[]) => {
    const [first = '', second, ...others] = names;
    if (others.length > 0)
      throw new UsageError('Name an instance and a type; or a type, and a filter.');
    return second === undefined
      ? { instance: undefined, type: first }
      : { instance: first, type: second };
  };
  addAdminAction(
    send,
    context,
    done,
    async (admin, names: readonly string[], flags: SendFlags & WorkflowBulkFlags) => {
      const { data, key, reason } = flags;
      const { instance, type } = readNames(names);
      const event = eventOf(type, data);
      if (instance === undefined || flags.dryRun)
        return orderWorkflows(context, admin, { kind: 'send', event, instance }, flags);
      const answer = await admin.post<object>(['workflows', instance, 'events'], {
        event,
        key,
        reason,
      });
      return ok({ instance, ...answer }, 'Taken.\n');
    },
    (names, flags) => {
      const { instance, type } = readNames(names);
      eventOf(type, flags.data);
      checkOne(instance, flags);
    },
  );
  const cancel = ordering('cancel', 'cancel open instances')
    .argument('[instance]', 'as paraph workflow ls shows it')
    .option('--reason <text>', 'why; the application sees it');
  addAdminAction(
    cancel,
    context,
    done,
    async (admin, instance: string | undefined, flags: WorkflowBulkFlags) => {
      if (instance === undefined || flags.dryRun)
        return orderWorkflows(context, admin, { kind: 'cancel', instance }, flags);
      const { reason } = flags;
      const answer = await admin.post<object>(['workflows', instance, 'cancel'], { reason });
      return ok({ instance, ...answer }, 'It is being cancelled.\n');
    },
    (instance, flags) => {
      checkOne(instance, flags);
      if (flags.reason === undefined && !flags.dryRun)
        throw new UsageError('A cancel needs --reason.');
    },
  );
  const replay = ordering('replay', 'run failed instances again')
    .argument('[instance]', 'as paraph workflow ls shows it')
    .option('--reason <text>', 'why; for the audit log');
  addAdminAction(
    replay,
    context,
    done,
    async (admin, instance: string | undefined, flags: WorkflowBulkFlags) => {
      if (instance === undefined || flags.dryRun)
        return orderWorkflows(context, admin, { kind: 'replay', instance }, flags);
      const { reason } = flags;
      const answer = await admin.post<object>(['workflows', instance, 'replay'], { reason });
      return ok({ instance, ...answer }, 'Runs again.\n');
    },
    checkOne,
  );
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
