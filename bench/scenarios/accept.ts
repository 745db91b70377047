/**
 * Accepting: how many asynchronous sign requests a second one API process makes durable.
 *
 * The floor is what any such service has: a bare route, the same schema, one `queue.add`. No workers run, so nothing
 * else takes the processor; what has piled up is removed before each round. Once more with the search index on: a process of
 * its own keeps it, on the same cores.
 */
import { startIndexerProgram } from '../fill/indexer-load-client.ts';
import { usageOf } from '../harness/cpu.ts';
import { interleave } from '../harness/rounds.ts';
import type { Scenario } from '../harness/scenario.ts';
import { floorSide, type Measured, productSide, type Side } from '../harness/sides.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { signTemplate } from '../load/requests.ts';

const inFlight = 64;

export const accept: Scenario = {
  name: 'accept',
  title: 'Accepting asynchronous sign requests over HTTP',
  run: async (context) => {
    const { small, atEnd } = context;
    const product = await productSide(context);
    const floor = await floorSide(context);
    const api = await product.start('api');
    const bare = await floor.startHttp();
    const loader = await startHttpLoader();
    atEnd(loader.stop);
    const indexer = await startIndexerProgram();
    atEnd(indexer.stop);
    const index = (kind: 'start' | 'stop') => indexer.ask({ kind, redisUrl: product.redis.url });

    const measure = async (side: Side, { pid }: Measured, url: string) => {
      await side.clear();
      const before = usageOf(pid).cpuSeconds;
      const redisBefore = usageOf(side.redis.pid).cpuSeconds;
      const loaderBefore = usageOf(loader.pid).cpuSeconds;
      const result = await loader.run({
        url,
        template: signTemplate({ mode: 'asynch' }),
        inFlight,
        durationMs: small ? 700 : 3000,
      });
      return {
        ...result,
        cpuMicros: ((usageOf(pid).cpuSeconds - before) / result.count) * 1e6,
        loaderCpuMicros: ((usageOf(loader.pid).cpuSeconds - loaderBefore) / result.count) * 1e6,
        redisCpuMicros: ((usageOf(side.redis.pid).cpuSeconds - redisBefore) / result.count) * 1e6,
      };
    };
    const sides = await interleave(small ? 5 : 11, {
      product: () => measure(product, api, `${api.url}/rest/service/sign`),
      indexed: async () => {
        await product.clear();
        await index('start');
        const round = await measure(product, api, `${api.url}/rest/service/sign`);
        await index('stop');
        return round;
      },
      floor: () => measure(floor, bare, `${bare.url}/asynch`),
    });
    const ratios = roundRatios(
      sides.product.map(({ perSecond }) => perSecond),
      sides.floor.map(({ perSecond }) => perSecond),
    );
    const indexedRatios = roundRatios(
      sides.indexed.map(({ perSecond }) => perSecond),
      sides.floor.map(({ perSecond }) => perSecond),
    );
    const cpuRatios = roundRatios(
      sides.product.map(({ cpuMicros }) => cpuMicros),
      sides.floor.map(({ cpuMicros }) => cpuMicros),
    );
    const row = (label: string, rounds: typeof sides.product): (string | number)[] => [
      label,
      median(rounds.map(({ perSecond }) => perSecond)),
      median(rounds.map(({ p50Ms }) => p50Ms)),
      median(rounds.map(({ p99Ms }) => p99Ms)),
      median(rounds.map(({ cpuMicros }) => cpuMicros)),
      median(rounds.map(({ redisCpuMicros }) => redisCpuMicros)),
      median(rounds.map(({ loaderCpuMicros }) => loaderCpuMicros)),
    ];
    const rows = [
      row('paraph api', sides.product),
      row('paraph api, index kept beside it', sides.indexed),
      row('bare route and queue.add', sides.floor),
    ];
    return {
      ratios: [
        ratioOf(
          {
            name: 'accept',
            divides:
              'asynch signs accepted per second by `paraph api` / by a bare Hono route with the same schema and one queue.add',
            goal: { atLeast: 0.85 },
          },
          ratios,
        ),
        ratioOf(
          {
            name: 'acceptIndexed',
            divides: 'the same with the search index on, kept by a process of its own / the same route',
            goal: { atLeast: 0.85 },
          },
          indexedRatios,
        ),
        ratioOf(
          {
            name: 'acceptCpu',
            divides: 'CPU of the process per accepted request, `paraph api` / the bare route',
          },
          cpuRatios,
        ),
      ],
      tables: [
        {
          title: `Accepting with ${inFlight} requests in flight, one process (medians of the rounds)`,
          columns: ['', 'requests/s', 'p50 ms', 'p99 ms', 'process CPU µs', 'Redis CPU µs', 'client CPU µs'],
          rows,
        },
      ],
      plots: [
        {
          file: 'accept',
          title: 'Asynchronous sign requests accepted per second',
          kind: 'bars',
          xLabel: `${inFlight} requests in flight, append-only file every second`,
          yLabel: 'requests per second',
          series: [
            { label: 'median of the rounds', points: rows.map(([x = '', y]) => ({ x, y: Number(y) })) },
          ],
        },
      ],
    };
  },
};
