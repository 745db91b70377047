/** Ratios of the measured configurations, and what the model foretells. */
import { availableParallelism } from 'node:os';
import { shareOfBusiestNode } from '../../test/support/redis-cluster.ts';
import type { Ratio, Table } from '../harness/scenario.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';
import { type Cost, errorFactor, planFor, predict, sumOf } from '../model.ts';
import { costOf, operations, type Round, rateOf, type Setup } from './running.ts';

const utilisation = 0.6;
const coresOfMachine = 8;
const rates = [1000, 100_000];

export type Results = readonly { readonly setup: Setup; readonly rounds: readonly Round[] }[];

export interface Check {
  readonly row: readonly (string | number)[];
  readonly factor: number;
}

/** Costs of the first configuration, rates of all. */
export const checksOf = (results: Results): readonly Check[] => {
  const [base] = results;
  if (base === undefined) return [];
  return results.flatMap(({ setup, rounds }) =>
    operations.map((operation) => {
      const { workers, busiestRedisShare } = setup;
      const cores = median(rounds.map((round) => round[operation].coresLeft));
      const deployment = { cores, apis: 1, workers, busiestRedisShare };
      const { rate, limit } = predict(costOf(base.rounds, operation), deployment);
      const measured = rateOf(rounds, operation);
      const factor = errorFactor(rate, measured);
      return {
        row: [setup.label, operation, rate, limit, measured, rate / measured, cores],
        factor,
      };
    }),
  );
};

export const configurationRow = ({ setup, rounds }: Results[number]): (string | number)[] => {
  const asynch = sumOf(costOf(rounds, 'accept'), costOf(rounds, 'drain'));
  return [
    setup.label,
    ...operations.map((operation) => rateOf(rounds, operation)),
    asynch.api,
    asynch.worker,
    asynch.redis,
    asynch.client,
  ];
};

export const costRow = (
  label: string,
  { api, worker, redis, client }: Cost,
): (string | number)[] => [label, api, worker, redis, client];

interface PricedWork {
  readonly name: string;
  /** One Redis up to what it can carry, then a cluster, where each operation costs more. */
  readonly single: Cost;
  readonly cluster: Cost;
}

export const planTable = (works: readonly PricedWork[], retainedBytes: number): Table => ({
  title: `What a steady rate takes by the model: cores ${100 * utilisation} % busy, memory for each hour of retention`,
  columns: [
    'work',
    'per second',
    'API cores',
    'worker cores',
    'Redis nodes',
    'shards',
    'cores',
    'machines',
    'GB/hour',
  ],
  rows: works.flatMap(({ name, single, cluster }) =>
    rates.map((signaturesPerSecond) => {
      const demand = { signaturesPerSecond, utilisation, retainedBytes, shareOfBusiestNode };
      const onOne = planFor(single, demand);
      const plan = onOne.redisNodes === 1 ? onOne : planFor(cluster, demand);
      const cores = plan.apiCores + plan.workerCores + plan.redisNodes;
      return [
        name,
        signaturesPerSecond,
        plan.apiCores,
        plan.workerCores,
        plan.redisNodes,
        plan.shards,
        cores,
        Math.ceil(cores / coresOfMachine),
        plan.gigabytesPerHour,
      ];
    }),
  ),
});

/** Each configuration divided by the first of its group. */
export const drainRatios = (
  [base, ...others]: Results,
  nameOf: (setup: Setup) => string,
): readonly Ratio[] => {
  const drains = (rounds: readonly Round[] = []): number[] =>
    rounds.map(({ drain }) => drain.perSecond);
  return others.map(({ setup, rounds }) =>
    ratioOf(
      {
        name: nameOf(setup),
        divides: `signatures per second drained, ${setup.label} / ${base?.setup.label}; on ${availableParallelism()} cores`,
      },
      roundRatios(drains(rounds), drains(base?.rounds)),
    ),
  );
};
