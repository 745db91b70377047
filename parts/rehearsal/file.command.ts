/**
 * `paraph workflow check`: what the chart in a file can do, or why it cannot be made durable.
 * `paraph workflow test`: runs it with a fast clock, on a Redis of its own that is gone afterwards.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { activitiesOf, type Chart, familyOf } from '../../packages/engine/src/chart.ts';
import type { Workflow } from '../../packages/engine/src/define.ts';
import type {
  Rehearsal,
  RehearsalNote,
  RehearsedEvent,
} from '../../packages/engine/src/rehearsal.ts';
import {
  type CliContext,
  type Done,
  environmentIn,
  ok,
  type Report,
  UsageError,
} from '../../src/command-line/context.ts';
import { parseJson, readNamed } from '../../src/command-line/named-file.ts';
import { worksAt } from '../../src/command-line/place.ts';
import {
  type Field,
  fieldsText,
  listFields,
  paletteFor,
  printable,
} from '../../src/command-line/screen.ts';
import {
  type ChartFiles,
  type MailOutput,
  type ReceiptOutput,
  readDuration,
  type SignOutput,
  type WebhookOutput,
} from '../workflows/index.ts';

/** @throws UsageError that says where a chart cannot be made durable. */
const loadFile = async (
  path: string,
  files: ChartFiles,
): Promise<readonly [Workflow, ...Workflow[]]> => {
  if (!existsSync(path)) throw new UsageError('There is no such file.');
  const loaded = await files.load(resolve(path));
  if (!loaded.ok) {
    throw new UsageError(
      loaded.problems.map((each) => each.replace(/^workflows\[0\]: /, '')).join('\n'),
    );
  }
  const [first, ...more] = loaded.value;
  if (first === undefined) throw new UsageError('The file has no workflow.');
  return [first, ...more];
};

const listOf = (label: string, values: readonly string[]): readonly Field[] =>
  values.length === 0 ? [] : [[label, values.join(', ')]];

const checkText = (
  { summaryOf, treeOf }: typeof import('./chart-text.ts'),
  chart: Chart,
  context: CliContext,
): string => {
  const { bold } = paletteFor(context.stdout, context);
  const { name, version, states, events, activities, charts, timers, effects, observed } =
    summaryOf(chart);
  const fields = [
    ...listOf('states', [String(states.length)]),
    ...listOf('events', events),
    ...listFields('activities', activities),
    ...listOf('charts', charts),
    ...listOf('timers', timers),
    ...listOf('effects', effects),
    ...listOf('observed', observed),
  ];
  const tree = treeOf(chart).map((line) => `  ${printable(line)}\n`);
  return `${bold(printable(`${name}, version ${version}`))}\n${fieldsText(fields, context)}\n${tree.join('')}`;
};

const check = async (
  context: CliContext,
  file: string,
  { mermaid }: { readonly mermaid?: true },
  files: ChartFiles,
): Promise<Report> => {
  // Loaded here, as the engine below: few commands need it.
  const drawing = await import('./chart-text.ts');
  const { mermaidOf, summaryOf } = drawing;
  const workflows = (await loadFile(file, files)).flatMap(({ chart }) => familyOf(chart));
  const document = {
    workflows: workflows.map((each) => ({ ...summaryOf(each), mermaid: mermaidOf(each) })),
  };
  const draw = mermaid ? mermaidOf : (each: Chart): string => checkText(drawing, each, context);
  return ok(document, workflows.map(draw).join('\n'));
};

const answer = z.union([
  z.strictObject({ output: z.unknown() }),
  z.strictObject({ error: z.string() }),
]);
const afterText = z
  .string()
  .refine((text) => !Number.isNaN(readDuration(text)), { error: 'must be an ISO 8601 duration' });

const scriptSchema = z.strictObject({
  input: z.unknown().optional(),
  events: z
    .array(
      z.union([
        z.strictObject({
          after: afterText.optional(),
          send: z.looseObject({ type: z.string().min(1) }),
        }),
        z.strictObject({ after: afterText.optional(), answer: z.string(), output: z.unknown() }),
      ]),
    )
    .default([]),
  answers: z.record(z.string(), z.array(answer)).default({}),
});

