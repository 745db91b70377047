/**
 * One application floods the service; what does another notice?
 *
 * In each round the other's synchronous requests are measured alone, while the flood is being added
 * and while it waits. The limits are those of the default configuration: the flood may be refused,
 * the other may not.
 *
 * All processes share the machine, so part of what the other notices is that its cores are busy.
 * How much that is, a control says: the same flood goes to another installation beside it, which
 * has a Redis, an API and a worker of its own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { interleave } from '../harness/rounds.ts';
import { type BenchContext, own, type Ratio, type Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { medians, ratioOf } from '../harness/statistics.ts';
import { type HttpLoadResult, startHttpLoader } from '../load/http-load-client.ts';
import { startJobLoader } from '../load/job-load-client.ts';
import { signBody, signTemplate } from '../load/requests.ts';

const floodCount = 100_000;
/** Jobs in a call of addBulk. */
const bulkSize = 250;
/** Of the application that floods, and of the other. */
const floodInFlight = 256;
const otherInFlight = 4;
/** What the other may take, from what it takes alone. */
const allowedMs = (aloneMs: number): number => 2 * aloneMs + 20;

type Phase = 'alone' | 'control' | 'adding' | 'waiting';
type Round = Readonly<Record<Phase, HttpLoadResult>>;

const floods = [
  { name: 'http', words: 'over HTTP, 256 connections' },
  { name: 'bulk', words: 'by bare BullMQ, addBulk' },
] as const;
const phases = ['control', 'adding', 'waiting'] as const;
const ratioNames = {
  http: { control: 'fairnessHttpControl', adding: 'fairnessHttp', waiting: 'fairnessHttpAfter' },
  bulk: { control: 'fairnessBulkControl', adding: 'fairnessBulk', waiting: 'fairnessBulkAfter' },
} as const;
const phaseWords = {
  control: 'while the same flood goes to another installation on this machine',
  adding: 'while 100 000 are added',
  waiting: 'after that, while they wait',
} as const;

/** Until a flood has reached its rate. */
const leadMs = 200;

interface Flood {
  readonly http: (size: FloodSize) => Promise<unknown>;
  readonly bulk: (size: FloodSize) => Promise<unknown>;
  /** Drops what is left of a flood. */
  readonly drop: () => Promise<unknown>;
}
type FloodSize = { readonly count: number } | { readonly durationMs: number };

/** An installation with default limits, and what floods it. */
const startFlooded = async (
  context: BenchContext,
): Promise<{ readonly url: string; readonly flood: Flood }> => {
  const product = await productSide(context);
  const [api, http, jobs] = await Promise.all([
    product.start('api', { queue: {} }),
    startHttpLoader(),
    startJobLoader(),
    product.start('worker'),
  ]);
  context.atEnd(http.stop);
  context.atEnd(jobs.stop);
  const url = `${api.url}/rest/service/sign`;
  const body = signBody({ mode: 'asynch', apId: 'http://flood.example' });
  const load = { socketPath: product.redis.connection.path, prefix: product.prefix, body };
  return {
    url,
    flood: {
      http: (size) =>
        http.run(
          { url, template: JSON.stringify(body), inFlight: floodInFlight, ...size },
          { tolerant: true },
        ),
      bulk: (size) => jobs.ask({ ...load, kind: 'bulk', inFlight: bulkSize, ...size }),
      drop: async () => {
        await jobs.ask({ ...load, kind: 'drop' });
        await product.clear();
      },
    },
  };
};

const sumOf = (results: readonly HttpLoadResult[], key: 'count' | 'failures'): number =>
  results.reduce((sum, result) => sum + result[key], 0);

export const fairness: Scenario = {
  name: 'fairness',
  title: 'Synchronous requests while another application floods the service',
  run: async (context) => {
    const { small, say } = context;
    const { url, flood } = await startFlooded(context);
    const elsewhere = await startFlooded(context);
    const other = await own(context, startHttpLoader());
    const durationMs = small ? 1500 : 5000;
    const measure = (): Promise<HttpLoadResult> =>
      other.run(
        {
          url,
          template: signTemplate({ mode: 'synch', apId: 'http://other.example' }),
          inFlight: otherInFlight,
          durationMs,
        },
        { tolerant: true },
      );
    const round = async (kind: 'http' | 'bulk', count: number): Promise<Round> => {
      const alone = await measure();
      const beside = elsewhere.flood[kind]({ durationMs: durationMs + 2 * leadMs });
      await delay(leadMs);
      const control = await measure();
      await beside;
      await elsewhere.flood.drop();
      const added = flood[kind]({ count });
      await delay(leadMs);
      const adding = await measure();
      await added;
      const waiting = await measure();
      await flood.drop();
      return { alone, control, adding, waiting };
    };
    // Warm is warm: what is thrown away need not be large.
    for (const { name } of floods) await round(name, floodCount / 20);
    const count = small ? floodCount / 5 : floodCount;
    const rounds = await interleave(
      small ? 1 : 3,
      { http: () => round('http', count), bulk: () => round('bulk', count) },
      { warmUps: 0 },
    );

    const results = [...rounds.http, ...rounds.bulk].flatMap((each) => [each.adding, each.waiting]);
    const shares = results.map(({ failures, count: all }) => failures / all);
    const firstFailure = results.find(({ failures }) => failures > 0)?.firstFailure;
    if (firstFailure !== undefined) say(`the other was answered ${firstFailure}`);
    const ratios = floods.flatMap(({ name, words }) =>
      phases.map(
        (phase): Ratio =>
          ratioOf(
            {
              name: ratioNames[name][phase],
              divides: `99th percentile of another application's synchronous sign ${phaseWords[phase]} (${words}) / twice that alone plus 20 ms`,
              // What the control shows is the machine's.
              ...(phase !== 'control' && { goal: { atMost: 1 } }),
            },
            rounds[name].map((each) => each[phase].p99Ms / allowedMs(each.alone.p99Ms)),
          ),
      ),
    );
    const row = (words: string, name: 'http' | 'bulk', phase: Phase): (string | number)[] => {
      const of = rounds[name].map((each) => each[phase]);
      return [
        words,
        ...medians(of, 'p50Ms', 'p99Ms'),
        Math.max(...of.map(({ maxMs }) => maxMs)),
        sumOf(of, 'count'),
        sumOf(of, 'failures'),
      ];
    };
    return {
      ratios: [
        ...ratios,
        {
          name: 'fairnessRefused',
          divides:
            'requests of the other application that were not signed / all of them, in all floods',
          goal: { atMost: 0 },
          value: sumOf(results, 'failures') / sumOf(results, 'count'),
          least: Math.min(...shares),
          most: Math.max(...shares),
        },
      ],
      tables: [
        {
          title: 'Another application, synchronously, 4 in flight (medians of the rounds)',
          columns: ['the flood', 'p50 ms', 'p99 ms', 'longest ms', 'requests', 'failed'],
          rows: floods.flatMap(({ name, words }) => [
            row(`none yet (${words})`, name, 'alone'),
            row(`goes to another installation (${words})`, name, 'control'),
            row(`is added ${words}`, name, 'adding'),
            row('waits', name, 'waiting'),
          ]),
        },
      ],
      plots: [],
    };
  },
};
