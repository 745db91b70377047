/**
 * `npm run foreign -- kills <checkout of XState> [<checkout of restatedev/xstate>]`: many instances
 * of foreign and own charts, while worker processes are killed with -9 at commands that a seed
 * chooses. Each ends as in plain XState, with its effects in order. Writes README.md here.
 *
 * `KILL_INSTANCES`, `KILL_SEED`, `KILL_ONLY` (a part of a chart's name) say how many and which.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { compileProgram } from '../../../../test/support/program.ts';
import { startRedisServer } from '../../../../test/support/redis-server.ts';
import type { Workflow } from '../../src/define.ts';
import { createEngine, spreadOver } from '../../src/engine.ts';
import { hasEnded, seededNumbers, startCrashWorker } from '../killed-workers.ts';
import { namesOf, seenIn } from '../same-as-xstate.ts';
import { compileChart, compileXState } from './compile-charts.ts';
import type { Expected, ForeignGlobals } from './kill-plain.ts';
import { sectionOfKills, writeSection } from './verdict.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const [xstateCheckout = '', restateCheckout = ''] = process.argv
  .slice(3)
  .map((path) => resolve(path));
const seed = Number(process.env.KILL_SEED ?? 7);
const wanted = Number(process.env.KILL_INSTANCES ?? 2160);
const only = process.env.KILL_ONLY ?? '';
const folder = join(here, '../../../.cache/programs/foreign');
mkdirSync(folder, { recursive: true });

const examples = join(xstateCheckout, 'examples');
if (!existsSync(examples)) {
  process.stderr.write(
    'usage: npm run foreign -- kills <checkout of statelyai/xstate> [<restatedev/xstate>]\n',
  );
  process.exit(2);
}
const auth = join(restateCheckout, 'packages/examples/src/auth/app.ts');
const sources = [
  ...readdirSync(examples)
    .map((name) => ({ name, file: join(examples, name, 'main.ts'), events: undefined }))
    .filter(({ file }) => existsSync(file)),
  ...(existsSync(auth) ? [{ name: 'restate-auth', file: auth, events: [{ type: 'AUTH' }] }] : []),
  { name: 'own', file: join(here, 'kill-own-charts.ts'), events: undefined },
];

const xstate = await compileXState(here, folder);
const files: { name: string; path: string; events: unknown }[] = [];
for (const { name, file, events } of sources) {
  const path = await compileChart(file, { xstate, here, outfile: join(folder, `${name}.mjs`) });
  if (path !== undefined) files.push({ name, path, events });
}
const listFile = join(folder, 'charts.json');
writeFileSync(listFile, JSON.stringify({ xstate, files }));
process.env.KILL_CHARTS = listFile;

const quiet = {
  log: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  info: () => undefined,
};
const globals: ForeignGlobals = {
  // While files are loaded.
  setTimeout: (run, ms) => setTimeout(run, ms / 100),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  setInterval: () => undefined,
  clearInterval: () => undefined,
  random: () => 0.4,
  fetch: async () => Response.json({}),
  console: quiet,
};
Object.assign(globalThis, { foreign: globals });

const { collected, loadCharts, workflowFor } = await import('./kill-charts.ts');
const { expectedOf, sortedText } = await import('./kill-plain.ts');
const placed = collected.place as unknown as { getStore(): { random?: () => number } | undefined };
globals.random = () => placed.getStore()?.random?.() ?? 0.4;

interface Ready {
  readonly name: string;
  readonly workflow: Workflow;
  readonly chart: Awaited<ReturnType<typeof loadCharts>>[number];
}
const leftOut = [
  // Its circuit breaker, which all instances share in memory, has the next one go another way.
  'workflow-new-patient-onboarding',
  // It asks somebody at the terminal.
  'workflow-async-subflow',
];
const all = (await loadCharts()).filter(
  ({ name }) => name.includes(only) && !leftOut.includes(name),
);
const ready: readonly Ready[] = all.flatMap((chart) => {
  const workflow = workflowFor(chart);
  return workflow === undefined ? [] : [{ name: chart.name, workflow, chart }];
});
process.stdout.write(`${ready.length} charts, refused: ${all.length - ready.length}\n`);

const each = Math.ceil(wanted / ready.length);
const instances: { id: string; ready: Ready; expected: readonly Expected[] }[] = [];
for (const one of ready)
  for (let number = 0; number < each; number += 1) {
    const id = `${one.name}-${number}`;
    instances.push({ id, ready: one, expected: await expectedOf(one.chart, id, globals) });
  }
const most = Math.max(...instances.map(({ expected }) => expected.length));
process.stdout.write(
  `${instances.length} instances; plain XState ends one in up to ${most} ways\n`,
);

const redis = await startRedisServer();
const connection = redis.client();
const prefix = '{kills}';
const queue = new Queue('workflows', { connection, prefix });
const engine = createEngine(spreadOver([queue], connection, Date.now), Date.now);
const workerFile = await compileProgram(new URL('../crash-worker.ts', import.meta.url));
const bringFile = await compileProgram(new URL('kill-worker.ts', import.meta.url));
const next = seededNumbers(seed);

let isOver = false;
let kills = 0;
const over = new AbortController();
const whenOver = once(over.signal, 'abort');
const address = `redis://127.0.0.1:${redis.port}`;
const keepKilling = async (): Promise<void> => {
  while (!isOver) {
    const commands = 200 + next(1600);
    const child = await startCrashWorker(
      workerFile,
      [address, prefix, String(commands), bringFile],
      {
        isHeard: process.env.FOREIGN_VERBOSE !== undefined,
      },
    );
    if (!isOver && !hasEnded(child)) await Promise.race([once(child, 'exit'), whenOver]);
    if (!isOver && child.signalCode === 'SIGKILL') kills += 1;
    if (!isOver && child.exitCode !== null)
      throw new Error(`the worker ended with ${child.exitCode}`);
    child.kill('SIGKILL');
  }
};
const killing = Promise.all([keepKilling(), keepKilling()]);

type One = (typeof instances)[number];
const linesOf = (list: string): Promise<string[]> => connection.lrange(`${prefix}:${list}`, 0, -1);
const firstOf = (
  lines: readonly string[],
): { readonly says: readonly string[]; readonly repeated: number } => {
  const first = new Map<string, string>();
  for (const line of lines) {
    const [key, what] = JSON.parse(line) as [string, unknown];
    if (!first.has(key)) first.set(key, sortedText(what));
  }
  return { says: [...first.values()], repeated: lines.length - first.size };
};
const foundOf = async ({ id }: One): Promise<Expected & { readonly repeated: number }> => {
  const instance = await engine.find(id);
  const { says, repeated } = firstOf(await linesOf(`effects:${id}`));
  const record = instance?.record;
  return {
    tree: record === undefined ? 'activity' : seenIn(record, namesOf(record, new Map([[0, id]]))),
    effects: says,
    answers: [
      ...new Set((await linesOf(`answers:${id}`)).map((line) => sortedText(JSON.parse(line)))),
    ].toSorted(),
    repeated,
  };
};
/** Their children run side by side: what one of them does has no order to what another does. */
const sideBySide = ['family'];
const actorOf = (effect: string): string =>
  String(((JSON.parse(effect) as unknown[])[2] as { readonly name?: string }).name);
