/**
 * Pushed authorisation requests: how many a second one API process checks and keeps.
 *
 * Two floors. The provider library's own endpoint is what we would have if we had not written ours;
 * a bare route with the same checks and one SET is what it can cost at least.
 */

import { hashPassword } from '../../src/registry/passwords.ts';
import { parClient, parHeaders, parTemplate } from '../floors/par-request.ts';
import { roundsRow, withCpu } from '../harness/metered.ts';
import { startProgram } from '../harness/program.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { compare } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';

const inFlight = 64;
const unlimited = { requests: 1_000_000, perSeconds: 1 };

export const par: Scenario = {
  name: 'par',
  title: 'Pushed authorisation requests',
  run: async (context) => {
    const { small } = context;
    const product = await productSide(context);
    const api = await product.start('api', {
      oidc: {
        limits: { pushedPerClient: unlimited, pushedPerAddress: unlimited },
        tenants: [
          {
            id: 'bench',
            name: 'Bench',
            clients: [
              {
                id: parClient.id,
                name: 'Bench',
                secretHash: await hashPassword(parClient.secret),
                redirectUris: [parClient.redirectUri],
                scopes: ['openid', 'profile', 'phone'],
                loginHintAllowed: true,
              },
            ],
          },
        ],
      },
    });
    const floor = async (file: string) => {
      const redis = await context.redis();
      const program = await own(
        context,
        startProgram<string, string>(file, [redis.connection.path]),
      );
      return { pid: program.pid, url: await program.ask('url') };
    };
    const library = await floor('bench/floors/library-par.ts');
    const bare = await floor('bench/floors/bare-par.ts');
    const loader = await own(context, startHttpLoader());

    const measure = ({ pid }: { pid: number }, url: string, success: number) =>
      withCpu({ cpuMicros: pid }, () =>
        loader.run({
          url,
          template: parTemplate,
          headers: parHeaders,
          success,
          inFlight,
          durationMs: small ? 700 : 3000,
        }),
      );
    const sides = await interleave(small ? 5 : 11, {
      product: () => measure(api, `${api.url}/oidc/par`, 200),
      library: () => measure(library, `${library.url}/request`, 201),
      bare: () => measure(bare, `${bare.url}/par`, 200),
    });
    return {
      ratios: [
        compare(
          {
            name: 'parLibrary',
            divides:
              "pushed requests per second at `paraph api` / at the provider library's own endpoint",
            goal: { atLeast: 1.7 },
          },
          sides.product,
          sides.library,
          'perSecond',
        ),
        compare(
          {
            name: 'parBare',
            divides:
              'pushed requests per second at `paraph api` / at a bare Hono route with the same checks and one SET',
            goal: { atLeast: 0.6 },
          },
          sides.product,
          sides.bare,
          'perSecond',
        ),
      ],
      tables: [
        {
          title: `Pushed requests with ${inFlight} in flight, one process (medians of the rounds)`,
          columns: ['', 'requests/s', 'p50 ms', 'p99 ms', 'process CPU µs'],
          rows: [
            roundsRow('paraph api', sides.product),
            roundsRow("the library's endpoint", sides.library),
            roundsRow('bare route and SET', sides.bare),
          ],
        },
      ],
      plots: [],
    };
  },
};
