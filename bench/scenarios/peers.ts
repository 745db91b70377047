/**
 * The same work on DBOS with PostgreSQL, on Restate and on Paraph: accept a request over HTTP
 * durably, sign it with P-256 in a step of a workflow, keep the outcome, answer for it. Each at its
 * own full durability: nothing is answered before it is on the disk. How each is set up, and what
 * the others do that Paraph does not: bench/peers/README.md.
 */
import { interleave } from '../harness/rounds.ts';
import { type BenchContext, own, type Scenario, type Table } from '../harness/scenario.ts';
import { compare, median, medians } from '../harness/statistics.ts';
import { familyCpuSeconds } from '../peers/family-usage.ts';
import { installPeers } from '../peers/install.ts';
import {
  type RunningSystem,
  startDbosSystem,
  startParaphSystem,
  startRestateSystem,
} from '../peers/systems.ts';
import {
  type System,
  startTransactionLoader,
  systems,
  type TransactionLoadResult,
} from '../peers/transaction-load-client.ts';

interface Round extends TransactionLoadResult {
  /** Of service and store together, for each transaction. */
  readonly cpuMs: number;
}

type Rounds = Readonly<Record<System, readonly Round[]>>;

const labels: Readonly<Record<System, string>> = {
  paraph: 'Paraph, Redis',
  dbos: 'DBOS, PostgreSQL',
  restate: 'Restate',
};

/** The first decides the ratios; of processes the last. */
const loads = [
  { work: 'signature', inFlight: 64 },
  { work: 'signature', inFlight: 256 },
  { work: 'process', inFlight: 64 },
] as const;
type Load = (typeof loads)[number];

const nameOf = ({ work, inFlight }: Load): string =>
  work === 'process' ? `${inFlight}, processes of three` : String(inFlight);

const measureAll = async (
  context: BenchContext,
  running: Readonly<Record<System, RunningSystem>>,
): Promise<ReadonlyMap<Load, Rounds>> => {
  const { small, say } = context;
  const loader = await own(context, startTransactionLoader());
  const measure = async (system: System, { work, inFlight }: Load): Promise<Round> => {
    const { url, pids, check } = running[system];
    const before = familyCpuSeconds(pids);
    const result = await loader.ask({
      system,
      work,
      url,
      inFlight,
      durationMs: small && work === 'signature' ? 3000 : 8000,
    });
    const cpuSeconds = familyCpuSeconds(pids) - before;
    await check(work, result.lastSignature);
    return { ...result, cpuMs: (cpuSeconds / result.count) * 1000 };
  };
  const all = new Map<Load, Rounds>();
  for (const load of loads) {
    say(`${nameOf(load)} in flight`);
    const rounds = small ? 3 : 7;
    const sides = {
      paraph: () => measure('paraph', load),
      dbos: () => measure('dbos', load),
      restate: () => measure('restate', load),
    };
    const isMore = load.inFlight > loads[0].inFlight;
    // All three run on compilers that need some seconds of work.
    const warmUps = isMore ? 1 : 2;
    all.set(load, await interleave(isMore ? Math.ceil(rounds / 2) : rounds, sides, { warmUps }));
  }
  return all;
};

const rates = (rounds: readonly Round[]): number[] => rounds.map(({ perSecond }) => perSecond);

const tableOf = (load: Load, rounds: Rounds): Table => {
  const what = load.work === 'process' ? 'processes' : 'transactions';
  const row = (system: System): (string | number)[] => {
    const each = rates(rounds[system]);
    return [
      labels[system],
      Math.round(median(each)),
      `${Math.round(Math.min(...each))} to ${Math.round(Math.max(...each))}`,
      ...medians(
        rounds[system],
        'acceptP50Ms',
        'acceptP99Ms',
        'outcomeP50Ms',
        'outcomeP99Ms',
        'statusRequests',
        'cpuMs',
      ),
    ];
  };
  return {
    title: `The same workflow, ${load.inFlight} ${what}${load.work === 'process' ? ' with three signers in order' : ''} in flight, fsync before every answer (medians of the rounds)`,
    columns: [
      '',
      `${what}/s`,
      'least to most',
      'accepted p50 ms',
      'p99 ms',
      'from there to outcome p50 ms',
      'p99 ms',
      'status requests each',
      'CPU ms each',
    ],
    rows: systems.map(row),
  };
};

export const peers: Scenario = {
  name: 'peers',
  title: 'The same workflow on DBOS and on Restate',
  run: async (context) => {
    await installPeers(context.say);
    const running = {
      paraph: await startParaphSystem(context),
      dbos: await startDbosSystem(context),
      restate: await startRestateSystem(context),
    };
    const measured = await measureAll(context, running);
    const decisive = measured.get(loads[0]);
    const processes = measured.get(loads[2]);
    if (decisive === undefined || processes === undefined) throw new Error('nothing was measured');
    const faster =
      median(rates(decisive.dbos)) > median(rates(decisive.restate)) ? 'dbos' : 'restate';
    const against = (
      name: string,
      peer: 'dbos' | 'restate',
      what: string,
      goal?: { atLeast: number },
    ) =>
      compare(
        { name, divides: `${words} / ${what}`, ...(goal !== undefined && { goal }) },
        decisive.paraph,
        decisive[peer],
        'perSecond',
      );
    const words =
      'transactions per second from request to outcome over HTTP, Paraph (an API and a worker process) with append-only file always';
    const processWords =
      'processes with three robots in order per second over HTTP, each with its evidence, Paraph with append-only file always';
    return {
      ratios: [
        against('dbos', 'dbos', 'DBOS with PostgreSQL (one process)'),
        against('restate', 'restate', 'Restate (server and one process)'),
        compare(
          { name: 'processDbos', divides: `${processWords} / DBOS with PostgreSQL (one process)` },
          processes.paraph,
          processes.dbos,
          'perSecond',
        ),
        compare(
          { name: 'processRestate', divides: `${processWords} / Restate (server and one process)` },
          processes.paraph,
          processes.restate,
          'perSecond',
        ),
        against('peers', faster, `the faster of the two, ${labels[faster]}`, { atLeast: 2 }),
      ],
      tables: [...measured].map(([load, rounds]) => tableOf(load, rounds)),
      plots: [
        {
          file: 'peers',
          title: 'The same workflow, fsync before every answer',
          kind: 'bars',
          xLabel: 'transactions in flight',
          yLabel: 'transactions per second',
          series: systems.map((system) => ({
            label: labels[system],
            points: [...measured].map(([load, rounds]) => ({
              x: nameOf(load),
              y: median(rates(rounds[system])),
            })),
          })),
        },
      ],
    };
  },
};
