/**
 * `npm run faults -- --cluster`: masters of a Redis Cluster die, one after the other, and their
 * replicas take over.
 *
 * Three masters with a replica each, a shard on each master, two APIs and two workers. There are no
 * lanes here: the nodes tell clients their own addresses. A master is killed, or stopped with its
 * connections open, as a host that is gone; when the service has recovered it comes back, as a
 * replica.
 *
 * Replication is asynchronous, so what was acknowledged and had not reached the replica is gone.
 * That is counted and no violation, as long as it was acknowledged just before the master died.
 * What is acknowledged at any other time must be there.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { shardOf } from '../../src/transactions/ids.ts';
import { freePort } from '../support/free-ports.ts';
import {
  nodeOfShard,
  type RedisCluster,
  spreadPrefix,
  startRedisCluster,
} from '../support/redis-cluster.ts';
import { signRequest, statusRequest } from '../support/requests.ts';
import { call } from './caller.ts';
import {
  type Accepted,
  type Death,
  type Failover,
  isUnknown,
  never,
  type Struck,
  violationsOf,
} from './checks/failovers.ts';
import { isOutcome } from './checks/told.ts';
import { applicationId, configurationFor, numberOf } from './people.ts';
import { type Managed, manage } from './processes.ts';
import { createRandom, type Random } from './random.ts';

const shards = 3;
const callers = 12;
const pauseMs = 40;
const warmUpMs = 2000;
const timeoutSeconds = 10;

/**
 * After the promotion: longer than the service may take, so that a late recovery is measured and
 * not only missed.
 */
const patienceMs = 60_000;
const deaths: Readonly<
  Record<Death, Readonly<Record<'strike' | 'revive', (node: Node) => Promise<void>>>>
> = {
  killed: { strike: (node: Node) => node.kill(), revive: (node: Node) => node.start() },
  silent: {
    strike: async (node: Node) => node.pause(),
    revive: async (node: Node) => node.resume(),
  },
};
type Node = RedisCluster['nodes'][number];

/** What a run leaves in test/faults/results. */
export interface ClusterResults {
  readonly cores: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly failovers: readonly Failover[];
  readonly violations: number;
}

const startService = async (dist: string, directory: string, redisUrl: string, prefix: string) => {
  const configuration = {
    ...configurationFor({ gatewayUrl: 'http://127.0.0.1:9/' }),
    queue: { shards, prefix },
  };
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(configuration));
  const masterKey = randomBytes(32).toString('base64url');
  const crashes: string[] = [];
  const prepare = async (
    part: 'api' | 'worker',
    name: string,
  ): Promise<{ process: Managed; url: string }> => {
    const port = await freePort();
    const process_ = manage({
      name,
      command: () => [process.execPath, join(dist, 'src', 'cli', 'paraph.js'), part],
      env: {
        PATH: process.env.PATH ?? '',
        REDIS_URL: redisUrl,
        PORT: String(port),
        PARAPH_CONFIG: file,
        PARAPH_DATA: join(directory, 'data'),
        PARAPH_MASTER_KEY: masterKey,
      },
      logFile: join(directory, `${name}.log`),
      onCrash: (crashed) => crashes.push(crashed),
      ready: ({ onLine }) =>
        new Promise((resolve) =>
          onLine((line) => {
            if (line.includes('"msg":"ready"')) resolve();
          }),
        ),
    });
    return { process: process_, url: `http://127.0.0.1:${port}` };
  };
  const apis = await Promise.all(['api-1', 'api-2'].map((name) => prepare('api', name)));
  const workers = await Promise.all(
    ['worker-1', 'worker-2'].map((name) => prepare('worker', name)),
  );
  const all = [...apis, ...workers];
  await Promise.all(all.map(({ process }) => process.start()));
  return {
    urls: apis.map(({ url }) => url),
    crashes,
    stop: async () => {
      await Promise.all(all.map(({ process }) => process.end()));
    },
  };
};

/** Robots sign, and each client follows what was acknowledged to it until it has ended. */
const startLoad = (urls: readonly string[], random: Random) => {
  const accepted: Accepted[] = [];
  let refused = 0;
  let going = true;
  const follow = async (one: Accepted): Promise<void> => {
    const url = random.pick(urls);
    const until = Date.now() + timeoutSeconds * 1000 + patienceMs;
    while (Date.now() < until) {
      const told = await call(url, 'status', statusRequest(one.id, applicationId), {
        withinMs: 5000,
      });
      one.final = told;
      if (told.kind === 'signed') one.signedAt = Date.now();
      if (isOutcome(told) || isUnknown(told)) return;
      await delay(100);
    }
  };
  const following: Promise<void>[] = [];
  const caller = async (index: number): Promise<void> => {
    const own = random.branch(`caller-${index}`);
    while (going) {
      const msisdn = numberOf('robot', own);
      const body = signRequest({ mode: 'asynch', msisdn, apId: applicationId, timeoutSeconds });
      const askedAt = Date.now();
      const told = await call(own.pick(urls), 'sign', body, { withinMs: 5000, asynch: true });
      if (told.kind === 'accepted') {
        const one = { id: told.id, shard: shardOf(told.id, shards) ?? -1, askedAt, at: Date.now() };
        accepted.push(one);
        following.push(follow(one));
      } else refused += 1;
      await delay(pauseMs);
    }
  };
  const calling = Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  return {
    accepted,
    refused: () => refused,
    /** Stops asking, and resolves when what was acknowledged has ended, or should have. */
    end: async () => {
      going = false;
      await calling;
      await Promise.all(following);
    },
  };
};

