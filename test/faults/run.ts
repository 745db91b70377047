/**
 * `npm run faults`: breaks everything around the service for a while, by a seed, and checks its
 * promises afterwards.
 *
 *   npm run faults -- [--small] [--seed N] [--duration 5m] [--only kill-worker,cut-api] [--shrink TRIES]
 *   npm run faults -- --focus fence | recheck | silence | turns | heal | callbacks | processes | bulks | mails | logins | charts | documents   one weakness, in seconds
 *   npm run faults -- --focus upgrade [--from COMMIT]      the last release and this one side by side, there and back
 *   npm run faults -- --mutant no-fence | no-recheck | no-silence | no-not-after | no-turns | slow-turns | early-acceptance | position-first | no-order | no-timers | begun-forgotten | mails-once | codes-again   the same on a build that was broken on purpose: must fail
 *   npm run faults -- --cluster [--small]              masters of a Redis Cluster die and replicas take over
 *   npm run faults -- --chain [--small] [--duration 2m]   three services, one behind the other, are killed and stopped
 *   npm run faults -- --measure                        what is not promised, in numbers
 *
 * The exit status is 1 when a promise was broken. Journal, evidence and logs stay in
 * .cache/faults/<seed>.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkOut, hashOf, lastRelease } from '../../scripts/other-tree.ts';
import { run } from '../../scripts/run.mjs';
import { runChains } from './chain.ts';
import { habits } from './clients.ts';
import { runCluster } from './cluster.ts';
import { breed, type Focus, focuses, mutants } from './focus.ts';
import { loadNames } from './loads/loads.ts';
import { measure } from './measure.ts';
import { createRandom } from './random.ts';
import { printSummary, printViolation, type RunResults, summarise } from './report.ts';
import { type FaultKind, faultKinds, type PlannedFault, planFaults } from './schedule.ts';
import { shrink } from './shrink.ts';
import { runTrial, type TrialOptions } from './trial.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const usage = (problem: string): never => {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
};

const { values: given } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    seed: { type: 'string' },
    duration: { type: 'string' },
    only: { type: 'string' },
    shrink: { type: 'string' },
    focus: { type: 'string' },
    from: { type: 'string' },
    mutant: { type: 'string' },
    cluster: { type: 'boolean', default: false },
    chain: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
    dist: { type: 'string', default: join(project, 'dist') },
  },
});

/** Sets a tree of ours up as its own scripts do it: its packages, and the compiled product. */
const setUpWords = [
  '-e',
  "import('./scripts/setup.mjs').then((setup) => setup.runScript(async () => { await setup.ensurePackages(); await setup.ensureBuilt(); }))",
];

/** `90s`, `5m`, `2h`. */
const millisecondsOf = (text: string): number => {
  const match = /^(\d+)(s|m|h)$/.exec(text);
  if (match === null) return usage(`--duration must be a number with s, m or h, not ${text}`);
  return Number(match[1]) * { s: 1000, m: 60_000, h: 3_600_000 }[match[2] as 's' | 'm' | 'h'];
};

const isKeyOf = <T extends object>(table: T, key: string): key is Extract<keyof T, string> =>
  Object.hasOwn(table, key);

const kindsOf = (text: string | undefined): readonly FaultKind[] => {
  if (text === undefined) return faultKinds;
  return text.split(',').map((name) => {
    const kind = faultKinds.find((known) => known === name.trim());
    return kind ?? usage(`--only knows ${faultKinds.join(', ')}`);
  });
};

/** Time for every kind of fault once, whatever the seed is. */
const smallMs = 168_000;
const seed = given.seed ?? String(Math.floor(Math.random() * 1_000_000));
const workers = 3;
const apis = 2;

const focusOf = (): Focus | undefined => {
  if (given.mutant !== undefined) {
    if (!isKeyOf(mutants, given.mutant))
      return usage(`--mutant knows ${Object.keys(mutants).join(', ')}`);
    return focuses[mutants[given.mutant].focus];
  }
  if (given.focus === undefined) return undefined;
  return isKeyOf(focuses, given.focus)
    ? focuses[given.focus]
    : usage(`--focus knows ${Object.keys(focuses).join(', ')}`);
};

const mixed = (): Focus => {
  const durationMs = given.duration
    ? millisecondsOf(given.duration)
    : given.small
      ? smallMs
      : 300_000;
  const random = createRandom(seed).branch('nemesis');
  return {
    durationMs,
    plan: planFaults({ random, durationMs, kinds: kindsOf(given.only), workers, apis }),
    mix: habits,
    clients: 16,
    pauseMs: 500,
    processEveryMs: 1000,
    loads: loadNames,
  };
};