type Script = z.infer<typeof scriptSchema>;

const readJson = async (path: string, option: string): Promise<unknown> => {
  const what = `The file that ${option} names`;
  return parseJson(await readNamed(path, what), what);
};

const readScript = async (path: string | undefined): Promise<Script> => {
  const read = scriptSchema.safeParse(path === undefined ? {} : await readJson(path, '--events'));
  if (read.success) return read.data;
  const place = z.core.toDotPath(read.error.issues[0]?.path ?? []) || 'the whole';
  throw new UsageError(`The file that --events names is not as docs/cli.md says: ${place}.`);
};

const eventsIn = ({ events }: Script): readonly RehearsedEvent[] =>
  events.map(({ after, ...event }) => ({
    ...event,
    ...(after !== undefined && { afterMs: readDuration(after) }),
  }));

/** What the service's activities answer when the file gives no answer. */
const provided = (name: string, _: unknown, now: number): unknown => {
  const answers: Readonly<Record<string, unknown>> = {
    'service.sign': {
      kind: 'signed',
      msspTransId: `H00${randomUUID().replaceAll('-', '').slice(0, 17)}`,
      at: now,
      attempt: 1,
    } satisfies SignOutput,
    'service.receipt': { kind: 'answered', receipt: 'accepted' } satisfies ReceiptOutput,
    'service.callWebhook': { kind: 'answered', status: 200 } satisfies WebhookOutput,
    'service.sendMail': { kind: 'sent', messageId: '<test@localhost>' } satisfies MailOutput,
  };
  return answers[name];
};

/** `1d 02:00:00.013` */
const momentText = (ms: number): string => {
  const days = Math.floor(ms / 86_400_000);
  const clock = new Date(ms % 86_400_000).toISOString().slice(11, 23);
  return `${days === 0 ? '' : `${days}d `}${clock}`;
};

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? '';
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
};

const whatText = (note: RehearsalNote): string => {
  switch (note.kind) {
    case 'state':
      return `state    ${short(note.value)}`;
    case 'activity':
      return `begins   ${note.name} ${short(note.input)}`;
    case 'answer':
      if (note.answer === 'later') return `answer   ${note.name}: comes later`;
      return 'error' in note.answer
        ? `error    ${note.name}: ${note.answer.error}`
        : `answer   ${note.name} ${short(note.answer.output)}`;
    case 'action':
      return `effect   ${note.name} ${short(note.params)}`;
    case 'event':
      return `event    ${note.type}: ${note.result}`;
    case 'trouble':
      return `trouble  ${note.message}`;
  }
};

const noteText = (note: RehearsalNote): string =>
  // The instance itself is `test`; those of other workflows that it starts have ids of their own.
  printable(
    `${momentText(note.at).padStart(17)}  ${whatText(note)}${note.id !== 'test' ? `  (${note.id})` : ''}`,
  );

interface TestFlags {
  readonly events?: string;
  readonly input?: string;
  readonly workflow?: string;
  readonly apId: string;
}

const endText = ({ how, instance }: Rehearsal): string => {
  const { ended, failedReason, record } = instance;
  if (how === 'waits') return `It waits in ${short(record?.value)} for an event or an answer.`;
  if (how === 'limit') return `It goes on in ${short(record?.value)} without end.`;
  if (ended === 'failed') return `It has failed: ${failedReason}`;
  return `It has completed${record?.output === undefined ? '.' : `: ${short(record.output)}`}`;
};

const choose = (
  workflows: readonly [Workflow, ...Workflow[]],
  name: string | undefined,
): Workflow => {
  const [first, ...others] = workflows;
  if (name === undefined && others.length === 0) return first;
  const found = workflows.find(({ chart }) => chart.name === name);
  if (found !== undefined) return found;
  throw new UsageError(
    `The file has several workflows: name one of them with --workflow (${workflows.map(({ chart }) => chart.name).join(', ')}).`,
  );
};

