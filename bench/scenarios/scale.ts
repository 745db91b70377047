/**
 * Scale: more workers on one Redis, more shards on a cluster, and whether the capacity model
 * foretells it.
 *
 * Configurations run side by side and take turns: 1, 2 and 4 workers, each on a Redis of its own;
 * then 1, 3 and 6 shards on one cluster of three nodes with two workers each. A turn accepts while
 * the workers are held, lets them drain what was accepted, and then sends synchronous requests, so
 * that everything works at once.
 *
 * All of it shares the cores of one machine, the load generator too, so a curve flattens as soon as
 * these are used up. What carries over to other machines is the CPU that one transaction costs each
 * process. The model (bench/model.ts) takes it from the smallest configuration and is held against
 * the rates of all. What the rest of the machine used in the meantime (the bench itself, the
 * kernel's network, and anybody else) was not there to be had, and is deducted.
 */
import { availableParallelism } from 'node:os';
import { provideRedis } from '../../scripts/redis-binary.mjs';
import { shareOfBusiestNode, startRedisCluster } from '../../test/support/redis-cluster.ts';
import { makeOriginal } from '../fill/originals.ts';
import { fillRetained } from '../fill/retained.ts';
import { startStatusLoader } from '../fill/status-load-client.ts';
import { interleave } from '../harness/rounds.ts';
import { type BenchContext, own, type Scenario } from '../harness/scenario.ts';
import { type HttpLoader, startHttpLoader } from '../load/http-load-client.ts';
import { type Cost, sumOf } from '../model.ts';
import {
  checksOf,
  configurationRow,
  costRow,
  drainRatios,
  planTable,
  type Results,
} from '../scale/report.ts';
import {
  costOf,
  inFlight,
  measure,
  type Round,
  type Running,
  roundOf,
  startRunning,
} from '../scale/running.ts';

const nodes = 3;
const operations = ['accept', 'drain', 'synch'] as const;

const compare = async (
  { small, say }: BenchContext,
  loader: HttpLoader,
  group: readonly Running[],
): Promise<Results> => {
  const sides = group.map(
    (running) => [running.label, () => roundOf(running, loader, small)] as const,
  );
  const rounds: Readonly<Record<string, readonly Round[]>> = await interleave(
    small ? 2 : 4,
    Object.fromEntries(sides),
  );
  for (const running of group) await running.stop();
  say(`measured: ${group.map(({ label }) => label).join('; ')}`);
  return group.map((setup) => ({ setup, rounds: rounds[setup.label] ?? [] }));
};

/** The first prefix whose shards fall evenly on the nodes. */
const evenPrefix = (shards: number): string => {
  for (let number = 0; ; number += 1) {
    const prefix = `bench-${shards}-${number}`;
    if (shareOfBusiestNode(shards, nodes, prefix) <= Math.max(1 / shards, 1 / nodes)) return prefix;
  }
};

/** The two-minute run leaves one of each three out. */
const workerCounts = (small: boolean): readonly number[] => (small ? [1, 2] : [1, 2, 4]);
const shardCounts = (small: boolean): readonly number[] => (small ? [1, 3] : [1, 3, 6]);

const onOneRedis = async (context: BenchContext, loader: HttpLoader) => {
  const group: Running[] = [];
  for (const workers of workerCounts(context.small)) {
    const redis = await context.redis();
    const label = `one Redis, ${workers} worker${workers === 1 ? '' : 's'}`;
    const setup = { label, workers, shards: 1, busiestRedisShare: 1 };
    group.push(
      await startRunning(context, setup, { url: redis.url, pids: [redis.pid], prefix: 'paraph' }),
    );
  }
  return compare(context, loader, group);
};

const onCluster = async (context: BenchContext, loader: HttpLoader) => {
  const provided = await provideRedis(process.env, context.say);
  if ('problem' in provided) throw new Error(provided.problem);
  const cluster = await own(
    context,
    startRedisCluster({
      command: provided.command,
      nodes,
      settings: { 'auto-aof-rewrite-percentage': '0' },
    }),
  );
  const group: Running[] = [];
  for (const shards of shardCounts(context.small)) {
    const prefix = evenPrefix(shards);
    const setup = {
      label: `cluster of ${nodes}, 2 workers, ${shards} shard${shards === 1 ? '' : 's'}`,
      workers: 2,
      shards,
      busiestRedisShare: shareOfBusiestNode(shards, nodes, prefix),
    };
    group.push(
      await startRunning(context, setup, { url: cluster.url, pids: cluster.pids, prefix }),
    );
  }
  return compare(context, loader, group);
};