const show = ({ atMs, kind, target, forMs, amount }: PlannedFault): string =>
  `  at ${(atMs / 1000).toFixed(1).padStart(6)} s  ${kind} ${target + 1}, for ${forMs} ms${amount ? ` (${amount} ms)` : ''}`;

/** Only what `npm run faults` does by itself is what the documentation shows. */
const isWholeRun =
  !given.small && [given.focus, given.mutant, given.only].every((chosen) => chosen === undefined);

/** @returns The compiled other release; undefined for runs without one. */
const otherRelease = async (): Promise<string | undefined> => {
  if (given.focus !== 'upgrade') return undefined;
  const commit = given.from ?? lastRelease(project);
  if (commit === undefined)
    return usage('There is no tag of a release (v…) yet: name a commit with --from');
  const hash = hashOf(project, commit);
  const tree = checkOut(project, hash);
  say(`the other release is ${commit} (${hash.slice(0, 8)}), in ${tree}`);
  const { status } = await run(process.execPath, setUpWords, { cwd: tree, output: 'errors' });
  if (status !== 0) return usage(`${commit} could not be set up`);
  return join(tree, 'dist');
};

const runFaults = async (): Promise<void> => {
  const focus = focusOf() ?? mixed();
  const otherDist = await otherRelease();
  const directory = join(project, '.cache', 'faults', seed);
  const broken =
    given.mutant !== undefined && isKeyOf(mutants, given.mutant) ? given.mutant : undefined;
  const dist = broken
    ? breed(broken, given.dist, project, join(project, '.cache', 'faults', 'mutants', broken))
    : given.dist;
  const again = process.argv
    .slice(2)
    .filter((word, index, all) => word !== '--seed' && all[index - 1] !== '--seed');
  say(`seed ${seed} (npm run faults -- ${['--seed', seed, ...again].join(' ')})`);
  say(`${focus.plan.length} faults in ${focus.durationMs / 1000} s, ${focus.clients} clients`);
  const options: TrialOptions = { ...focus, seed, workers, dist, otherDist, directory };
  const result = await runTrial(options);
  const summary = summarise(result);
  say(printSummary(summary));
  for (const violation of result.violations.slice(0, 5))
    say(printViolation(result.evidence, violation));
  for (const rule of new Set(result.violations.map(({ rule }) => rule))) {
    say(`${result.violations.filter((violation) => violation.rule === rule).length} × ${rule}`);
  }
  say(`${result.violations.length} violations`);
  if (isWholeRun) {
    const results: RunResults = {
      seed,
      durationMs: focus.durationMs,
      cores: availableParallelism(),
      ...summary,
    };
    mkdirSync(join(project, 'test/faults/results'), { recursive: true });
    writeFileSync(
      join(project, 'test/faults/results/latest.json'),
      `${JSON.stringify(results, undefined, 2)}\n`,
    );
  }
  if (result.violations.length === 0) return;
  process.exitCode = 1;
  say(`journal, evidence and logs: ${directory}`);
  const budget = Number(given.shrink ?? (given.small || given.focus || broken ? 0 : 6));
  if (budget > 0) await shrinkPlan(options, budget);
};

const shrinkPlan = async (options: TrialOptions, budget: number): Promise<void> => {
  say(
    `looking for a smaller schedule that fails, in at most ${budget} runs; timing is not repeatable`,
  );
  const { smallest, tried } = await shrink(
    options.plan,
    async (plan) => {
      const last = Math.max(...plan.map(({ atMs, forMs }) => atMs + forMs));
      const { violations } = await runTrial({
        ...options,
        plan,
        durationMs: Math.min(options.durationMs, last + 3000),
        directory: `${options.directory}-shrinking`,
      });
      say(`  ${plan.length} faults: ${violations.length} violations`);
      return violations.length > 0;
    },
    budget,
  );
  say(`the smallest schedule that failed, after ${tried} runs:\n${smallest.map(show).join('\n')}`);
};

const runOnCluster = async (): Promise<void> => {
  say(`seed ${seed}`);
  const rounds = given.small ? 1 : 3;
  const broken = await runCluster({
    dist: given.dist,
    say,
    project,
    seed,
    rounds,
    keeps: !given.small,
  });
  if (broken > 0) process.exitCode = 1;
};

const runOnChain = async (): Promise<void> => {
  say(`seed ${seed}`);
  const durationMs = given.duration
    ? millisecondsOf(given.duration)
    : given.small
      ? 12_000
      : 90_000;
  const keeps = !given.small;
  const broken = await runChains({ dist: given.dist, say, project, seed, durationMs, keeps });
  if (broken > 0) process.exitCode = 1;
};

if (given.measure) await measure({ dist: given.dist, say, project, rounds: given.small ? 2 : 5 });
else await (given.cluster ? runOnCluster() : given.chain ? runOnChain() : runFaults());
process.exit();
