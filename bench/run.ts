/**
 * `npm run bench`: what the service does, measured against what it stands on.
 *
 *     npm run bench                         everything, as long as it takes
 *     npm run bench -- --small              less than three minutes (without gateway, profile and peers)
 *     npm run bench -- --only accept,sign   some scenarios; the rows of the others stay as they are
 *     npm run bench -- --out DIR            results and plots into DIR, not into the project
 *     npm run bench -- --against COMMIT     this tree and that one in turns (against.ts); with --only
 *     BENCH_PROFILE=DIR npm run bench …     CPU profiles into DIR (harness/program.ts)
 *
 * Prints ratios first, then tables, to stdout; progress goes to stderr. Writes
 * `bench/results/latest.json` and the plots in docs/performance/; `npm run docs` puts both into
 * docs/performance.md. Ends with status 1 when a scenario could not be measured. A goal that is not
 * met is said in a line and is no error: machines differ.
 *
 * A scenario is a file in bench/scenarios/ of the form in harness/scenario.ts. It starts the
 * product by harness/paraph.ts (dist/, so compile first when you run this file by hand), floors and
 * load generators by harness/program.ts, and measures in rounds by harness/rounds.ts.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runAgainst } from './against.ts';
import { drawPlots } from './harness/plot.ts';
import { project } from './harness/program.ts';
import { type BenchRedis, type BenchRedisOptions, startBenchRedis } from './harness/redis.ts';
import { ratioLine, textTable } from './harness/report.ts';
import {
  machineWith,
  mergeResults,
  type Run,
  readResults,
  writeResults,
} from './harness/results.ts';
import type { Scenario, ScenarioResult } from './harness/scenario.ts';
import { isMet } from './harness/statistics.ts';

/** In the order in which they are shown. */
const names = [
  'accept',
  'status',
  'sign',
  'process',
  'synch',
  'gateway',
  'people',
  'waiting',
  'fairness',
  'growth',
  'durability',
  'scale',
  'cms',
  'documents',
  'par',
  'logins',
  'index',
  'profile',
  'peers',
];
/** Too much for two minutes: runs in the small run only when it is named. */
const onlyInFull = new Set(['gateway', 'profile', 'peers']);

const { values: options } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    only: { type: 'string' },
    out: { type: 'string' },
    against: { type: 'string' },
    turns: { type: 'string', default: '5' },
  },
});
const { small, out } = options;
const wanted = options.only?.split(',') ?? names.filter((name) => !(small && onlyInFull.has(name)));
const folder = out === undefined ? join(project, 'bench/results') : resolve(out);
const plotFolder = out === undefined ? join(project, 'docs/performance') : folder;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const print = (text: string): void => void process.stdout.write(`${text}\n`);

if (options.against !== undefined) {
  const benchArguments = [
    ...(small ? ['--small'] : []),
    ...(options.only ? ['--only', options.only] : []),
  ];
  const turns = Number(options.turns);
  if (!Number.isInteger(turns) || turns < 1)
    throw new Error('--turns must be a whole number from 1 on');
  print(textTable(await runAgainst({ commit: options.against, benchArguments, turns, say })));
  process.exit();
}

const isScenario = (value: unknown): value is Scenario =>
  typeof value === 'object' && value !== null && 'run' in value && 'title' in value;

const load = async (name: string): Promise<Scenario> => {
  const file = new URL(`scenarios/${name}.ts`, import.meta.url);
  if (!names.includes(name) || !existsSync(file))
    throw new Error(`There is no scenario ${name}: ${names.join(', ')}`);
  const scenario = Object.values(await import(file.href)).find(isScenario);
  if (scenario === undefined) throw new Error(`${name}.ts exports no scenario`);
  return scenario;
};

/** What the scenario in hand has started, in order. */
const ends: (() => Promise<void> | void)[] = [];

const endAll = async (): Promise<void> => {
  for (const end of ends.splice(0).reverse()) {
    await Promise.resolve()
      .then(end)
      .catch((error: unknown) => say(`  while stopping: ${String(error)}`));
  }
};

let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void endAll().then(() => process.exit(1));
  });
}

const redis = async (redisOptions?: BenchRedisOptions): Promise<BenchRedis> => {
  const started = await startBenchRedis(redisOptions);
  ends.push(started.stop);
  return started;
};

const measure = async (scenario: Scenario): Promise<ScenarioResult> => {
  try {
    return await scenario.run({
      small,
      say: (line) => say(`  ${line}`),
      redis,
      atEnd: (stop) => void ends.push(stop),
    });
  } finally {
    await endAll();
  }
};

const when = new Date().toISOString();
const runs: Run[] = [];
for (const name of wanted) {
  const begin = performance.now();
  try {
    const scenario = await load(name);
    say(`${name}: ${scenario.title}`);
    runs.push({ scenario: name, title: scenario.title, result: await measure(scenario) });
    say(`  took ${Math.round((performance.now() - begin) / 1000)} s`);
  } catch (error) {
    // What fails now fails because it was ended; the process is about to go.
    if (interrupted) await new Promise(() => undefined);
    process.exitCode = 1;
    say(`${name} could not be measured: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

const probe = await startBenchRedis();
const redisVersion = (await probe.info()).all.redis_version ?? 'unknown';
await probe.stop();

const latest = join(folder, 'latest.json');
const results = mergeResults(readResults(latest), runs, {
  when,
  small,
  machine: machineWith(redisVersion),
  order: names,
});
writeResults(latest, results);
drawPlots(plotFolder, results.plots);

const isFresh = ({ scenario }: { readonly scenario: string }): boolean =>
  runs.some((run) => run.scenario === scenario);
const ratios = Object.entries(results.details)
  .filter(([, detail]) => isFresh(detail))
  .map(([name, detail]) => ({ name, ...detail }));
for (const ratio of ratios) print(ratioLine(ratio));
for (const table of results.tables.filter(isFresh)) print(`\n${textTable(table)}`);
const missed = ratios.filter((ratio) => isMet(ratio) === false);
if (missed.length > 0) print(`\nGoals not met: ${missed.map(({ name }) => name).join(', ')}`);
print(`\nWritten to ${latest}`);
