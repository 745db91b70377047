/** The capacity model in numbers that one can check by hand. */
import { describe, expect, it } from 'vitest';
import { type Cost, errorFactor, planFor, predict, sumOf, times } from '../../bench/model.ts';
import { nodeOfShard, shareOfBusiestNode } from '../support/redis-cluster.ts';

const cost: Cost = { api: 200, worker: 400, redis: 100, client: 50 };
const roomy = { cores: Number.POSITIVE_INFINITY, apis: 10, workers: 10, busiestRedisShare: 1 };

describe('predict', () => {
  it('gives a process no more than one core', () => {
    expect(predict(cost, { ...roomy, workers: 1 })).toEqual({ rate: 2500, limit: 'worker' });
    expect(predict(cost, { ...roomy, apis: 1 })).toEqual({ rate: 5000, limit: 'api' });
  });

  it('gives Redis one core, or one for each node that carries its part', () => {
    expect(predict(cost, { ...roomy, apis: 100, workers: 100 })).toEqual({
      rate: 10_000,
      limit: 'redis',
    });
    const spread = { ...roomy, apis: 100, workers: 100, busiestRedisShare: 0.5 };
    expect(predict(cost, spread)).toEqual({ rate: 20_000, limit: 'redis' });
  });

  it('shares the cores of the machine among all, the one who asks included', () => {
    expect(predict(cost, { ...roomy, cores: 1.5 })).toEqual({ rate: 2000, limit: 'cores' });
  });

  it('is not limited by who does nothing', () => {
    expect(predict({ ...cost, api: 0 }, { ...roomy, apis: 0 }).limit).not.toBe('api');
  });
});

describe('costs', () => {
  it('add up over the operations of one transaction', () => {
    expect(sumOf(cost, times(2, cost))).toEqual({
      api: 600,
      worker: 1200,
      redis: 300,
      client: 150,
    });
  });

  it('err by the same factor in both directions', () => {
    expect(errorFactor(1200, 1000)).toBeCloseTo(1.2);
    expect(errorFactor(1000, 1200)).toBeCloseTo(1.2);
  });
});

describe('planFor', () => {
  const demand = {
    signaturesPerSecond: 1000,
    utilisation: 0.5,
    retainedBytes: 2500,
    shareOfBusiestNode: (shards: number, nodes: number) => Math.ceil(shards / nodes) / shards,
  };

  it('counts whole cores at the utilisation that is wanted', () => {
    expect(planFor(cost, demand)).toEqual({
      apiCores: 1,
      workerCores: 1,
      redisNodes: 1,
      shards: 1,
      gigabytesPerHour: 9,
    });
    expect(planFor(cost, { ...demand, signaturesPerSecond: 100_000 })).toMatchObject({
      apiCores: 40,
      workerCores: 80,
      redisNodes: 20,
      shards: 20,
    });
  });

  it('takes more shards, then more nodes, when shards fall unevenly', () => {
    const uneven = (shards: number, nodes: number) => (1 / nodes) * (1 + 1 / shards);
    const { redisNodes, shards } = planFor(cost, {
      ...demand,
      signaturesPerSecond: 19_000,
      shareOfBusiestNode: uneven,
    });
    expect({ redisNodes, shards }).toEqual({ redisNodes: 4, shards: 19 });
  });
});

describe('the slots of a cluster', () => {
  it('are those that Redis computes', () => {
    // CLUSTER KEYSLOT {paraph-0} … {paraph-3}: 12400, 8273, 4146 and 19, in thirds of 16384.
    expect([0, 1, 2, 3].map((shard) => nodeOfShard(shard, 3))).toEqual([2, 1, 0, 0]);
  });

  it('spread many shards more evenly than few', () => {
    expect(shareOfBusiestNode(1, 3)).toBe(1);
    expect(shareOfBusiestNode(4, 3)).toBe(0.5);
    expect(shareOfBusiestNode(600, 3)).toBeLessThan(0.36);
  });
});