const until = async <T>(
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> => {
  for (const from = Date.now(); Date.now() - from < patienceMs; await delay(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  return undefined;
};

const isReady = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3000) }).catch(() => undefined))
    ?.status === 200;

const failOver = async (
  death: Death,
  shard: number,
  stage: {
    readonly cluster: RedisCluster;
    readonly prefix: string;
    readonly url: string;
    readonly accepted: readonly Accepted[];
  },
): Promise<Struck> => {
  const { cluster, prefix, url, accepted } = stage;
  const range = nodeOfShard(shard, shards, prefix);
  const master = await cluster.masterOf(range);
  await deaths[death].strike(master);
  const struckAt = Date.now();
  let readinessSaid = false;
  let promotedAt: number | undefined;
  const listening = until(async () => {
    readinessSaid ||= !(await isReady(url));
    return promotedAt;
  });
  promotedAt =
    (await until(async () => {
      const heir = await cluster.masterOf(range).catch(() => undefined);
      return heir === undefined || heir.port === master.port ? undefined : Date.now();
    })) ?? never;
  const heldAt = promotedAt;
  await listening;
  const first = async (when: (one: Accepted) => number | undefined): Promise<number> => {
    const at = await until(() => {
      const times = accepted
        .filter((one) => one.shard === shard && one.askedAt >= struckAt)
        .map(when)
        .filter((time) => time !== undefined);
      return times.length === 0 ? undefined : Math.min(...times);
    });
    return at === undefined ? never : Math.max(0, at - heldAt);
  };
  const acknowledgedMs = await first(({ at }) => at);
  const signedMs = await first(({ signedAt }) => signedAt);
  await deaths[death].revive(master);
  const promotedMs = heldAt - struckAt;
  return {
    death,
    shard,
    struckAt,
    promotedAt: heldAt,
    promotedMs,
    acknowledgedMs,
    signedMs,
    readinessSaid,
  };
};

/** @returns How many promises were broken. */
export const runCluster = async (options: {
  readonly dist: string;
  readonly project: string;
  readonly seed: string;
  /** How often a master dies in each way. */
  readonly rounds: number;
  /** Whether test/faults/results gets what was found. */
  readonly keeps: boolean;
  readonly say: (text: string) => void;
}): Promise<number> => {
  const { dist, project, seed, rounds, keeps, say } = options;
  const directory = join(project, '.cache', 'faults', 'cluster');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const prefix = spreadPrefix('faults', shards, shards);
  const cluster = await startRedisCluster({
    command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
    nodes: shards,
    replicas: true,
    settings: { 'cluster-node-timeout': '2000', appendfsync: 'always' },
  });
  try {
    const service = await startService(dist, directory, cluster.url, prefix);
    try {
      const [url = ''] = service.urls;
      const load = startLoad(service.urls, createRandom(seed));
      await delay(warmUpMs);
      const struck: Struck[] = [];
      for (let round = 0; round < rounds; round += 1) {
        for (const death of Object.keys(deaths) as Death[]) {
          const shard = struck.length % shards;
          const one = await failOver(death, shard, {
            cluster,
            prefix,
            url,
            accepted: load.accepted,
          });
          struck.push(one);
          say(
            `shard ${shard}, master ${death}: replica promoted after ${one.promotedMs} ms; acknowledged again ${one.acknowledgedMs} ms and signed again ${one.signedMs} ms later`,
          );
          await cluster.whenWhole();
          await delay(warmUpMs);
        }
      }
      await load.end();
      const ready = await until(async () => ((await isReady(url)) ? true : undefined));
      const { violations, lost } = violationsOf(struck, load.accepted, service.crashes);
      if (!ready) violations.push('readyz is 200 when all is well again');
      const results: ClusterResults = {
        cores: availableParallelism(),
        acknowledged: load.accepted.length,
        refused: load.refused(),
        failovers: struck.map((one) => ({
          death: one.death,
          promotedMs: one.promotedMs,
          acknowledgedMs: one.acknowledgedMs,
          signedMs: one.signedMs,
          readinessSaid: one.readinessSaid,
          lost: lost.get(one) ?? 0,
        })),
        violations: violations.length,
      };
      const sum = [...lost.values()].reduce((one, other) => one + other, 0);
      say(
        `${results.acknowledged} acknowledged, ${results.refused} refused, ${sum} lost before they reached a replica`,
      );
      for (const violation of violations.slice(0, 20)) say(`VIOLATION: ${violation}`);
      say(`${violations.length} violations`);
      writeFileSync(
        join(directory, 'accepted.json'),
        `${JSON.stringify(load.accepted, undefined, 1)}\n`,
      );
      if (keeps) {
        const file = join(project, 'test/faults/results/cluster.json');
        writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
      }
      return violations.length;
    } finally {
      await service.stop();
    }
  } finally {
    await cluster.stop();
  }
};
