/**
 * Behind a gateway: how much later a synchronous caller has its signature when the phone belongs to
 * another Paraph, or to one behind that. Each is one process with a Redis of its own, on this
 * machine, and they share its cores; the phone is a robot. The best rounds say more than the median
 * where others use the machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startParaph } from '../harness/paraph.ts';
import { interleave } from '../harness/rounds.ts';
import { type BenchContext, own, type Scenario } from '../harness/scenario.ts';
import { compare, medians } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { signTemplate } from '../load/requests.ts';

const apId = 'http://bench.example';

/** One that has the phones, one before it, and one before that. */
const startChain = async (context: BenchContext, mode: 'asynch' | 'synch') => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-bench-gateway-'));
  context.atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const start = async (configuration: Record<string, unknown>): Promise<string> => {
    const redis = await context.redis();
    const options = { part: 'start', redisUrl: redis.url, configuration } as const;
    return (await own(context, startParaph(options))).url;
  };
  const far = await start({});
  const trustAnchorsFile = join(folder, 'roots.pem');
  writeFileSync(trustAnchorsFile, await (await fetch(`${far}/pki/root.pem`)).text());
  const before = (url: string): Promise<string> =>
    start({
      sandbox: false,
      applicationProviders: [{ id: apId }],
      gateways: [
        { name: 'upstream', url, apId, trustAnchorsFile, mode, repeats: 'joined', default: true },
      ],
    });
  const middle = await before(far);
  return { one: far, two: middle, three: await before(middle) };
};

export const gateway: Scenario = {
  name: 'gateway',
  title: 'Behind a gateway',
  run: async (context) => {
    const { small, say } = context;
    const loader = await own(context, startHttpLoader());
    const load = {
      template: signTemplate({ mode: 'synch', apId }),
      inFlight: 1,
      durationMs: small ? 700 : 4000,
    };
    const measured = [];
    for (const mode of ['synch', 'asynch'] as const) {
      say(`${mode} upstream`);
      const chain = await startChain(context, mode);
      const run = (url: string) => () => loader.run({ ...load, url: `${url}/rest/service/sign` });
      const sides = { one: run(chain.one), two: run(chain.two), three: run(chain.three) };
      measured.push({ mode, sides: await interleave(small ? 3 : 9, sides) });
    }
    const about = (mode: string): string =>
      `median of a synchronous sign with 1 in flight, three services one behind the other (${mode}) / one`;
    return {
      ratios: measured.map(({ mode, sides: { one, three } }) =>
        compare(
          { name: mode === 'synch' ? 'gatewaySynch' : 'gatewayAsynch', divides: about(mode) },
          three,
          one,
          'p50Ms',
        ),
      ),
      tables: [
        {
          title:
            'Synchronous signs of one caller, by the number of services in a row (medians of the rounds)',
          columns: [
            'gateway',
            'services',
            'p50 ms',
            'p99 ms',
            'added by each, p50 ms',
            'p50 ms, best round',
            'added by each, best rounds',
          ],
          rows: measured.flatMap(({ mode, sides: { one, two, three } }) => {
            const alone = medians(one, 'p50Ms')[0] ?? Number.NaN;
            const best = (rounds: typeof one): number =>
              Math.min(...rounds.map(({ p50Ms }) => p50Ms));
            return [one, two, three].map((rounds, index) => {
              const [p50 = Number.NaN, p99 = Number.NaN] = medians(rounds, 'p50Ms', 'p99Ms');
              const added = (ms: number, from: number) => (index === 0 ? '' : (ms - from) / index);
              const least = best(rounds);
              return [mode, index + 1, p50, p99, added(p50, alone), least, added(least, best(one))];
            });
          }),
        },
      ],
      plots: [],
    };
  },
};
