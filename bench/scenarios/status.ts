/**
 * Asking how a transaction has ended: status requests a second of one API process, for signed
 * transactions picked at random.
 *
 * The floor reads the same jobs from the same Redis: a bare route that finds one by its id and
 * answers with its data and return value. It checks no request, caller, retention or seal, and adds
 * no certificates. The worker that has made the original has stopped by then.
 */
import { makeOriginal } from '../fill/originals.ts';
import { fillRetained } from '../fill/retained.ts';
import { startStatusLoader } from '../fill/status-load-client.ts';
import { withCpu } from '../harness/metered.ts';
import { startProgram } from '../harness/program.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { compare, medians } from '../harness/statistics.ts';

const inFlight = 64;

export const status: Scenario = {
  name: 'status',
  title: 'Status requests of transactions that have ended',
  run: async (context) => {
    const { small } = context;
    const retained = small ? 2000 : 20_000;
    const { redis, prefix, start } = await productSide(context);
    const api = await start('api');
    const worker = await start('worker');
    const original = await makeOriginal(api.url, redis.client, 'signed');
    await worker.stop();
    await fillRetained(redis.client, {
      original,
      kind: 'signed',
      count: retained,
      now: Date.now(),
    });
    const bare = await own(
      context,
      startProgram<string, string>('bench/floors/bare-http.ts', [redis.connection.path, prefix]),
    );
    const bareUrl = await bare.ask('url');
    const loader = await own(context, startStatusLoader());

    const measure = (pid: number, url: string, kind: 'status' | 'job') =>
      withCpu({ cpuMicros: pid, redisCpuMicros: redis.pid, loaderCpuMicros: loader.pid }, () =>
        loader.ask({ url, kind, retained, inFlight, durationMs: small ? 700 : 3000 }),
      );
    const sides = await interleave(small ? 5 : 11, {
      product: () => measure(api.pid, `${api.url}/rest/service/status`, 'status'),
      floor: () => measure(bare.pid, `${bareUrl}/job`, 'job'),
    });
    const row = (label: string, rounds: typeof sides.product): (string | number)[] => [
      label,
      ...medians(rounds, 'perSecond', 'cpuMicros', 'redisCpuMicros', 'loaderCpuMicros'),
    ];
    return {
      ratios: [
        compare(
          {
            name: 'status',
            divides:
              'status requests of signed transactions answered per second by `paraph api` / by a bare Hono route that gets the same job with BullMQ',
            goal: { atLeast: 0.6 },
          },
          sides.product,
          sides.floor,
          'perSecond',
        ),
        compare(
          {
            name: 'statusCpu',
            divides: 'CPU of the process per status request, `paraph api` / the bare route',
          },
          sides.product,
          sides.floor,
          'cpuMicros',
        ),
      ],
      tables: [
        {
          title: `Status requests with ${inFlight} in flight, one process (medians of the rounds)`,
          columns: ['', 'requests/s', 'process CPU µs', 'Redis CPU µs', 'client CPU µs'],
          rows: [
            row('paraph api', sides.product),
            row('bare route that gets the job', sides.floor),
          ],
        },
      ],
      plots: [],
    };
  },
};
