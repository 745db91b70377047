/**
 * The search index: what it costs those who accept and sign, what it takes of Redis's memory, and
 * how long a page takes.
 *
 * Pages are asked of the console's API over HTTP, by somebody who has logged in, with an index over
 * 100 000 finished transactions, copies of real ones (fill/retained.ts). A filter that nothing
 * matches is the hardest, because all rows are gone through before that is known. What it costs is
 * measured with the index kept by a process of its own on the same two cores, and without it, in
 * turn.
 */

import { connectForCommands, disconnect, whenReady } from '../../src/redis/connect.ts';
import { createHistory } from '../../src/transactions/history/history.ts';
import { indexedService, startIndexerProgram } from '../fill/indexer-load-client.ts';
import { makeOriginal } from '../fill/originals.ts';
import { fillRetained, retainedId } from '../fill/retained.ts';
import { withCpu } from '../harness/metered.ts';
import { interleave } from '../harness/rounds.ts';
import {
  type BenchContext,
  own,
  type Ratio,
  type Scenario,
  type Table,
} from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { compare, medians } from '../harness/statistics.ts';
import { logInAt, onlooker } from '../load/console-client.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { startJobLoader } from '../load/job-load-client.ts';
import { signBody, signTemplate } from '../load/requests.ts';

const inFlight = 64;
const failedPart = 0.1;
const pageRows = 50;
const pageGoalMs = 50;
type Query = Readonly<Record<string, string>>;

const raise = (error: Error): void => {
  throw error;
};

/** Every copy has the same AP, number and AP_TransID: the last three match none of them. */
const filters = (now: number): readonly (readonly [string, Query])[] => [
  ['newest', {}],
  ['failed', { state: 'failed' }],
  ['fault 401 of an AP', { fault: '401', apId: 'http://bench.example' }],
  [
    'signed of a number, ten minutes',
    {
      state: 'signed',
      msisdn: '+41700092501',
      from: `${now - 2_400_000}`,
      to: `${now - 1_800_000}`,
    },
  ],
  ['profile and AP', { profile: 'Any-LoA4', apId: 'http://bench.example' }],
  ['part of an MSSP_TransID that one has', { text: retainedId('signed', 7).slice(3) }],
  ['a number that nobody has', { msisdn: '+41799999999' }],
  ['a text that nobody sent', { text: 'no such order' }],
  ['a fault that did not happen', { fault: '402', profile: 'Any-LoA4' }],
];

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;

const pages = async (
  context: BenchContext,
): Promise<{ ratios: readonly Ratio[]; tables: readonly Table[] }> => {
  const { small, say, atEnd } = context;
  const side = await productSide(context);
  const { redis } = side;
  const api = await side.start('api');
  const worker = await side.start('worker');
  const count = small ? 20_000 : 100_000;
  for (const kind of ['signed', 'failed'] as const) {
    const original = await makeOriginal(api.url, redis.client, kind);
    const part = kind === 'failed' ? failedPart : 1 - failedPart;
    await fillRetained(redis.client, {
      original,
      kind,
      count: Math.round(count * part),
      now: Date.now(),
    });
  }
  await worker.stop();
  await api.stop();
  const client = connectForCommands({ url: redis.url });
  await whenReady(client);
  atEnd(() => disconnect(client));
  const history = createHistory({
    ...indexedService,
    redis: client,
    now: Date.now,
    onError: raise,
  });

  const before = (await redis.info()).usedMemoryBytes;
  const begin = performance.now();
  const { indexed } = await history.rebuild();
  const seconds = (performance.now() - begin) / 1000;
  const bytes = ((await redis.info()).usedMemoryBytes - before) / indexed;
  say(`${indexed} indexed in ${seconds.toFixed(1)} s`);

  const { url } = await side.start('api', onlooker);
  const get = await logInAt(url, client, indexedService.prefix);
  const rounds = small ? 20 : 100;
  const times = new Map<string, number[]>();
  const timed = async (name: string, path: string): Promise<unknown> => {
    const asked = performance.now();
    const found = await get(path);
    times.set(name, [...(times.get(name) ?? []), performance.now() - asked]);
    return found;
  };
  const askPage = async (name: string, query: Query): Promise<string | undefined> => {
    const asked = new URLSearchParams({ ...query, limit: String(pageRows) });
    const page = await timed(name, `/admin/api/transactions?${asked}`);
    return (page as { readonly cursor?: string }).cursor;
  };
  for (let round = -2; round < rounds; round += 1) {
    if (round === 0) times.clear();
    for (const [name, query] of filters(Date.now())) {
      const cursor = await askPage(name, query);
      if (cursor !== undefined) await askPage(`${name}, second page`, { ...query, cursor });
    }
  }
  const all = [...times.values()].flat();
  for (let round = 0; round < rounds; round += 1) {
    await timed('overview of a day', '/admin/api/overview?hours=24');
  }
  const sorted = all.toSorted((a, b) => a - b);
  const p95 = percentile(sorted, 0.95);
  return {
    ratios: [
      {
        name: 'consolePageP95',
        value: p95,
        least: sorted[0] ?? Number.NaN,
        most: sorted.at(-1) ?? Number.NaN,
        divides: `milliseconds over HTTP, p95 of pages of ${pageRows} by ${filters(0).length} filters, of ${indexed} transactions`,
        goal: { atMost: pageGoalMs },
      },
      {
        name: 'indexBytes',
        value: bytes,
        least: bytes,
        most: bytes,
        divides: `bytes of Redis's memory for the index / transactions in it (${indexed})`,
      },
    ],
    tables: [
      {
        title: `A page of ${pageRows} of ${indexed} finished transactions, milliseconds`,
        columns: ['filter', 'p50 ms', 'p95 ms', 'most ms'],
        rows: [...times].map(([name, some]) => {
          const each = some.toSorted((a, b) => a - b);
          return [name, percentile(each, 0.5), percentile(each, 0.95), each.at(-1) ?? Number.NaN];
        }),
      },
      {
        title: 'The index itself',
        columns: ['', 'value'],
        rows: [
          ['bytes for each transaction', Math.round(bytes)],
          ['transactions indexed per second by a rebuild', Math.round(indexed / seconds)],
        ],
      },
    ],
  };
};

