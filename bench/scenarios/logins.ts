/**
 * Complete logins: from the pushed request to the ID token, with the pages and the robot's signature between.
 *
 * What they are held against is a synchronous signature over HTTP, which each of them contains: the ratio says how many
 * signatures a login costs.
 */
import { usageOf } from '../harness/cpu.ts';
import { interleave } from '../harness/rounds.ts';
import type { Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { startLoginLoader } from '../load/login-load-client.ts';
import { signTemplate } from '../load/requests.ts';

const inFlight = 16;
const unlimited = { requests: 1_000_000, perSeconds: 1 };

export const logins: Scenario = {
  name: 'logins',
  title: 'Complete logins through OpenID Connect',
  run: async (context) => {
    const { small, atEnd } = context;
    const product = await productSide(context);
    const api = await product.start('api', {
      oidc: {
        limits: {
          pushedPerClient: unlimited,
          pushedPerAddress: unlimited,
          promptsPerNumber: unlimited,
          promptsPerNumberLong: unlimited,
          loginsPerAddress: unlimited,
          promptsPerClient: unlimited,
          promptsPerAddress: unlimited,
          refusedTokensPerAddress: unlimited,
        },
      },
    });
    await product.start('worker');
    const browsers = await startLoginLoader();
    atEnd(browsers.stop);
    const loader = await startHttpLoader();
    atEnd(loader.stop);

    const withCpu = async <T extends { count: number }>(run: () => Promise<T>) => {
      const before = usageOf(api.pid).cpuSeconds;
      const result = await run();
      return { ...result, cpuMicros: ((usageOf(api.pid).cpuSeconds - before) / result.count) * 1e6 };
    };
    const durationMs = small ? 1500 : 5000;
    const sides = await interleave(small ? 3 : 7, {
      logins: () => withCpu(() => browsers.ask({ origin: api.url, inFlight, durationMs })),
      signatures: () =>
        withCpu(() =>
          loader.run({
            url: `${api.url}/rest/service/sign`,
            template: signTemplate({ mode: 'synch' }),
            inFlight,
            durationMs,
          }),
        ),
    });
    const row = (label: string, rounds: readonly (typeof sides.logins)[number][]): (string | number)[] => [
      label,
      median(rounds.map(({ perSecond }) => perSecond)),
      median(rounds.map(({ p50Ms }) => p50Ms)),
      median(rounds.map(({ p99Ms }) => p99Ms)),
      median(rounds.map(({ cpuMicros }) => cpuMicros)),
    ];
    return {
      ratios: [
        ratioOf(
          {
            name: 'loginCpu',
            divides: 'CPU of the API process per complete login / per synchronous signature',
          },
          roundRatios(
            sides.logins.map(({ cpuMicros }) => cpuMicros),
            sides.signatures.map(({ cpuMicros }) => cpuMicros),
          ),
        ),
      ],
      tables: [
        {
          title: `Logins and signatures with ${inFlight} in flight, one API and one worker process (medians of the rounds)`,
          columns: ['', 'per second', 'p50 ms', 'p99 ms', 'API CPU µs'],
          rows: [row('complete logins', sides.logins), row('synchronous signatures', sides.signatures)],
        },
      ],
      plots: [],
    };
  },
};