/** A private Redis in a folder that is removed afterwards; or the one in REDIS_URL. */
const withRedis = async <T>(context: CliContext, work: (url: string) => Promise<T>): Promise<T> => {
  const { redisUrl, redisServer: command } = environmentIn(context);
  if (redisUrl !== undefined) return work(redisUrl);
  const { RedisServerError, startEmbeddedRedis } = await import(
    '../../src/redis/embedded/redis.ts'
  );
  const dataDir = mkdtempSync(join(tmpdir(), 'paraph-rehearsal-'));
  try {
    const redis = await startEmbeddedRedis({ command, dataDir }).catch((error: unknown) => {
      if (error instanceof RedisServerError) throw new UsageError(error.message);
      throw error;
    });
    try {
      return await work(redis.url);
    } finally {
      await redis.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
};

const test = async (
  context: CliContext,
  file: string,
  flags: TestFlags,
  files: ChartFiles,
): Promise<Report> => {
  const workflow = choose(await loadFile(file, files), flags.workflow);
  const script = await readScript(flags.events);
  const input = flags.input === undefined ? script.input : await readJson(flags.input, '--input');
  for (const name of Object.keys(script.answers)) {
    if (!activitiesOf(workflow.chart).some((each) => each.name === name))
      throw new UsageError(`answers.${name}: the chart has no activity of this name.`);
  }
  const [{ rehearse }, { connectForBlocking, disconnect }, { problemIn }, asServiceWorkflow] =
    await Promise.all([
      import('../../packages/engine/src/rehearsal.ts'),
      import('../../src/redis/connect.ts'),
      import('../../packages/engine/src/input-problem.ts'),
      files.asServed(),
    ]);
  const served = asServiceWorkflow(workflow);
  const data = { apId: flags.apId, input };
  try {
    served.parseInput(data);
  } catch (error) {
    const problem = problemIn(error, { whole: 'input', values: [input] });
    if (problem === undefined) throw error;
    throw new UsageError(
      `The workflow does not take this input: ${problem} (--input, or input in --events).`,
    );
  }
  return withRedis(context, async (url) => {
    const connection = connectForBlocking({ url });
    // The report names what is lasting.
    connection.on('error', () => undefined);
    try {
      const rehearsal = await rehearse({
        connection,
        workflow: served,
        data,
        provided,
        others: {
          workflowOf: asServiceWorkflow,
          inputOf: (_, given) => ({ apId: flags.apId, input: given }),
        },
        events: eventsIn(script),
        answers: script.answers,
        signal: context.signal,
      });
      const { notes, how, instance, tookMs } = rehearsal;
      const { record, ended, failedReason } = instance;
      const last = notes.at(-1)?.at ?? 0;
      const document = {
        how,
        ended,
        state: record?.value,
        context: record?.context,
        output: record?.output,
        failedReason,
        notes,
        lastedMs: last,
        tookMs,
      };
      const end = `${endText(rehearsal)}\n${momentText(last)} of the chart took ${tookMs} ms.`;
      const text = [...notes.map(noteText), '', end].map((line) => `${line}\n`).join('');
      if (how === 'ended') return ok(document, text);
      return { outcome: 'outstanding', document, text };
    } finally {
      await disconnect(connection);
    }
  });
};

export const addFileCommands = (
  workflow: Command,
  context: CliContext,
  done: Done,
  files: ChartFiles,
): void => {
  workflow.description(`${workflow.description()}, and charts of your own in files`);
  const checking = workflow
    .command('check')
    .description('say what the chart in a file can do, or why it cannot be durable')
    .argument('<file>', 'JavaScript module that exports defineWorkflow(…)')
    .option('--mermaid', 'draw it for Mermaid')
    .action(async (file: string, flags: { readonly mermaid?: true }) =>
      done(await check(context, file, flags, files)),
    );
  const testing = workflow
    .command('test')
    .description('run the chart in a file with a fast clock, on a Redis of its own')
    .argument('<file>', 'JavaScript module that exports defineWorkflow(…)')
    .option('--events <file>', 'what comes from outside (JSON): input, events, answers')
    .option('--input <file>', 'the input alone (JSON)')
    .option('--workflow <name>', 'which one, when the file has several')
    .option('--ap-id <id>', 'AP_ID that the instance belongs to', 'mid://paraph.example')
    .action(async (file: string, flags: TestFlags) =>
      done(await test(context, file, flags, files)),
    );
  for (const command of [checking, testing]) worksAt('here', command);
};
