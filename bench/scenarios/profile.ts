/**
 * What a request and a signature cost, and what for: CPU profiles of the two sides of `accept` and
 * `sign`, summed up.
 *
 * This is for reading the other ratios. Profiling slows both sides down, so nothing is compared
 * here but parts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { profileOf, timeByGroup } from '../harness/cpu-profile.ts';
import { startProgram } from '../harness/program.ts';
import { type BenchContext, own, type Scenario, type Table } from '../harness/scenario.ts';
import { floorSide, productSide } from '../harness/sides.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { startJobLoader } from '../load/job-load-client.ts';
import { robots, signBody, signTemplate } from '../load/requests.ts';

interface Profiled {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Loads a process that leaves a profile. @returns Microseconds by group for one operation. */
const profiled = async <P extends Profiled>(
  context: BenchContext,
  start: () => Promise<P>,
  load: (process: P) => Promise<{ readonly count: number }>,
): Promise<ReadonlyMap<string, number>> => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-bench-profile-'));
  context.atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const before = process.env.BENCH_PROFILE;
  process.env.BENCH_PROFILE = folder;
  const started = await start().finally(() => {
    if (before === undefined) delete process.env.BENCH_PROFILE;
    else process.env.BENCH_PROFILE = before;
  });
  const { count } = await load(started);
  await started.stop();
  const times = timeByGroup(profileOf(folder, started.pid));
  return new Map([...times].map(([group, micros]) => [group, micros / count]));
};

const tableOf = (
  title: string,
  labels: readonly [string, string],
  product: ReadonlyMap<string, number>,
  floor: ReadonlyMap<string, number>,
): Table => {
  const sum = (times: ReadonlyMap<string, number>): number =>
    [...times.values()].reduce((a, b) => a + b, 0);
  const rows = [...new Set([...product.keys(), ...floor.keys()])].map(
    (group): [string, number, number] => [group, product.get(group) ?? 0, floor.get(group) ?? 0],
  );
  return {
    title,
    columns: ['microseconds of the main thread for', ...labels],
    rows: [...rows, ['all', sum(product), sum(floor)]],
  };
};

export const profile: Scenario = {
  name: 'profile',
  title: 'Where the time of a request and of a signature goes',
  run: async (context) => {
    const product = await productSide(context);
    const floor = await floorSide(context);
    const http = await own(context, startHttpLoader());
    const jobs = await own(context, startJobLoader());
    const socketPath = (side: typeof product | typeof floor): string => side.redis.connection.path;
    const durationMs = context.small ? 2000 : 8000;

    const request = { template: signTemplate({ mode: 'asynch' }), inFlight: 64, durationMs };
    context.say('accepting');
    const api = await profiled(
      context,
      () => product.start('api'),
      ({ url }) => http.run({ ...request, url: `${url}/rest/service/sign` }),
    );
    const route = await profiled(
      context,
      () => startProgram<string, string>('bench/floors/bare-http.ts', [socketPath(floor)]),
      async (program) => http.run({ ...request, url: `${await program.ask('url')}/asynch` }),
    );
    await product.clear();
    await floor.clear();

    const signature = {
      kind: 'flow',
      body: signBody({ mode: 'asynch', msisdn: robots.EC, timeoutSeconds: 300 }),
      durationMs,
    } as const;
    context.say('signing');
    const worker = await profiled(
      context,
      () => product.start('worker'),
      () => jobs.ask({ ...signature, socketPath: socketPath(product), prefix: product.prefix }),
    );
    const bare = await profiled(
      context,
      () => startProgram('bench/floors/bare-worker.ts', [socketPath(floor)]),
      () => jobs.ask({ ...signature, socketPath: socketPath(floor), prefix: floor.prefix }),
    );
    return {
      ratios: [],
      tables: [
        tableOf('Accepting one request', ['paraph api', 'bare route'], api, route),
        tableOf('Making one P-256 signature', ['paraph worker', 'bare worker'], worker, bare),
      ],
      plots: [],
    };
  },
};
