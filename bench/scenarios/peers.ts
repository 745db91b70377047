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

/** The first decides the ratios. */
const inFlights = [64, 256] as const;

const measureAll = async (
  context: BenchContext,
  running: Readonly<Record<System, RunningSystem>>,
): Promise<ReadonlyMap<number, Rounds>> => {
  const { small, say } = context;
  const loader = await own(context, startTransactionLoader());
  const measure = async (system: System, inFlight: number): Promise<Round> => {
    const { url, pids, check } = running[system];
    const before = familyCpuSeconds(pids);
    const result = await loader.ask({ system, url, inFlight, durationMs: small ? 3000 : 8000 });
    const cpuSeconds = familyCpuSeconds(pids) - before;
    check(result.lastSignature);
    return { ...result, cpuMs: (cpuSeconds / result.count) * 1000 };
  };
  const all = new Map<number, Rounds>();
  for (const inFlight of inFlights) {
    say(`${inFlight} in flight`);
    const rounds = small ? 3 : 7;
    const sides = {
      paraph: () => measure('paraph', inFlight),
      dbos: () => measure('dbos', inFlight),
      restate: () => measure('restate', inFlight),
    };
    // All three run on compilers that need some seconds of work.
    const warmUps = inFlight === inFlights[0] ? 2 : 1;
    all.set(
      inFlight,
      await interleave(inFlight === inFlights[0] ? rounds : Math.ceil(rounds / 2), sides, { warmUps }),
    );
  }
  return all;
};

const rates = (rounds: readonly Round[]): number[] => rounds.map(({ perSecond }) => perSecond);

const tableOf = (inFlight: number, rounds: Rounds): Table => {
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
    title: `The same workflow, ${inFlight} transactions in flight, fsync before every answer (medians of the rounds)`,
    columns: [
      '',
      'transactions/s',
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
    const decisive = measured.get(inFlights[0]);
    if (decisive === undefined) throw new Error('nothing was measured');
    const faster = median(rates(decisive.dbos)) > median(rates(decisive.restate)) ? 'dbos' : 'restate';
    const against = (name: string, peer: 'dbos' | 'restate', what: string, goal?: { atLeast: number }) =>
      compare(
        { name, divides: `${words} / ${what}`, ...(goal !== undefined && { goal }) },
        decisive.paraph,
        decisive[peer],
        'perSecond',
      );
    const words =
      'transactions per second from request to outcome over HTTP, Paraph (an API and a worker process) with append-only file always';
    return {
      ratios: [
        against('dbos', 'dbos', 'DBOS with PostgreSQL (one process)'),
        against('restate', 'restate', 'Restate (server and one process)'),
        against('peers', faster, `the faster of the two, ${labels[faster]}`, { atLeast: 2 }),
      ],
      tables: [...measured].map(([inFlight, rounds]) => tableOf(inFlight, rounds)),
      plots: [
        {
          file: 'peers',
          title: 'The same workflow, fsync before every answer',
          kind: 'bars',
          xLabel: 'transactions in flight',
          yLabel: 'transactions per second',
          series: systems.map((system) => ({
            label: labels[system],
            points: [...measured].map(([inFlight, rounds]) => ({
              x: String(inFlight),
              y: median(rates(rounds[system])),
            })),
          })),
        },
      ],
    };
  },
};