/** CPU of the processes for each transaction. */
type Pace = Readonly<
  Record<'perSecond' | 'indexerMicros' | 'redisMicros' | 'serviceMicros', number>
>;

const costs = async (
  context: BenchContext,
): Promise<{ ratios: readonly Ratio[]; tables: readonly Table[] }> => {
  const { small } = context;
  const accepting = await productSide(context);
  const signing = await productSide(context);
  const api = await accepting.start('api');
  const worker = await signing.start('worker', {
    workers: { concurrency: 50 },
    operations: { index: false },
  });
  const http = await own(context, startHttpLoader());
  const jobs = await own(context, startJobLoader());
  const indexer = await own(context, startIndexerProgram());

  const measured = async (
    side: typeof accepting,
    service: { readonly pid: number },
    indexed: boolean,
    run: () => Promise<{ readonly count: number; readonly perSecond: number }>,
  ): Promise<Pace> => {
    await side.clear();
    const { url: redisUrl, pid } = side.redis;
    await indexer.ask({ kind: indexed ? 'start' : 'stop', redisUrl });
    const processes = { indexerMicros: indexer.pid, redisMicros: pid, serviceMicros: service.pid };
    return withCpu(processes, async () => {
      const result = await run();
      if (indexed) await indexer.ask({ kind: 'idle', redisUrl });
      return result;
    });
  };
  const durationMs = small ? 700 : 3000;
  const accept = (indexed: boolean) => (): Promise<Pace> =>
    measured(accepting, api, indexed, () =>
      http.run({
        url: `${api.url}/rest/service/sign`,
        template: signTemplate({ mode: 'asynch' }),
        inFlight,
        durationMs,
      }),
    );
  const sign = (indexed: boolean) => (): Promise<Pace> =>
    measured(signing, worker, indexed, () =>
      jobs.ask({
        kind: 'flow',
        socketPath: signing.redis.connection.path,
        prefix: signing.prefix,
        body: signBody({ mode: 'asynch', timeoutSeconds: 300 }),
        inFlight,
        durationMs,
      }),
    );
  const rounds = small ? 3 : 11;
  const accepts = await interleave(rounds, { on: accept(true), off: accept(false) });
  const signs = await interleave(rounds, { on: sign(true), off: sign(false) });
  const ratio = (name: string, words: string, { on, off }: typeof accepts): Ratio => {
    const divides = `${words} per second with the indexer running / without`;
    return compare({ name, divides, goal: { atLeast: 0.9 } }, on, off, 'perSecond');
  };
  const row = (label: string, some: readonly Pace[]): (string | number)[] => [
    label,
    ...medians(some, 'perSecond', 'serviceMicros', 'redisMicros', 'indexerMicros'),
  ];
  return {
    ratios: [
      ratio('indexAccept', 'asynch signs accepted', accepts),
      ratio('indexSign', 'robot signatures', signs),
    ],
    tables: [
      {
        title: `Accepting and signing with ${inFlight} in flight, with and without the indexer (medians of the rounds)`,
        columns: ['', 'per second', 'service CPU µs', 'Redis CPU µs', 'indexer CPU µs'],
        rows: [
          row('accepting, indexer running', accepts.on),
          row('accepting, without', accepts.off),
          row('signing, indexer running', signs.on),
          row('signing, without', signs.off),
        ],
      },
    ],
  };
};

export const index: Scenario = {
  name: 'index',
  title: 'The search index: pages, memory, and what it costs',
  run: async (context) => {
    const cost = await costs(context);
    const page = await pages(context);
    return {
      ratios: [...page.ratios, ...cost.ratios],
      tables: [...page.tables, ...cost.tables],
      plots: [],
    };
  },
};