/** What a status request costs, and a retained transaction weighs. */
const measureStatus = async (
  context: BenchContext,
): Promise<{ cost: Cost; retainedBytes: number }> => {
  const redis = await context.redis();
  const at = { url: redis.url, pids: [redis.pid], prefix: 'paraph' };
  const running = await startRunning(
    context,
    { label: '', workers: 1, shards: 1, busiestRedisShare: 1 },
    at,
  );
  const loader = await own(context, startStatusLoader());
  const retained = context.small ? 2000 : 20_000;
  const original = await makeOriginal(running.api.url, redis.client, 'signed');
  const before = (await redis.info()).usedMemoryBytes;
  await fillRetained(redis.client, { original, kind: 'signed', count: retained, now: Date.now() });
  const retainedBytes = ((await redis.info()).usedMemoryBytes - before) / retained;
  const ask = async (durationMs: number): Promise<number> => {
    const url = `${running.api.url}/rest/service/status`;
    return (await loader.ask({ url, retained, inFlight, durationMs })).count;
  };
  await ask(500);
  const { cost } = await measure(running, loader.pid, () => ask(context.small ? 600 : 3000));
  await running.stop();
  await loader.stop();
  return { cost, retainedBytes };
};

export const scale: Scenario = {
  name: 'scale',
  title: 'More workers, more shards, and a model of both',
  run: async (context) => {
    const loader = await own(context, startHttpLoader());
    const single = await onOneRedis(context, loader);
    const cluster = await onCluster(context, loader);
    const status = await measureStatus(context);
    const checks = [...checksOf(single), ...checksOf(cluster)];
    const factors = checks.map(({ factor }) => factor);
    const all = [...single, ...cluster];
    const roundsOf = (results: Results, index: number): readonly Round[] =>
      results.at(index)?.rounds ?? [];
    const one = roundsOf(single, 0);
    const many = roundsOf(cluster, -1);
    const asynchOf = (rounds: readonly Round[]): Cost =>
      sumOf(costOf(rounds, 'accept'), costOf(rounds, 'drain'), status.cost);
    const works = [
      { name: 'asynch and one status', single: asynchOf(one), cluster: asynchOf(many) },
      { name: 'synch', single: costOf(one, 'synch'), cluster: costOf(many, 'synch') },
    ];
    return {
      ratios: [
        ...drainRatios(single, ({ workers }) => `scaleWorkers${workers}`),
        ...drainRatios(cluster, ({ shards }) => `scaleShards${shards}`),
        {
          name: 'modelError',
          value: Math.max(...factors),
          least: Math.min(...factors),
          most: Math.max(...factors),
          divides:
            'the farthest that a rate foretold by the capacity model and the measured one are apart, greater / smaller',
          goal: { atMost: 1.3 },
        },
      ],
      tables: [
        {
          title: `Rates per second and CPU µs per asynch transaction, on ${availableParallelism()} cores in all (medians of the rounds)`,
          columns: ['', 'accept', 'drain', 'synch', 'API', 'workers', 'Redis', 'load'],
          rows: all.map(configurationRow),
        },
        {
          title: 'CPU µs per operation, from which the model is made',
          columns: ['', 'API', 'workers', 'Redis', 'load'],
          rows: [
            ...operations.map((name) => costRow(`${name}, one Redis`, costOf(one, name))),
            costRow('status, one Redis', status.cost),
            ...operations.map((name) => costRow(`${name}, cluster`, costOf(many, name))),
          ],
        },
        {
          title: 'The model held against what was measured, per second',
          columns: [
            '',
            'operation',
            'foretold',
            'limited by',
            'measured',
            'foretold / measured',
            'cores left by others',
          ],
          rows: checks.map(({ row }) => row),
        },
        planTable(works, status.retainedBytes),
      ],
      plots: [
        {
          file: 'scale-rates',
          title: `Signatures drained per second, all on ${availableParallelism()} cores`,
          kind: 'bars',
          xLabel: 'workers on one Redis; shards on a cluster of three with two workers',
          yLabel: 'per second',
          series: (['measured', 'foretold'] as const).map((label) => ({
            label,
            points: checks
              .filter(({ row }) => row[1] === 'drain')
              .map(({ row }) => ({
                x: String(row[0])
                  .replace('cluster of 3, 2 workers, ', '')
                  .replace('one Redis, ', ''),
                y: Number(row[label === 'measured' ? 4 : 2]),
              })),
          })),
        },
      ],
    };
  },
};
