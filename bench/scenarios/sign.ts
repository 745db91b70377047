/**
 * Signing: robot signatures per second, from request to queryable outcome, of one worker process.
 *
 * The floor is a worker of BullMQ with the same concurrency that makes the same raw signature and
 * does nothing else: no validation, no state machine, no CMS. Both get the same jobs from the same
 * producer process. The key is P-256 or RSA-2048.
 *
 * Flow keeps 64 jobs in flight. Drain has all jobs there before the worker begins, which leaves the
 * worker alone with Redis.
 */
import { withCpu } from '../harness/metered.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { floorSide, type Measured, productSide, type Side } from '../harness/sides.ts';
import { compare, median, medians } from '../harness/statistics.ts';
import { type JobLoad, type JobLoadResult, startJobLoader } from '../load/job-load-client.ts';
import { robots, signBody } from '../load/requests.ts';

const inFlight = 64;
const concurrency = 50;
const warmUpJobs = 8000;

type Round = JobLoadResult &
  Readonly<Record<'cpuMicros' | 'redisCpuMicros' | 'loaderCpuMicros', number>>;

const kinds = [
  { title: 'P-256, 64 in flight', algorithm: 'EC', kind: 'flow' },
  { title: 'RSA-2048, 64 in flight', algorithm: 'RSA', kind: 'flow' },
  { title: 'P-256, draining', algorithm: 'EC', kind: 'drain' },
] as const;

export const sign: Scenario = {
  name: 'sign',
  title: 'Robot signatures, request to queryable outcome',
  run: async (context) => {
    const { small, say } = context;
    const product = await productSide(context);
    const floor = await floorSide(context);
    const worker = await product.start('worker', { workers: { concurrency } });
    const bare = await floor.startWorker();
    const loader = await own(context, startJobLoader());

    const measure = async (
      side: Side,
      { pid }: Measured,
      load: Pick<JobLoad, 'kind' | 'body' | 'durationMs' | 'count'>,
    ): Promise<Round> => {
      await side.clear();
      return withCpu(
        { cpuMicros: pid, redisCpuMicros: side.redis.pid, loaderCpuMicros: loader.pid },
        () =>
          loader.ask({
            ...load,
            socketPath: side.redis.connection.path,
            prefix: side.prefix,
            inFlight,
          }),
      );
    };
    const compared = async ({ title, algorithm, kind }: (typeof kinds)[number]) => {
      say(title);
      const load = {
        kind,
        body: signBody({ mode: 'asynch', msisdn: robots[algorithm], timeoutSeconds: 300 }),
        ...(kind === 'flow' ? { durationMs: small ? 600 : 3000 } : { count: small ? 1500 : 8000 }),
      };
      return interleave(small ? 3 : 11, {
        product: () => measure(product, worker, load),
        floor: () => measure(floor, bare, load),
      });
    };
    // Both compile their hot code after some thousand jobs.
    const body = signBody({ mode: 'asynch', msisdn: robots.EC, timeoutSeconds: 300 });
    say('warming up');
    await measure(product, worker, { kind: 'drain', body, count: warmUpJobs });
    await measure(floor, bare, { kind: 'drain', body, count: warmUpJobs });
    const [ecKind, rsaKind, drainKind] = kinds;
    const ec = await compared(ecKind);
    const rsa = await compared(rsaKind);
    const drain = await compared(drainKind);

    const row = (label: string, rounds: readonly Round[]): (string | number)[] => [
      label,
      ...medians(rounds, 'perSecond'),
      ...(rounds.some(({ p50Ms }) => p50Ms > 0) ? medians(rounds, 'p50Ms', 'p99Ms') : ['-', '-']),
      ...medians(rounds, 'cpuMicros', 'redisCpuMicros', 'loaderCpuMicros'),
    ];
    const bareWorker = 'a bare BullMQ worker making the same raw signature';
    const measured = [
      [ecKind, ec],
      [rsaKind, rsa],
      [drainKind, drain],
    ] as const;
    return {
      ratios: [
        compare(
          {
            name: 'sign',
            divides: `P-256 signatures per second with ${inFlight} in flight, \`paraph worker\` / ${bareWorker}`,
            goal: { atLeast: 0.9 },
          },
          ec.product,
          ec.floor,
          'perSecond',
        ),
        compare(
          {
            name: 'signRsa',
            divides: `RSA-2048 signatures per second with ${inFlight} in flight, \`paraph worker\` / ${bareWorker}`,
            goal: { atLeast: 0.9 },
          },
          rsa.product,
          rsa.floor,
          'perSecond',
        ),
        compare(
          {
            name: 'signDrain',
            divides: `P-256 signatures per second of jobs that wait already, \`paraph worker\` / ${bareWorker}`,
            goal: { atLeast: 0.75 },
          },
          drain.product,
          drain.floor,
          'perSecond',
        ),
        compare(
          {
            name: 'signCpu',
            divides: `CPU of the worker per P-256 signature, \`paraph worker\` / ${bareWorker}`,
            goal: { atMost: 1.4 },
          },
          ec.product,
          ec.floor,
          'cpuMicros',
        ),
      ],
      tables: [
        {
          title: 'Signatures of one worker process (medians of the rounds)',
          columns: [
            '',
            'signatures/s',
            'p50 ms',
            'p99 ms',
            'worker CPU µs',
            'Redis CPU µs',
            'producer CPU µs',
          ],
          rows: measured.flatMap(([{ title }, sides]) => [
            row(`${title}: paraph worker`, sides.product),
            row(`${title}: bare worker`, sides.floor),
          ]),
        },
      ],
      plots: [
        {
          file: 'sign',
          title: 'Robot signatures per second, one worker process',
          kind: 'bars',
          xLabel: `${concurrency} steps at a time, append-only file every second`,
          yLabel: 'signatures per second',
          series: [
            {
              label: 'paraph worker',
              points: measured.map(([{ title }, sides]) => ({
                x: title,
                y: median(sides.product.map(({ perSecond }) => perSecond)),
              })),
            },
            {
              label: 'bare BullMQ worker, raw signature',
              points: measured.map(([{ title }, sides]) => ({
                x: title,
                y: median(sides.floor.map(({ perSecond }) => perSecond)),
              })),
            },
          ],
        },
      ],
    };
  },
};
