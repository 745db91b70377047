/**
 * Signature processes: three robots sign one after the other, from the job that another program
 * adds to the evidence in its outcome, with one worker process.
 *
 * The floor is three signatures of a bare worker of BullMQ (scenarios/sign.ts). The second
 * comparison is with three signatures of the product itself: what the process around them costs.
 * At last, one process with a step of a hundred signers: what each of them makes the others write.
 *
 * A number is prompted six times a minute at most, so the robots are many.
 */
import { withCpu } from '../harness/metered.ts';
import { type Commands, countCommands } from '../harness/monitor.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { floorSide, productSide } from '../harness/sides.ts';
import { compare, median, medians, ratioOf } from '../harness/statistics.ts';
import { type JobLoad, type JobLoadResult, startJobLoader } from '../load/job-load-client.ts';
import { processSigners, robots, signBody } from '../load/requests.ts';

const inFlight = 64;
const concurrency = 50;
/** As many as a definition may have. */
const manySigners = 100;
/** Longer than any test number, so no number has two owners. */
const firstRobot = 411_000_000_000;

interface Round extends JobLoadResult {
  readonly signaturesPerSecond: number;
  readonly cpuMicros: number;
  readonly redisCpuMicros: number;
}

export const signatureProcess: Scenario = {
  name: 'process',
  title: 'Processes in which three robots sign in order',
  run: async (context) => {
    const { small, say } = context;
    const numbers = small ? 1536 : 8192;
    const robotRange = {
      msisdn: `+${firstRobot}`,
      through: `+${firstRobot + numbers - 1}`,
      sim: {},
    };
    const product = await productSide(context);
    const floor = await floorSide(context);
    const worker = await product.start('worker', {
      workers: { concurrency },
      subscribers: [robotRange],
    });
    const bare = await floor.startWorker();
    const loader = await own(context, startJobLoader());
    const among = { ask: 'now', first: firstRobot, numbers } as const;
    const bodies = {
      process: { ...among, signers: 'order' },
      few: { ...among, signers: 'together' },
      many: { ...among, signers: 'together', people: manySigners },
      signature: signBody({ mode: 'asynch', msisdn: robots.EC, timeoutSeconds: 300 }),
    } as const;

    const load = (
      side: 'product' | 'floor',
      what: keyof typeof bodies,
      size: Pick<JobLoad, 'count' | 'durationMs' | 'inFlight'>,
    ): Promise<JobLoadResult> => {
      const { redis, prefix } = side === 'product' ? product : floor;
      const place = { socketPath: redis.connection.path, prefix };
      return loader.ask({ ...place, kind: 'flow', body: bodies[what], inFlight, ...size });
    };
    const measure = async (
      side: 'product' | 'floor',
      what: keyof typeof bodies,
    ): Promise<Round> => {
      const { redis, clear } = side === 'product' ? product : floor;
      await clear();
      await product.redis.deleteKeys(`${product.prefix}:workflows:*-process--*`);
      const pids = {
        cpuMicros: (side === 'product' ? worker : bare).pid,
        redisCpuMicros: redis.pid,
      };
      const result = await withCpu(pids, () =>
        load(side, what, { durationMs: small ? 1000 : 3000 }),
      );
      const each = what === 'process' ? processSigners : 1;
      return { ...result, signaturesPerSecond: each * result.perSecond };
    };

    say(`warming up, with keys for ${numbers} robots`);
    await load('product', 'process', { count: Math.ceil(numbers / processSigners) });
    await load('product', 'signature', { count: small ? 1500 : 8000 });
    await load('floor', 'signature', { count: small ? 1500 : 8000 });
    say(`${inFlight} in flight`);
    const rounds = await interleave(small ? 3 : 9, {
      process: () => measure('product', 'process'),
      signature: () => measure('product', 'signature'),
      floor: () => measure('floor', 'signature'),
    });

    const counted = small ? 10 : 50;
    say(`${counted} processes one after the other`);
    const count = async (
      what: keyof typeof bodies,
      times: number,
      of = counted,
    ): Promise<Commands> => {
      const all = await countCommands(product.redis, () =>
        load('product', what, { count: times, inFlight: 1 }),
      );
      const { sent, writes, fileBytes } = all;
      return { sent: sent / of, writes: writes / of, fileBytes: fileBytes / of };
    };
    const ofProcess = await count('process', counted);
    const ofSignatures = await count('signature', counted * processSigners);
    say(`steps of ${processSigners} and of ${manySigners} signers`);
    const steps = small ? 3 : 10;
    const ofFew = await count('few', steps * 10, steps * 10 * processSigners);
    const ofMany = await count('many', steps, steps * manySigners);

    const row = (label: string, of: readonly Round[], each: number): (string | number)[] => [
      label,
      median(of.map(({ signaturesPerSecond }) => signaturesPerSecond / processSigners)),
      ...medians(of, 'p50Ms', 'p99Ms'),
      ...medians(of, 'cpuMicros', 'redisCpuMicros').map((micros) => micros * each),
    ];
    const countRow = (
      label: string,
      { sent, writes, fileBytes }: Commands,
    ): (string | number)[] => [label, sent, writes, Math.round(fileBytes)];
    const words = `processes per second of three robots in order with ${inFlight} in flight`;
    return {
      ratios: [
        compare(
          {
            name: 'process',
            divides: `${words}, \`paraph worker\` / three signatures of a bare BullMQ worker making the same raw signature`,
          },
          rounds.process,
          rounds.floor,
          'signaturesPerSecond',
        ),
        compare(
          {
            name: 'processSign',
            divides: `${words} / three signatures of the same \`paraph worker\``,
          },
          rounds.process,
          rounds.signature,
          'signaturesPerSecond',
        ),
        ratioOf(
          {
            name: 'processMany',
            divides: `bytes in the append-only file for one signature in a step of ${manySigners} robots / in a step of ${processSigners}`,
            goal: { atMost: 2 },
          },
          [ofMany.fileBytes / ofFew.fileBytes],
        ),
      ],
      tables: [
        {
          title:
            'Processes of one worker process, and three signatures each (medians of the rounds)',
          columns: ['', 'each per second', 'p50 ms', 'p99 ms', 'worker CPU µs', 'Redis CPU µs'],
          rows: [
            row('process with three signers: paraph worker', rounds.process, 1),
            row('three signatures: paraph worker', rounds.signature, processSigners),
            row('three signatures: bare worker', rounds.floor, processSigners),
          ],
        },
        {
          title: 'What they ask of Redis, with one in flight',
          columns: ['', 'commands sent', 'of all, writes', 'bytes in the append-only file'],
          rows: [
            countRow('process with three signers', ofProcess),
            countRow('three signatures', ofSignatures),
            countRow(`one signature in a step of ${processSigners}`, ofFew),
            countRow(`one signature in a step of ${manySigners}`, ofMany),
          ],
        },
      ],
      plots: [],
    };
  },
};
