/**
 * `npm run faults -- --measure`: what is not promised, in numbers.
 *
 * Clients get requests acknowledged as fast as they can, then something happens to Redis that the
 * service cannot make good, and what was acknowledged is looked for. The first row is the promise
 * itself, as a control.
 *
 * Power cannot be cut here. What it takes is emulated: Redis is killed, and the append-only file is
 * cut back to what it was one second before, since with `everysec` nothing younger is sure to have
 * reached the disk. On one machine a replica that takes over has also what the dead primary's
 * kernel still sends; a distant one is emulated by a slow link that is cut at the same moment.
 */
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { signRequest } from '../support/requests.ts';
import { call } from './caller.ts';
import { openOperator } from './operator.ts';
import { applicationId, numberOf } from './people.ts';
import { createRandom } from './random.ts';
import type { RedisNode } from './redis-node.ts';
import { type Stage, type StageOptions, startStage } from './stage.ts';

type Disaster = (stage: Stage, sizes: Sizes) => Promise<void>;

interface Scenario {
  readonly name: string;
  readonly stage: Pick<StageOptions, 'appendfsync' | 'replicationDelayMs'>;
  readonly strike: Disaster;
}

/** The length of the append-only file over time. */
interface Sizes {
  /** @param at Milliseconds since the epoch. */
  at(at: number): number;
  stop(): void;
}

const appendOnlyFile = ({ directory }: RedisNode): string => {
  const folder = join(directory, 'appendonlydir');
  const name = readdirSync(folder).findLast((file) => file.includes('.incr.'));
  if (name === undefined) throw new Error('There is no append-only file');
  return join(folder, name);
};

const watchSize = (node: RedisNode): Sizes => {
  const seen: { readonly at: number; readonly bytes: number }[] = [];
  const timer = setInterval(
    () => seen.push({ at: Date.now(), bytes: statSync(appendOnlyFile(node)).size }),
    10,
  );
  return {
    at: (at) => seen.findLast((sample) => sample.at <= at)?.bytes ?? 0,
    stop: () => clearInterval(timer),
  };
};

const killAndRestart: Disaster = async (stage) => {
  await stage.primary().kill();
  await stage.primary().start();
};

const losePower: Disaster = async (stage, sizes) => {
  const node = stage.primary();
  await node.kill();
  truncateSync(appendOnlyFile(node), sizes.at(Date.now() - 1000));
  await node.start();
};

const failOver: Disaster = (stage) => stage.failOver();

const scenarios: readonly Scenario[] = [
  { name: 'always, Redis killed', stage: { appendfsync: 'always' }, strike: killAndRestart },
  { name: 'everysec, Redis killed', stage: { appendfsync: 'everysec' }, strike: killAndRestart },
  {
    name: 'everysec, power lost (emulated)',
    stage: { appendfsync: 'everysec' },
    strike: losePower,
  },
  { name: 'replica takes over, same machine', stage: { appendfsync: 'always' }, strike: failOver },
  ...[100, 1000].map((replicationDelayMs) => ({
    name: `replica takes over, ${replicationDelayMs} ms behind`,
    stage: { appendfsync: 'always', replicationDelayMs } as const,
    strike: failOver,
  })),
];

const callers = 24;
const loadMs = 2500;

interface Round {
  readonly acknowledged: number;
  readonly perSecond: number;
  readonly lost: number;
  /** How long before the disaster the oldest of what was lost had been acknowledged. */
  readonly lostMs: number;
}

const playRound = async (
  scenario: Scenario,
  dist: string,
  directory: string,
  seed: string,
): Promise<Round> => {
  rmSync(directory, { recursive: true, force: true });
  const stage = await startStage({
    ...scenario.stage,
    directory,
    seed,
    dist,
    workers: 1,
    onWorkerLine: () => undefined,
    onCrash: () => undefined,
  });
  try {
    const random = createRandom(seed);
    const sizes = watchSize(stage.primary());
    const acknowledged = new Map<string, number>();
    let going = true;
    const caller = async (index: number): Promise<void> => {
      const url = stage.apis[index % stage.apis.length]?.url ?? '';
      while (going) {
        const body = signRequest({
          mode: 'asynch',
          msisdn: numberOf('robot', random),
          apId: applicationId,
        });
        const told = await call(url, 'sign', body, { withinMs: 5000, asynch: true });
        if (going && told.kind === 'accepted') acknowledged.set(told.id, Date.now());
      }
    };
    const load = Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
    await delay(loadMs);
    const struckAt = Date.now();
    going = false;
    await scenario.strike(stage, sizes);
    sizes.stop();
    await load;
    const operator = openOperator(stage.operatorUrl);
    while ((await operator.everyId().catch(() => undefined)) === undefined) await delay(100);
    const there = new Set(await operator.everyId());
    await operator.close();
    const lost = [...acknowledged].filter(([id]) => !there.has(id));
    const oldest = Math.min(struckAt, ...lost.map(([, at]) => at));
    return {
      acknowledged: acknowledged.size,
      perSecond: Math.round((acknowledged.size * 1000) / loadMs),
      lost: lost.length,
      lostMs: struckAt - oldest,
    };
  } finally {
    await stage.stop();
  }
};

/** What a measurement leaves in test/faults/results. */
export interface Measured {
  readonly cores: number;
  readonly rows: readonly {
    readonly name: string;
    readonly rounds: number;
    readonly acknowledgedPerSecond: number;
    readonly lostMedian: number;
    readonly lostMost: number;
    readonly lostMsMost: number;
  }[];
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

export const measure = async (options: {
  readonly dist: string;
  readonly project: string;
  readonly rounds: number;
  readonly say: (text: string) => void;
}): Promise<void> => {
  const { dist, project, rounds, say } = options;
  const rows: Measured['rows'][number][] = [];
  for (const scenario of scenarios) {
    const played: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const directory = join(project, '.cache', 'faults', 'measure');
      played.push(await playRound(scenario, dist, directory, `${scenario.name} ${round}`));
    }
    const row = {
      name: scenario.name,
      rounds,
      acknowledgedPerSecond: median(played.map(({ perSecond }) => perSecond)),
      lostMedian: median(played.map(({ lost }) => lost)),
      lostMost: Math.max(...played.map(({ lost }) => lost)),
      lostMsMost: Math.max(...played.map(({ lostMs }) => lostMs)),
    };
    rows.push(row);
    say(
      `${row.name}: ${row.acknowledgedPerSecond} acknowledged/s; lost ${row.lostMedian} (median), ${row.lostMost} (most), none older than ${row.lostMsMost} ms`,
    );
  }
  const results = join(project, 'test/faults/results');
  mkdirSync(results, { recursive: true });
  const measured: Measured = { cores: availableParallelism(), rows };
  writeFileSync(join(results, 'measured.json'), `${JSON.stringify(measured, undefined, 2)}\n`);
};
