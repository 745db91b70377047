/**
 * Growth: whether a service that keeps a million finished transactions is as fast as one that keeps
 * a thousand.
 *
 * Three services run side by side, each on a Redis of its own that was filled to its size
 * (fill/retained.ts), and take turns: each is measured in each round, and what it ended in the
 * round is removed again, so that sizes stay. Accepting is measured while the workers are held;
 * signing is a synchronous request from sending to answer; status asks for retained signatures at
 * random.
 */
import { makeOriginal } from '../fill/originals.ts';
import {
  dropEndedSince,
  type EndedKind,
  fillRetained,
  retainedId,
  signaturesKey,
} from '../fill/retained.ts';
import { openShardQueues } from '../fill/shard-queues.ts';
import { startStatusLoader } from '../fill/status-load-client.ts';
import type { BenchRedis } from '../harness/redis.ts';
import { interleave } from '../harness/rounds.ts';
import {
  type BenchContext,
  own,
  type Ratio,
  type Scenario,
  type Table,
} from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { compare, median } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { signTemplate } from '../load/requests.ts';
import { measure } from '../scale/running.ts';

const inFlight = 64;
/** What is held back while accepting is measured is more than a service should let wait. */
const configuration = { queue: { maxWaiting: 10_000_000 } };
/** One in ten did not end well. */
const failedPart = 0.1;

const operations = ['accept', 'sign', 'status'] as const;
type Operation = (typeof operations)[number];
interface Pace {
  readonly perSecond: number;
  /** CPU of API, worker and Redis together for one. */
  readonly micros: number;
}
type Round = Readonly<Record<Operation, Pace>>;

interface Filled {
  readonly retained: number;
  readonly round: () => Promise<Round>;
  readonly bytes: Readonly<Record<EndedKind, number>>;
  readonly redis: BenchRedis;
}

const usedMemory = async (redis: BenchRedis): Promise<number> =>
  (await redis.info()).usedMemoryBytes;

/** Copies a real transaction until so many are kept. @returns Bytes of Redis's memory for each. */
const fillWith = async (
  redis: BenchRedis,
  url: string,
  kind: EndedKind,
  count: number,
): Promise<number> => {
  const original = await makeOriginal(url, redis.client, kind);
  const before = await usedMemory(redis);
  await fillRetained(redis.client, { original, kind, count, now: Date.now() });
  return ((await usedMemory(redis)) - before) / count;
};

type Loaders = {
  readonly http: Awaited<ReturnType<typeof startHttpLoader>>;
  readonly status: Awaited<ReturnType<typeof startStatusLoader>>;
};

