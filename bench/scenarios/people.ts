/**
 * People: what it costs to wait for very many of them, and whether those who answer notice the
 * others.
 *
 * Two services run side by side. The crowd's has very many transactions pending, each on a
 * simulated phone of its own that lets it ring; all of them came over HTTP and went through a
 * worker. The quiet one has only those that are about to be answered. In turns, a producer answers
 * people of each at a steady rate (fill/answer-stream.ts) while a robot load runs, and between the
 * turns nothing happens and the processes are watched while they wait.
 *
 * In the end the crowd's deadlines pass, as densely as the requests came in. The two-minute run
 * does not wait for that.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AnswerQuestion, AnswerStreamResult } from '../fill/answer-stream.ts';
import {
  type CrowdService,
  maxTimeoutSeconds,
  ring,
  signUrl,
  startService,
  untilLapsed,
} from '../fill/crowd.ts';
import { usageOf, watchCpu } from '../harness/cpu.ts';
import { startProgram } from '../harness/program.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Scenario } from '../harness/scenario.ts';
import { compare, median, medians } from '../harness/statistics.ts';
import { startHttpLoader } from '../load/http-load-client.ts';
import { signBody } from '../load/requests.ts';

const parts = ['worker', 'api', 'redis'] as const;
const usageOfParts = ({ worker, api, redis }: CrowdService) =>
  Object.fromEntries(
    parts.map((part) => [part, usageOf({ worker, api, redis }[part].pid)]),
  ) as Record<(typeof parts)[number], ReturnType<typeof usageOf>>;

const watch = ({ worker, api, redis }: CrowdService, ms: number) =>
  watchCpu({ worker: worker.pid, api: api.pid, redis: redis.pid }, ms);

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const kilobytes = (bytes: number): number => bytes / 1000;

export const people: Scenario = {
  name: 'people',
  title: 'Very many people who let it ring, and some who answer',
  run: async (context) => {
    const { small, say } = context;
    const size = small ? 5000 : 100_000;
    const rounds = small ? 2 : 4;
    const watchMs = small ? 1000 : 4000;
    const perSecond = small ? 50 : 100;
    const answers = small ? 50 : 600;
    const warmUps = small ? 0 : 1;
    const masterKey = randomBytes(32).toString('base64url');
    const quiet = await startService(context, masterKey);
    const crowded = await startService(context, masterKey);
    const loader = await own(context, startHttpLoader());
    const answerer = await own(
      context,
      startProgram<AnswerQuestion, AnswerStreamResult>('bench/fill/answer-stream.ts'),
    );

    const robots = (service: CrowdService, durationMs: number) =>
      loader.run({
        url: signUrl(service),
        template: JSON.stringify(signBody({ mode: 'synch' })),
        inFlight: 4,
        durationMs,
      });

    // Both have worked before anything is compared: a fresh process is smaller and slower. And the
    // pace of this machine says for how long the crowd has to wait until all of it is there and
    // measured.
    const warmUp = small ? 500 : 3000;
    let pace = 0;
    for (const service of [quiet, crowded]) {
      await robots(service, small ? 500 : 3000);
      pace = warmUp / (await ring(loader, service, warmUp, 5));
      while ((await service.pending()) > 0) await delay(100);
    }
    // Preparing an answer (two keys, two signatures) takes as long as a dozen rings.
    const turnSeconds = watchMs / 1000 + answers / perSecond + (12 * answers) / pace;
    const waitSeconds = Math.ceil(
      (size / pace) * 1.3 + (2 * (rounds + warmUps) + 1) * turnSeconds + 5,
    );
    if (waitSeconds > maxTimeoutSeconds)
      throw new Error(`This machine is too slow for a crowd of ${size}`);

    // What the warm-up left to do (lazy freeing, garbage) is none of the waiting.
    await delay(small ? 300 : 3000);
    const before = {
      memory: (await crowded.redis.info()).usedMemoryBytes,
      usage: usageOfParts(crowded),
    };
    const idleBefore = await watch(crowded, watchMs);
    const arrivedIn = await ring(loader, crowded, size, waitSeconds);
    say(`${size} phones ring after ${arrivedIn.toFixed(1)} s, for ${waitSeconds} s each`);
    const after = {
      memory: (await crowded.redis.info()).usedMemoryBytes,
      usage: usageOfParts(crowded),
    };
    const rssDelta = (part: 'worker' | 'api'): number =>
      (after.usage[part].rssBytes - before.usage[part].rssBytes) / size;

    const turn = async (service: CrowdService) => {
      // The quiet service gets the people that are about to answer, and nobody else.
      if (service === quiet) await ring(loader, quiet, answers, waitSeconds);
      const stream = { redisUrl: service.redis.url, masterKey, count: answers, perSecond };
      await answerer.ask({ kind: 'prepare', stream });
      const idle = await watch(service, watchMs);
      const [result] = await Promise.all([
        answerer.ask({ kind: 'answer', stream }),
        robots(service, (answers / perSecond) * 1000),
      ]);
      return { ...result, idle };
    };
    const turns = await interleave(
      rounds,
      { quiet: () => turn(quiet), crowded: () => turn(crowded) },
      { warmUps },
    );
    const left = await crowded.pending();
    if (left < size / 2)
      throw new Error('The crowd went before it was measured: its TimeOut was too short');
    const late = small ? undefined : await untilLapsed(crowded, say);

    const workerCpu = turns.crowded.map(({ idle }) => idle.worker);
    const row = (label: string, of: typeof turns.quiet): (string | number)[] => [
      label,
      ...medians(of, 'p50Ms', 'p99Ms'),
      Math.max(...of.map(({ maxMs }) => maxMs)),
    ];
    const idleRow = (
      label: string,
      of: readonly Record<(typeof parts)[number], number>[],
    ): (string | number)[] => [
      label,
      ...parts.map((part) => 1000 * mean(of.map((idle) => idle[part]))),
    ];
    return {
      ratios: [
        {
          name: 'peopleCpu',
          // All windows together: the kernel counts in hundredths of a second.
          value: mean(workerCpu),
          least: Math.min(...workerCpu),
          most: Math.max(...workerCpu),
          divides: `CPU seconds of a worker / seconds, while ${size} transactions are pending and nothing else happens (a fraction of one core)`,
          goal: { atMost: 0.02 },
        },
        compare(
          {
            name: 'peopleAnswerP99',
            divides: `p99 of the time from a person's answer to the outcome, with ${size} pending / with only those who answer, both under robot load`,
          },
          turns.crowded,
          turns.quiet,
          'p99Ms',
        ),
      ],
      tables: [
        {
          title: `Memory per pending transaction (${size} pending on phones of their own)`,
          columns: ['', 'bytes each', 'together, MB'],
          rows: [
            [
              'Redis',
              Math.round((after.memory - before.memory) / size),
              kilobytes(kilobytes(after.memory - before.memory)),
            ],
            ...(['worker', 'api'] as const).map((part) => [
              `${part}: resident memory, more than before they came`,
              Math.round(rssDelta(part)),
              kilobytes(kilobytes(rssDelta(part) * size)),
            ]),
          ],
        },
        {
          title: 'CPU while they wait, milliseconds per second',
          columns: ['pending', ...parts],
          rows: [
            idleRow('0', [idleBefore]),
            idleRow(
              `${size}`,
              turns.crowded.map(({ idle }) => idle),
            ),
          ],
        },
        {
          title: `From a person's answer to the outcome, ms (${perSecond} answers a second beside a robot load with 4 in flight; medians of the rounds)`,
          columns: ['pending', 'p50', 'p99', 'longest'],
          rows: [row(`only the ${answers} who answer`, turns.quiet), row(`${size}`, turns.crowded)],
        },
        ...(late === undefined
          ? []
          : [
              {
                title: 'The deadlines of the crowd',
                columns: ['transactions', 'came within, s', 'late p50, ms', 'late p99, ms'],
                rows: [[String(left), arrivedIn, late.p50Ms, late.p99Ms]],
              },
            ]),
      ],
      plots: [
        {
          file: 'people-answers',
          title: `From a person's answer to the outcome`,
          kind: 'bars',
          xLabel: `pending transactions`,
          yLabel: 'milliseconds',
          series: (['p50Ms', 'p99Ms'] as const).map((key) => ({
            label: key.slice(0, 3),
            points: [
              { x: 'only who answers', y: median(turns.quiet.map((round) => round[key])) },
              { x: String(size), y: median(turns.crowded.map((round) => round[key])) },
            ],
          })),
        },
      ],
    };
  },
};
