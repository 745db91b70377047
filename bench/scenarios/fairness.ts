/**
 * One application floods the service; what does another notice?
 *
 * In each round the other's synchronous requests are measured alone, while the flood is being added and while it waits. The
 * limits are those of the default configuration: the flood may be refused, the other may not.
 */
import { interleave } from '../harness/rounds.ts';
import type { BenchContext, Ratio, Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { median, ratioOf } from '../harness/statistics.ts';
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

type Phase = 'alone' | 'adding' | 'waiting';
type Round = Readonly<Record<Phase, HttpLoadResult>>;

const floods = [
  { name: 'http', words: 'over HTTP, 256 connections' },
  { name: 'bulk', words: 'by bare BullMQ, addBulk' },
] as const;
const phases = ['adding', 'waiting'] as const;
const ratioNames = {
  http: { adding: 'fairnessHttp', waiting: 'fairnessHttpAfter' },
  bulk: { adding: 'fairnessBulk', waiting: 'fairnessBulkAfter' },
} as const;

const startFloods = async ({ atEnd }: BenchContext, socketPath: string, prefix: string, url: string) => {
  const [http, jobs] = await Promise.all([startHttpLoader(), startJobLoader()]);
  atEnd(http.stop);
  atEnd(jobs.stop);
  const body = signBody({ mode: 'asynch', apId: 'http://flood.example' });
  const load = { socketPath, prefix, body };
  return {
    http: (count: number): Promise<unknown> =>
      http.run({ url, template: JSON.stringify(body), inFlight: floodInFlight, count }, { tolerant: true }),
    bulk: (count: number): Promise<unknown> => jobs.ask({ ...load, kind: 'bulk', count, inFlight: bulkSize }),
    /** Drops what is left of a flood. */
    drop: (): Promise<unknown> => jobs.ask({ ...load, kind: 'drop' }),
  };
};

export const fairness: Scenario = {
  name: 'fairness',
  title: 'Synchronous requests while another application floods the service',
  run: async (context) => {
    const { small, atEnd, say } = context;
    const product = await productSide(context);
    const [api] = await Promise.all([product.start('api', { queue: {} }), product.start('worker')]);
    const url = `${api.url}/rest/service/sign`;
    const flood = await startFloods(context, product.redis.connection.path, product.prefix, url);
    const other = await startHttpLoader();
    atEnd(other.stop);
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
    const round = async (add: (count: number) => Promise<unknown>): Promise<Round> => {
      const alone = await measure();
      const added = add(small ? floodCount / 5 : floodCount);
      const adding = await measure();
      await added;
      const waiting = await measure();
      await flood.drop();
      await product.clear();
      return { alone, adding, waiting };
    };
    const rounds = await interleave(small ? 1 : 5, {
      http: () => round(flood.http),
      bulk: () => round(flood.bulk),
    });

    const failed = ({ failures }: HttpLoadResult): number => failures;
    const results = [...rounds.http, ...rounds.bulk].flatMap((each) => [each.adding, each.waiting]);
    const shares = results.map((result) => failed(result) / result.count);
    const firstFailure = results.find(({ failures }) => failures > 0)?.firstFailure;
    if (firstFailure !== undefined) say(`the other was answered ${firstFailure}`);
    const ratios = floods.flatMap(({ name, words }) =>
      phases.map(
        (phase): Ratio =>
          ratioOf(
            {
              name: ratioNames[name][phase],
              divides: `99th percentile of another application's synchronous sign ${phase === 'adding' ? 'while 100 000 are added' : 'after that, while they wait'} (${words}) / twice that alone plus 20 ms`,
              goal: { atMost: 1 },
            },
            rounds[name].map((each) => each[phase].p99Ms / allowedMs(each.alone.p99Ms)),
          ),
      ),
    );
    const row = (words: string, of: readonly HttpLoadResult[]): (string | number)[] => [
      words,
      median(of.map(({ p50Ms }) => p50Ms)),
      median(of.map(({ p99Ms }) => p99Ms)),
      Math.max(...of.map(({ maxMs }) => maxMs)),
      of.reduce((sum, { count }) => sum + count, 0),
      of.reduce((sum, each) => sum + failed(each), 0),
    ];
    return {
      ratios: [
        ...ratios,
        {
          name: 'fairnessRefused',
          divides: 'requests of the other application that were not signed / all of them, in all floods',
          goal: { atMost: 0 },
          value:
            results.reduce((sum, each) => sum + failed(each), 0) /
            results.reduce((sum, { count }) => sum + count, 0),
          least: Math.min(...shares),
          most: Math.max(...shares),
        },
      ],
      tables: [
        {
          title: 'Another application, synchronously, 4 in flight (medians of the rounds)',
          columns: ['the flood', 'p50 ms', 'p99 ms', 'longest ms', 'requests', 'failed'],
          rows: floods.flatMap(({ name, words }) => [
            row(
              `none yet (${words})`,
              rounds[name].map(({ alone }) => alone),
            ),
            row(
              `is added ${words}`,
              rounds[name].map(({ adding }) => adding),
            ),
            row(
              `waits`,
              rounds[name].map(({ waiting }) => waiting),
            ),
          ]),
        },
      ],
      plots: [],
    };
  },
};
