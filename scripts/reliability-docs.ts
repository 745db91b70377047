/**
 * Fills the measured blocks of docs/reliability.md from test/faults/results. With `--check` it
 * compares.
 *
 * A block lies between `<!-- faults:NAME -->` and `<!-- /faults -->`; the prose around it is
 * written by hand.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ChainResults } from '../test/faults/chain.ts';
import type { ClusterResults } from '../test/faults/cluster.ts';
import type { Measured } from '../test/faults/measure.ts';
import { describeLoads, type ProcessSummary, type RunResults } from '../test/faults/report.ts';
import { writeOrCheck } from './generated-file.ts';

const read = <T>(name: string): T | undefined => {
  const path = fileURLToPath(new URL(`../test/faults/results/${name}`, import.meta.url));
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
};

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');

const counts = (name: string, of: Readonly<Record<string, number>>): string =>
  table([name, 'times'], Object.entries(of));

const describeProcesses = ({
  outcomes,
  signatures,
  prompts,
  verified,
  latestEndMs,
}: ProcessSummary): string =>
  `Processes: ${Object.entries(outcomes)
    .map(([name, times]) => `${times} ${name}`)
    .join(
      ', ',
    )}; ${signatures} signatures by ${prompts} prompts; ${verified} evidence records verified. ` +
  `The latest ended ${latestEndMs} ms after its deadline and all faults.\n`;

const describeRun = (run: RunResults): string =>
  [
    `Seed ${run.seed}, ${Math.round(run.durationMs / 1000)} s of load and faults on ${run.cores} cores: ` +
      `${run.transactions} transactions, ${run.prompts} prompts, ${run.texts} texts; **${run.violations} violations**. ` +
      `The latest transaction ended ${run.latestEndMs} ms after its deadline and the last fault that held it up. ` +
      `Faults excused lateness in ${run.excusedPercent} % of the time, a machine without time for the service in ${run.starvedPercent} %.\n`,
    `Of the requests that were refused, **${run.refusedThatRan}** were taken in afterwards; ${run.refusedTakenIn} had been before.\n`,
    describeProcesses(run.processes),
    `${describeLoads(run.loads)
      .map((line) => `- ${line}\n`)
      .join('')}`,
    counts('fault', run.faults),
    counts('operation and what the client was told', run.operations),
    counts('last status of what was acknowledged', run.outcomes),
  ].join('\n');

const describeMeasured = ({ cores, rows }: Measured): string =>
  `On ${cores} cores:\n\n${table(
    [
      'what happens to Redis',
      'rounds',
      'acknowledged/s',
      'lost, median',
      'lost, most',
      'oldest lost',
    ],
    rows.map((row) => [
      row.name,
      row.rounds,
      row.acknowledgedPerSecond,
      row.lostMedian,
      row.lostMost,
      row.lostMost === 0 ? 'none' : `${row.lostMsMost} ms`,
    ]),
  )}`;

const describeCluster = ({
  cores,
  acknowledged,
  refused,
  failovers,
  violations,
}: ClusterResults): string =>
  `On ${cores} cores: ${acknowledged} acknowledged, ${refused} refused; **${violations} violations**.\n\n${table(
    ['the master was', 'replica promoted after', 'acknowledged again', 'signed again', 'lost'],
    failovers.map((one) => [
      one.death,
      `${one.promotedMs} ms`,
      `+ ${one.acknowledgedMs} ms`,
      `+ ${one.signedMs} ms`,
      one.lost,
    ]),
  )}`;

const describeChain = ({ cores, rows }: ChainResults): string =>
  `On ${cores} cores, with others on the machine:\n\n${table(
    [
      'upstream mode of near, middle',
      'strikes',
      'acknowledged',
      'signed',
      'lost',
      'doubled prompts',
      'other',
    ],
    rows.map((row) => [
      row.modes,
      row.strikes,
      row.acknowledged,
      row.signed,
      row.lost,
      row.doubled,
      row.otherViolations,
    ]),
  )}`;

const fill = (document: string, name: string, block: string | undefined): string =>
  document.replace(
    new RegExp(`(<!-- faults:${name} -->\n)[^]*?(<!-- /faults -->)`),
    (_, begin: string, end: string) => `${begin}${block ?? 'Not measured yet.\n'}${end}`,
  );

const run = read<RunResults>('latest.json');
const measured = read<Measured>('measured.json');
const cluster = read<ClusterResults>('cluster.json');
const chain = read<ChainResults>('chain.json');

writeOrCheck(
  [
    {
      path: 'docs/reliability.md',
      make: (document) =>
        [
          ['run', run && describeRun(run)] as const,
          ['measured', measured && describeMeasured(measured)] as const,
          ['cluster', cluster && describeCluster(cluster)] as const,
          ['chain', chain && describeChain(chain)] as const,
        ].reduce((filled, [name, block]) => fill(filled, name, block), document),
    },
  ],
  { check: process.argv.includes('--check'), remedy: '`npm run docs`' },
);
