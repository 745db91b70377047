/**
 * The same work on DBOS with PostgreSQL, on Restate and on Paraph: accept a request over HTTP durably, sign it with P-256 in
 * a step of a workflow, keep the outcome, answer for it. Each at its own full durability: nothing is answered before it is
 * on the disk. How each is set up, and what the others do that Paraph does not: bench/peers/README.md.
 */
import { interleave } from '../harness/rounds.ts';
import type { BenchContext, Scenario, Table } from '../harness/scenario.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';
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
  { small, say, atEnd }: BenchContext,
  running: Readonly<Record<System, RunningSystem>>,
): Promise<ReadonlyMap<number, Rounds>> => {
  const loader = await startTransactionLoader();
  atEnd(loader.stop);
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
    const of = (key: keyof Omit<Round, 'lastSignature'>): number =>
      median(rounds[system].map((round) => round[key]));
    const each = rates(rounds[system]);
    return [
      labels[system],
      Math.round(of('perSecond')),
      `${Math.round(Math.min(...each))} to ${Math.round(Math.max(...each))}`,
      of('acceptP50Ms'),
      of('acceptP99Ms'),
      of('outcomeP50Ms'),
      of('outcomeP99Ms'),
      of('statusRequests'),
      of('cpuMs'),
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
    const [paraph, dbos, restate] = systems.map((system) => rates(decisive[system])) as [
      number[],
      number[],
      number[],
    ];
    const faster = median(dbos) > median(restate) ? ('dbos' as const) : ('restate' as const);
    const words =
      'transactions per second from request to outcome over HTTP, Paraph (an API and a worker process) with append-only file always';
    return {
      ratios: [
        ratioOf(
          { name: 'dbos', divides: `${words} / DBOS with PostgreSQL (one process)` },
          roundRatios(paraph, dbos),
        ),
        ratioOf(
          { name: 'restate', divides: `${words} / Restate (server and one process)` },
          roundRatios(paraph, restate),
        ),
        ratioOf(
          {
            name: 'peers',
            divides: `${words} / the faster of the two, ${labels[faster]}`,
            goal: { atLeast: 2 },
          },
          roundRatios(paraph, faster === 'dbos' ? dbos : restate),
        ),
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