const inOrder = (name: string, effects: readonly string[]): readonly string[] =>
  sideBySide.includes(name)
    ? effects.toSorted((a, b) => (actorOf(a) < actorOf(b) ? -1 : Number(actorOf(a) > actorOf(b))))
    : effects;
const textOf = (name: string, { tree, effects, answers }: Expected): string =>
  sortedText({ tree, effects: inOrder(name, effects), answers: [...new Set(answers)] });
const isRight = (found: Expected, { ready: { name }, expected }: One): boolean =>
  expected.some((one) => textOf(name, one) === textOf(name, found));

const patienceMs = 150_000;
/** More at once wait for each other. */
const atOnce = 300;
const drive = async (one: One): Promise<void> => {
  const {
    id,
    ready: { workflow, chart },
  } = one;
  await engine.start(workflow, id, chart.input);
  const until = Date.now() + patienceMs;
  for (const [index, event] of chart.events.entries())
    for (let attempt = 0; Date.now() < until; attempt += 1) {
      let result = 'busy';
      while (result === 'busy' && Date.now() < until)
        result = await engine
          .send(workflow, id, `e${index}-${attempt}`, event, { judged: true })
          .catch((error: Error) => {
            if (error.name === 'BusyError') return 'busy';
            throw error;
          });
      if (result !== 'refused') break;
      await delay(100);
    }
  while (Date.now() < until && !isRight(await foundOf(one), one)) await delay(1500);
};
const startedAt = Date.now();
// In the order of their numbers, so that all charts run at any time.
const waiting = instances.toSorted((a, b) => Number(/\d+$/.exec(a.id)) - Number(/\d+$/.exec(b.id)));
const keepDriving = async (): Promise<void> => {
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await drive(one);
};
await Promise.all(Array.from({ length: atOnce }, keepDriving));
isOver = true;
over.abort();
await killing;
const tookSeconds = Math.round((Date.now() - startedAt) / 1000);

let same = 0;
let effects = 0;
let repeated = 0;
for (const one of instances) {
  const found = await foundOf(one);
  effects += found.effects.length;
  repeated += found.repeated;
  if (isRight(found, one)) same += 1;
  else {
    const { name } = one.ready;
    const right = one.expected.map((each) => textOf(name, each)).join('\n  ');
    process.stdout.write(`${one.id}:\n  ${textOf(name, found)}\n  ${right}\n`);
  }
}
const result = {
  instances: instances.length,
  charts: ready.length,
  kills,
  same,
  different: instances.length - same,
  effects,
  repeated,
  seed,
  tookSeconds,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
if (only === '') writeSection(join(here, 'README.md'), 'Killed workers', sectionOfKills(result));
await queue.close();
connection.disconnect();
await redis.stop();
process.exit(result.different === 0 ? 0 : 1);