const prepare = async (
  context: BenchContext,
  loaders: Loaders,
  retained: number,
): Promise<Filled> => {
  const { small, say, atEnd } = context;
  const side = await productSide(context);
  const { redis } = side;
  const api = await side.start('api', configuration);
  const worker = await side.start('worker', configuration);
  const queues = await openShardQueues(redis.url);
  atEnd(queues.close);
  const begin = performance.now();
  const failed = Math.round(retained * failedPart);
  const signed = retained - failed;
  const bytes = {
    signed: await fillWith(redis, api.url, 'signed', signed),
    failed: await fillWith(redis, api.url, 'failed', failed),
  };
  say(`${retained} retained, filled in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  const parts = { api, workerPids: [worker.pid], redisPids: [redis.pid] };
  const paceOf = async (
    client: number,
    run: () => Promise<{ readonly count: number; readonly perSecond: number }>,
  ): Promise<Pace> => {
    let perSecond = 0;
    const { cost } = await measure(parts, client, async () => {
      const result = await run();
      perSecond = result.perSecond;
      return result.count;
    });
    return { perSecond, micros: cost.api + cost.worker + cost.redis };
  };
  const send = (mode: 'asynch' | 'synch', durationMs: number): Promise<Pace> =>
    paceOf(loaders.http.pid, () =>
      loaders.http.run({
        url: `${api.url}/rest/service/sign`,
        template: signTemplate({ mode }),
        inFlight,
        durationMs,
      }),
    );
  const url = `${api.url}/rest/service/status`;
  const round = async (): Promise<Round> => {
    const since = Date.now();
    await queues.pause();
    const accept = await send('asynch', small ? 500 : 1500);
    await queues.resume();
    await queues.untilIdle();
    const sign = await send('synch', small ? 700 : 2500);
    const status = await paceOf(loaders.status.pid, () =>
      loaders.status.ask({ url, retained: signed, inFlight, durationMs: small ? 500 : 1500 }),
    );
    await dropEndedSince(redis.client, since);
    return { accept, sign, status };
  };
  return { retained, round, bytes, redis };
};

/** The parts of one retained transaction: its own hash, and its share of the sets. */
const memoryTable = async ({ redis, bytes, retained }: Filled): Promise<Table> => {
  const { client } = redis;
  const column = async (kind: EndedKind, count: number): Promise<readonly number[]> => {
    const key = signaturesKey(retainedId(kind, 0));
    const field = (name: string): Promise<number> => client.hstrlen(key, name);
    const request = (await field('data')) + (await field('progress'));
    const outcome = (await field('returnvalue')) + (await field('failedReason'));
    const hash = Number(await client.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
    const set = signaturesKey(kind === 'signed' ? 'completed' : 'failed');
    const place = Number(await client.call('MEMORY', 'USAGE', set, 'SAMPLES', '1000')) / count;
    return [
      request,
      outcome,
      hash - request - outcome,
      place,
      bytes[kind] - hash - place,
      bytes[kind],
    ];
  };
  const failed = Math.round(retained * failedPart);
  const columns = {
    signed: await column('signed', retained - failed),
    failed: await column('failed', failed),
  };
  const parts = [
    'the request as it is stored (of a failed one: with its record)',
    'the outcome: record and CMS without certificates, or the reason',
    "the hash around them: names, times, options, Redis's own bookkeeping",
    'place in the set of ended jobs',
    'place in the key space and what the allocator rounds up',
    'all together',
  ];
  return {
    title: `Memory of Redis per retained transaction, bytes (of ${retained} retained)`,
    columns: ['', 'signed (P-256)', 'failed'],
    rows: parts.map((part, row) => [
      part,
      Math.round(columns.signed[row] ?? 0),
      Math.round(columns.failed[row] ?? 0),
    ]),
  };
};

const words: Record<Operation, string> = {
  accept: 'asynch signs accepted per second',
  sign: 'synch signatures per second, request to answer',
  status: 'status answers per second, of random retained signatures',
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const growth: Scenario = {
  name: 'growth',
  title: 'The same work with few and with very many finished transactions retained',
  run: async (context) => {
    const { small } = context;
    const loaders = {
      http: await own(context, startHttpLoader()),
      status: await own(context, startStatusLoader()),
    };
    const sizes = small ? [1000, 10_000, 50_000] : [1000, 100_000, 1_000_000];
    const filled: Filled[] = [];
    for (const size of sizes) filled.push(await prepare(context, loaders, size));
    const rounds = await interleave(
      small ? 2 : 5,
      Object.fromEntries(filled.map(({ retained, round }) => [`of ${retained}`, round])),
    );
    const of = (retained: number | undefined): readonly Round[] => rounds[`of ${retained}`] ?? [];
    const middle = (retained: number, operation: Operation, what: keyof Pace): number =>
      median(of(retained).map((round) => round[operation][what]));
    const least = of(sizes[0]);
    const most = of(sizes.at(-1));
    const between = `with ${sizes.at(-1)} retained / with ${sizes[0]}`;
    const ratioFor = (operation: Operation): Ratio =>
      compare(
        { name: `growth${capital(operation)}`, divides: `${words[operation]}, ${between}` },
        most.map((round) => round[operation]),
        least.map((round) => round[operation]),
        'perSecond',
      );
    const ratios = operations.map(ratioFor);
    const worst = ratios.reduce((found, ratio) => (ratio.value < found.value ? ratio : found));
    const largest = filled.at(-1);
    const bytesOf = ({ bytes }: Filled): number =>
      (1 - failedPart) * bytes.signed + failedPart * bytes.failed;
    return {
      ratios: [
        {
          ...worst,
          name: 'growth',
          divides: `the worst of accept, sign and status: rate ${between}`,
          goal: { atLeast: 0.9 },
        },
        ...ratios,
      ],
      tables: [
        {
          title: `Rates with finished transactions retained, ${inFlight} requests in flight (medians of the rounds)`,
          columns: [
            'retained',
            'accept/s',
            'sign/s',
            'status/s',
            'CPU µs per accept',
            'per sign',
            'per status',
            'bytes each (one in ten failed)',
          ],
          rows: filled.map((one) => [
            String(one.retained),
            ...operations.map((operation) => middle(one.retained, operation, 'perSecond')),
            ...operations.map((operation) => middle(one.retained, operation, 'micros')),
            Math.round(bytesOf(one)),
          ]),
        },
        ...(largest === undefined ? [] : [await memoryTable(largest)]),
      ],
      plots: [
        {
          file: 'growth-rates',
          title: 'Rates while finished transactions pile up',
          kind: 'lines',
          xLabel: 'finished transactions retained',
          yLabel: 'per second',
          logarithmicX: true,
          series: operations.map((operation) => ({
            label: operation,
            points: filled.map(({ retained }) => ({
              x: retained,
              y: middle(retained, operation, 'perSecond'),
            })),
          })),
        },
      ],
    };
  },
};
