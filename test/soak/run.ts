/**
 * `npm run soak [-- --minutes 30]`: half of what it can take, for long.
 *
 * A mixed load runs against an API and a worker process while their memory and handles, and what
 * Redis holds, are sampled. Finished transactions are kept for so short a time that as many go as
 * come; then nothing may grow. Prints a table, writes test/soak/results/latest.json and
 * docs/reliability/soak.svg; exits with 1 when something grows or a request was not served.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { startParaph } from '../../bench/harness/paraph.ts';
import { drawPlots } from '../../bench/harness/plot.ts';
import { startBenchRedis } from '../../bench/harness/redis.ts';
import { textTable } from '../../bench/harness/report.ts';
import type { Plot } from '../../bench/harness/scenario.ts';
import { readableJson } from '../../scripts/generated-file.ts';
import { type Kind, startLoader } from '../overload/load.ts';
import { profileKind, receiptKind, signKind, statusKind } from '../overload/requests.ts';
import {
  courseOf,
  quantities,
  quantityNames,
  type Sample,
  secondHalf,
  takeSample,
} from './samples.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const durationMs = Number(values.minutes) * 60_000;
if (!(durationMs >= 60_000)) throw new Error('--minutes takes a number from 1');

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** A sixth of the run at most: what is kept is then steady well before its second half. */
const retentionSeconds = Math.min(60, durationMs / 6000);
const sampleEveryMs = Math.min(5000, durationMs / 100);

const kinds: readonly Kind[] = [
  signKind('asynch', 45),
  signKind('synch', 20),
  statusKind(25),
  receiptKind(5),
  profileKind(5),
];

const stops: (() => Promise<unknown>)[] = [];

const soak = async () => {
  const redis = await startBenchRedis();
  stops.push(redis.stop);
  // Half an hour of it would fill a disk.
  await redis.client.config('SET', 'auto-aof-rewrite-percentage', '100');
  const loader = await startLoader();
  stops.push(loader.stop);
  const days = retentionSeconds / 86_400;
  const start = async (part: 'api' | 'worker') => {
    const started = await startParaph({
      part,
      redisUrl: redis.url,
      configuration: { retention: { signedDays: days, failedDays: days } },
    });
    stops.push(started.stop);
    return started;
  };
  const worker = await start('worker');
  const { url, pid } = await start('api');
  const common = { url, kinds, wantsIds: false };

  say('measuring the capacity');
  await loader.ask({ ...common, durationMs: 3000, connections: 64 });
  const full = await loader.ask({ ...common, durationMs: 5000, connections: 64 });
  const perSecond = full.sent / full.seconds / 2;
  say(`soaking with ${Math.round(perSecond)} requests a second for ${durationMs / 60_000} minutes`);

  const samples: Sample[] = [];
  const began = performance.now();
  let over = false;
  const sampling = (async () => {
    while (!over) {
      samples.push(
        await takeSample(
          redis,
          { api: pid, worker: worker.pid },
          (performance.now() - began) / 1000,
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, sampleEveryMs));
    }
  })();
  const load = await loader.ask({ ...common, durationMs, perSecond, connections: 500 });
  over = true;
  await sampling;
  return { samples, load, perSecond };
};

const plotOf = (samples: readonly Sample[]): Plot => ({
  file: 'soak',
  title: 'Soak: half of the capacity',
  kind: 'lines',
  xLabel: 'minutes',
  yLabel: '% of the mean of the second half',
  series: (['apiMemory', 'workerMemory', 'apiHandles', 'redisMemory', 'redisKeys'] as const).map(
    (name) => {
      const { mean } = courseOf(samples, name);
      return {
        label: quantities[name].label,
        points: samples.map((sample) => ({
          x: sample.atSeconds / 60,
          y: (100 * sample[name]) / mean,
        })),
      };
    },
  ),
});

let exitCode = 1;
try {
  const when = new Date().toISOString();
  const { samples, load, perSecond } = await soak();
  const courses = quantityNames.map((name) => courseOf(samples, name));
  const problems = [
    ...courses
      .filter(({ flat }) => !flat)
      .map(({ quantity }) => `${quantities[quantity].label} grows`),
    ...Object.entries(load.kinds).flatMap(([name, { faults, refused, broken }]) => [
      ...Object.entries(faults).map(
        ([words, count]) => `${count} ${name} requests were answered ${words}`,
      ),
      ...(refused.count === 0 ? [] : [`${refused.count} ${name} requests were refused`]),
      ...(broken === 0
        ? []
        : [`${broken} connections of ${name} requests ended without an answer`]),
    ]),
  ];
  const watched = {
    title: `Second half of ${(load.seconds / 60).toFixed(1)} minutes at ${Math.round(perSecond)} requests a second, retention ${retentionSeconds} s, ${secondHalf(samples).length} samples`,
    columns: ['what', 'unit', 'mean', 'growth', 'allowed', 'flat'],
    rows: courses.map(({ quantity, mean, growth, allowed, flat }) => [
      quantities[quantity].label,
      quantities[quantity].unit,
      Math.round(mean),
      Math.round(growth),
      Math.round(allowed),
      flat ? 'yes' : 'NO',
    ]),
  };
  const served = {
    title: 'Requests',
    columns: ['what', 'served', 'p50 ms', 'p99 ms', 'max ms'],
    rows: Object.entries(load.kinds).map(([name, seen]) => [
      name,
      seen.served.count,
      seen.served.p50Ms,
      seen.served.p99Ms,
      seen.served.maxMs,
    ]),
  };
  process.stdout.write(`${textTable(watched)}\n\n${textTable(served)}\n\n`);
  process.stdout.write(problems.length === 0 ? 'Flat.\n' : `${problems.join('\n')}\n`);
  const path = join(import.meta.dirname, 'results/latest.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    readableJson({
      when,
      minutes: load.seconds / 60,
      perSecond,
      retentionSeconds,
      problems,
      tables: [watched, served],
    }),
  );
  drawPlots(join(import.meta.dirname, '../../docs/reliability'), [plotOf(samples)]);
  exitCode = problems.length === 0 ? 0 : 1;
} finally {
  for (const stop of stops.reverse()) await stop().catch((error: unknown) => say(String(error)));
}
process.exit(exitCode);
