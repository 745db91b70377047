/**
 * Complete logins: from the pushed request to the ID token, with the pages and the robot's
 * signature between.
 *
 * What they are held against is a synchronous signature over HTTP, which each of them contains: the
 * ratio says how many signatures a login costs. It was 38 when a login took 9 ms of CPU and the aim
 * of 4 ms was set; machines differ by a factor of three, so the goal is that part of 38.
 */
import { roundsRow, withCpu } from '../harness/metered.ts';
import { startProgram } from '../harness/program.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { compare } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import type { LoginLoad, LoginLoadResult } from '../load/login-load.ts';
import { signTemplate } from '../load/requests.ts';

const inFlight = 16;
const unlimited = { requests: 1_000_000, perSeconds: 1 };

export const logins: Scenario = {
  name: 'logins',
  title: 'Complete logins through OpenID Connect',
  run: async (context) => {
    const { small } = context;
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
    const browsers = await own(
      context,
      startProgram<LoginLoad, LoginLoadResult>('bench/load/login-load.ts'),
    );
    const loader = await own(context, startHttpLoader());

    const durationMs = small ? 1500 : 5000;
    const sides = await interleave(small ? 3 : 7, {
      logins: () =>
        withCpu({ cpuMicros: api.pid }, () =>
          browsers.ask({ origin: api.url, inFlight, durationMs }),
        ),
      signatures: () =>
        withCpu({ cpuMicros: api.pid }, () =>
          loader.run({
            url: `${api.url}/rest/service/sign`,
            template: signTemplate({ mode: 'synch' }),
            inFlight,
            durationMs,
          }),
        ),
    });
    return {
      ratios: [
        compare(
          {
            name: 'loginCpu',
            divides: 'CPU of the API process per complete login / per synchronous signature',
            goal: { atMost: 17 },
          },
          sides.logins,
          sides.signatures,
          'cpuMicros',
        ),
      ],
      tables: [
        {
          title: `Logins and signatures with ${inFlight} in flight, one API and one worker process (medians of the rounds)`,
          columns: ['', 'per second', 'p50 ms', 'p99 ms', 'API CPU µs'],
          rows: [
            roundsRow('complete logins', sides.logins),
            roundsRow('synchronous signatures', sides.signatures),
          ],
        },
      ],
      plots: [],
    };
  },
};
