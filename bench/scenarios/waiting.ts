/**
 * Processes that wait: what very many of them cost while their signers take days, and what happens
 * when many have the same deadline.
 *
 * Each process asks three people at once, and waits until they open their pages. It is one job with
 * its signers in its record. A bare producer adds them, and one worker begins them.
 * First come those that wait for weeks, and the processes of the service are watched while nothing
 * happens. Then come those that share a deadline. When it is over, all of them end. While these
 * begin and while they end, another application asks for synchronous signatures, as in
 * scenarios/fairness.ts: both rates are what that leaves of the machine.
 *
 * One process makes several turns when it begins and when it ends, so both are compared by turn,
 * too. BullMQ counts in each job how often it was taken.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { usageOf, watchCpu } from '../harness/cpu.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { ratioOf } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { startJobLoader } from '../load/job-load-client.ts';
import { signTemplate } from '../load/requests.ts';

const bulkSize = 250;
const firstNumber = 411_000_000_000;
const lastNumber = 411_000_999_999;
const otherInFlight = 4;
/** As in scenarios/fairness.ts. */
const allowedMs = (aloneMs: number): number => 2 * aloneMs + 20;
const lookMs = 100;
/** Jobs whose turns are counted. */
const sampled = 400;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const waiting: Scenario = {
  name: 'waiting',
  title: 'Processes whose signers take days, and a deadline that many of them share',
  run: async (context) => {
    const { small, say } = context;
    const open = small ? 500 : 100_000;
    const sharing = small ? 200 : 10_000;
    const watchMs = small ? 3000 : 60_000;
    const measureMs = small ? 1500 : 5000;
    const subscribers = [{ msisdn: `+${firstNumber}`, through: `+${lastNumber}`, sim: {} }];
    const product = await productSide(context);
    const api = await product.start('api', { subscribers });
    const worker = await product.start('worker', { subscribers });
    const loader = await own(context, startJobLoader());
    const other = await own(context, startHttpLoader());
    const { client } = product.redis;
    const key = (name: string): string => `${product.prefix}:workflows:${name}`;

    const untilZero = async (count: () => Promise<number>): Promise<number> => {
      const begin = performance.now();
      while ((await count()) > 0) await delay(lookMs);
      return (performance.now() - begin) / 1000;
    };
    /** Processes that have not gone to sleep yet. */
    const unsettled = (total: number) => async (): Promise<number> =>
      total - (await client.zcard(key('delayed')));
    /** @returns Turns so far of a process: the mean of some jobs in these sets. */
    const turnsEach = async (...sets: readonly string[]): Promise<number> => {
      const ids = await Promise.all(sets.map((set) => client.zrandmember(key(set), sampled)));
      const taken = await Promise.all(ids.flat().map((id) => client.hget(key(id), 'ats')));
      return mean(taken.map(Number));
    };
    /** @returns Seconds until all of them wait for their signers. */
    const begin = async (count: number, before: number, deadline?: string): Promise<number> => {
      const body = {
        ...({ signers: 'together', ask: 'page', first: firstNumber } as const),
        numbers: lastNumber - firstNumber + 1,
        ...(deadline !== undefined && { deadline }),
      };
      const socketPath = product.redis.connection.path;
      const started = performance.now();
      await loader.ask({
        kind: 'bulk',
        socketPath,
        prefix: product.prefix,
        body,
        count,
        inFlight: bulkSize,
      });
      await untilZero(unsettled(before + count));
      return (performance.now() - started) / 1000;
    };
    const signOf = (durationMs: number) =>
      other.run(
        {
          url: `${api.url}/rest/service/sign`,
          template: signTemplate({ mode: 'synch', apId: 'http://other.example' }),
          inFlight: otherInFlight,
          durationMs,
        },
        { tolerant: true },
      );

    type Window = Awaited<ReturnType<typeof signOf>>;
    /** The other application signs until the work is done. */
    const besideSignatures = async <T>(work: Promise<T>): Promise<[T, readonly Window[]]> => {
      let isOver = false;
      const done = work.finally(() => {
        isOver = true;
      });
      const windows: Window[] = [];
      while (!isOver) windows.push(await signOf(Math.min(measureMs, 1500)));
      return [await done, windows];
    };

    const parts = { worker: worker.pid, api: api.pid, redis: product.redis.pid };
    /** MB of each part. */
    const resident = (): readonly number[] =>
      Object.values(parts).map((pid) => usageOf(pid).rssBytes / 1e6);

    await signOf(measureMs);
    const warm = small ? 50 : 500;
    await begin(warm, 0);
    await delay(1000);
    const memoryBefore = (await product.redis.info()).usedMemoryBytes;
    const idleBefore = await watchCpu(parts, watchMs);
    const residentBefore = resident();
    const seconds = await begin(open, warm);
    say(`${open} processes wait after ${seconds.toFixed(1)} s`);
    const bytesEach = ((await product.redis.info()).usedMemoryBytes - memoryBefore) / open;
    await delay(1000);
    const idle = await watchCpu(parts, watchMs);
    const residentAfter = resident();

    const alone = await signOf(measureMs);
    // Enough time to begin them all before it is over: the machine has more to do than before.
    const leadSeconds = 5 + (6 * seconds * sharing) / open;
    const deadline = Date.now() + leadSeconds * 1000;
    const beginning = begin(sharing, warm + open, new Date(deadline).toISOString());
    const [begun, besideBegin] = await besideSignatures(beginning);
    if (Date.now() >= deadline) throw new Error('The deadline came before all processes had begun');
    say(`${sharing} more share a deadline in ${((deadline - Date.now()) / 1000).toFixed(1)} s`);
    const turnsToBegin = await turnsEach('delayed');
    await delay(deadline - Date.now());
    const failed = async (): Promise<number> => client.zcard(key('failed'));
    const [took, beside] = await besideSignatures(
      untilZero(async () => sharing - (await failed())),
    );
    const one = await client.zrandmember(key('failed'));
    const reason = await client.hget(key(one ?? ''), 'failedReason');
    if (reason?.startsWith('EXPIRED') !== true) throw new Error(`A process failed: ${reason}`);
    const p99 = beside.map(({ p99Ms }) => p99Ms / allowedMs(alone.p99Ms));
    const rates = { begin: sharing / begun, end: sharing / took };
    const turnsToEnd = (await turnsEach('failed', 'completed')) - turnsToBegin;
    const turnRates = { begin: rates.begin * turnsToBegin, end: rates.end * turnsToEnd };
    const failures = beside.reduce((sum, each) => sum + each.failures, 0);
    const requests = beside.reduce((sum, each) => sum + each.count, 0);
    const besideRow = (label: string, windows: readonly Window[]): (string | number)[] => [
      `${label} (p50 and p99: the worst of ${windows.length} windows)`,
      mean(windows.map((each) => each.perSecond)),
      ...(['p50Ms', 'p99Ms'] as const).map((each) =>
        Math.max(...windows.map((window) => window[each])),
      ),
      ...(['count', 'failures'] as const).map((each) =>
        windows.reduce((sum, window) => sum + window[each], 0),
      ),
    ];

    const perMille = (of: Record<keyof typeof parts, number>): number[] =>
      [of.worker, of.api, of.redis].map((share) => 1000 * share);
    return {
      ratios: [
        ratioOf(
          {
            name: 'waitingCpu',
            divides: `CPU of a worker while ${warm + open} processes of three signers wait and nothing else happens / while ${warm} wait`,
            goal: { atMost: 1.2 },
          },
          [idle.worker / idleBefore.worker],
        ),
        ratioOf(
          {
            name: 'waitingDeadline',
            divides: `processes per second that end by a deadline that ${sharing} share, beside the signatures of another application / processes per second that begin beside them`,
          },
          [rates.end / rates.begin],
        ),
        ratioOf(
          {
            name: 'waitingDeadlineTurns',
            divides:
              'the same in turns: those of processes that end per second / those of processes that begin, both beside these signatures',
          },
          [turnRates.end / turnRates.begin],
        ),
        ratioOf(
          {
            name: 'waitingFairness',
            divides: `99th percentile of another application's synchronous sign in 1.5 s while ${sharing} processes end by their deadline / twice that alone plus 20 ms`,
            goal: { atMost: 1 },
          },
          p99,
        ),
        ratioOf(
          {
            name: 'waitingRefused',
            divides:
              'requests of the other application that were not signed meanwhile / all of them',
            goal: { atMost: 0 },
          },
          [failures / requests],
        ),
      ],
      tables: [
        {
          title: `Redis's memory for each open process of three signers, ${open} open`,
          columns: ['', 'bytes each', 'together, MB'],
          rows: [
            ['the process and its three signers', Math.round(bytesEach), (bytesEach * open) / 1e6],
          ],
        },
        {
          title: 'CPU while they wait, milliseconds per second',
          columns: ['open processes', ...Object.keys(parts)],
          rows: [
            [warm, ...perMille(idleBefore)],
            [warm + open, ...perMille(idle)],
          ],
        },
        {
          title: 'Resident memory, MB',
          columns: ['open processes', ...Object.keys(parts)],
          rows: [
            [warm, ...residentBefore],
            [warm + open, ...residentAfter],
          ],
        },
        {
          title: `${sharing} processes with one deadline`,
          columns: ['', 'processes/s', 'turns each', 'turns/s', 'seconds'],
          rows: [
            [
              'begin, from the producer to three invited signers',
              rates.begin,
              turnsToBegin,
              turnRates.begin,
              begun,
            ],
            [
              'end, from the deadline to the last evidence',
              rates.end,
              turnsToEnd,
              turnRates.end,
              took,
            ],
          ],
        },
        {
          title: `Another application, synchronously, ${otherInFlight} in flight`,
          columns: ['', 'signatures/s', 'p50 ms', 'p99 ms', 'requests', 'failed'],
          rows: [
            [
              `${open} processes wait`,
              alone.perSecond,
              alone.p50Ms,
              alone.p99Ms,
              alone.count,
              alone.failures,
            ],
            besideRow(`${sharing} processes begin`, besideBegin),
            besideRow('their deadline is over', beside),
          ],
        },
      ],
      plots: [],
    };
  },
};
