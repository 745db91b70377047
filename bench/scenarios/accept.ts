/**
 * Accepting: how many asynchronous sign requests a second one API process makes durable.
 *
 * The floor is what any such service has: a bare route, the same schema, one `queue.add`. No
 * workers run, so nothing else takes the processor; what has piled up is removed before each round.
 * Once more with the search index on: a process of its own keeps it, on the same cores.
 */
import { startIndexerProgram } from '../fill/indexer-load-client.ts';
import { withCpu } from '../harness/metered.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { floorSide, type Measured, productSide, type Side } from '../harness/sides.ts';
import { compare, medians } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { signTemplate } from '../load/requests.ts';

const inFlight = 64;

export const accept: Scenario = {
  name: 'accept',
  title: 'Accepting asynchronous sign requests over HTTP',
  run: async (context) => {
    const { small } = context;
    const product = await productSide(context);
    const floor = await floorSide(context);
    const api = await product.start('api');
    const bare = await floor.startHttp();
    const loader = await own(context, startHttpLoader());
    const indexer = await own(context, startIndexerProgram());
    const index = (kind: 'start' | 'stop') => indexer.ask({ kind, redisUrl: product.redis.url });

    const measure = async (side: Side, { pid }: Measured, url: string) => {
      await side.clear();
      return withCpu(
        { cpuMicros: pid, redisCpuMicros: side.redis.pid, loaderCpuMicros: loader.pid },
        () =>
          loader.run({
            url,
            template: signTemplate({ mode: 'asynch' }),
            inFlight,
            durationMs: small ? 700 : 3000,
          }),
      );
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
    const row = (label: string, rounds: typeof sides.product): (string | number)[] => [
      label,
      ...medians(
        rounds,
        'perSecond',
        'p50Ms',
        'p99Ms',
        'cpuMicros',
        'redisCpuMicros',
        'loaderCpuMicros',
      ),
    ];
    const rows = [
      row('paraph api', sides.product),
      row('paraph api, index kept beside it', sides.indexed),
      row('bare route and queue.add', sides.floor),
    ];
    return {
      ratios: [
        compare(
          {
            name: 'accept',
            divides:
              'asynch signs accepted per second by `paraph api` / by a bare Hono route with the same schema and one queue.add',
            goal: { atLeast: 0.85 },
          },
          sides.product,
          sides.floor,
          'perSecond',
        ),
        compare(
          {
            name: 'acceptIndexed',
            divides:
              'the same with the search index on, kept by a process of its own / the same route',
            goal: { atLeast: 0.8 },
          },
          sides.indexed,
          sides.floor,
          'perSecond',
        ),
        compare(
          {
            name: 'acceptCpu',
            divides: 'CPU of the process per accepted request, `paraph api` / the bare route',
            goal: { atMost: 1.2 },
          },
          sides.product,
          sides.floor,
          'cpuMicros',
        ),
      ],
      tables: [
        {
          title: `Accepting with ${inFlight} requests in flight, one process (medians of the rounds)`,
          columns: [
            '',
            'requests/s',
            'p50 ms',
            'p99 ms',
            'process CPU µs',
            'Redis CPU µs',
            'client CPU µs',
          ],
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
            {
              label: 'median of the rounds',
              points: rows.map(([x = '', y]) => ({ x, y: Number(y) })),
            },
          ],
        },
      ],
    };
  },
};
