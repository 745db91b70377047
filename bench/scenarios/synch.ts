/**
 * Synchronous callers: how long each waits from its request to its signature, with 1, 64 and 1 000
 * of them at a time.
 *
 * The floor is what BullMQ offers for this, `add` and `waitUntilFinished`, behind a bare route,
 * with the bare worker that makes the raw signature. Both sides are one API process and one worker
 * process, asked by the same load generator.
 */
import { interleave } from '../harness/rounds.ts';
import { own, type Ratio, type Scenario } from '../harness/scenario.ts';
import { floorSide, productSide } from '../harness/sides.ts';
import { compare, medians } from '../harness/statistics.ts';
import { type HttpLoadResult, startHttpLoader } from '../load/http-load-client.ts';
import { signTemplate } from '../load/requests.ts';

/** Rounds are as long as it takes to have enough answers for a 99th percentile. */
const crowds = [
  { inFlight: 1, ratio: 'synchP99At1', smallMs: 400, fullMs: 3000 },
  { inFlight: 64, ratio: 'synchP99', smallMs: 700, fullMs: 4000, goal: { atMost: 1.3 } },
  { inFlight: 1000, ratio: 'synchP99At1000', smallMs: 1000, fullMs: 6000 },
] as const;

type Rounds = readonly HttpLoadResult[];

export const synch: Scenario = {
  name: 'synch',
  title: 'Latency of synchronous sign requests',
  run: async (context) => {
    const { small, say } = context;
    const product = await productSide(context);
    const floor = await floorSide(context);
    const [api, , bare] = await Promise.all([
      product.start('api'),
      product.start('worker'),
      floor.startHttp(),
      floor.startWorker(),
    ]);
    const loader = await own(context, startHttpLoader());
    const template = signTemplate({ mode: 'synch' });

    const measured: {
      readonly inFlight: number;
      readonly product: Rounds;
      readonly floor: Rounds;
    }[] = [];
    const ratios: Ratio[] = [];
    for (const { inFlight, ratio, smallMs, fullMs, ...limits } of crowds) {
      say(`${inFlight} in flight`);
      const load = { template, inFlight, durationMs: small ? smallMs : fullMs };
      const sides = await interleave(small ? 2 : 9, {
        product: async () => {
          await product.clear();
          return loader.run({ ...load, url: `${api.url}/rest/service/sign` });
        },
        floor: async () => {
          await floor.clear();
          return loader.run({ ...load, url: `${bare.url}/synch` });
        },
      });
      measured.push({ inFlight, ...sides });
      ratios.push(
        compare(
          {
            name: ratio,
            divides: `99th percentile of a synchronous sign with ${inFlight} in flight, Paraph / bare add and waitUntilFinished`,
            ...limits,
          },
          sides.product,
          sides.floor,
          'p99Ms',
        ),
      );
    }
    const row = (label: string, inFlight: number, rounds: Rounds): (string | number)[] => [
      label,
      inFlight,
      ...medians(rounds, 'p50Ms', 'p99Ms'),
      Math.max(...rounds.map(({ maxMs }) => maxMs)),
      ...medians(rounds, 'perSecond'),
      rounds.reduce((sum, { failures }) => sum + failures, 0),
    ];
    return {
      ratios,
      tables: [
        {
          title: 'Synchronous signs, one API and one worker process (medians of the rounds)',
          columns: ['', 'in flight', 'p50 ms', 'p99 ms', 'longest ms', 'signs/s', 'failed'],
          rows: measured.flatMap(({ inFlight, product, floor }) => [
            row('Paraph', inFlight, product),
            row('add and waitUntilFinished', inFlight, floor),
          ]),
        },
      ],
      plots: [
        {
          file: 'synch-latency',
          title: '99th percentile of a synchronous sign',
          kind: 'bars',
          xLabel: 'callers in flight',
          yLabel: 'milliseconds',
          series: (['product', 'floor'] as const).map((side) => ({
            label: side === 'product' ? 'Paraph' : 'add and waitUntilFinished',
            points: measured.map((each) => ({
              x: String(each.inFlight),
              y: medians(each[side], 'p99Ms')[0] ?? Number.NaN,
            })),
          })),
        },
      ],
    };
  },
};
