/**
 * `npm run overload [-- --small]`: ten times the capacity, and then a flood of wrong passwords
 * (passwords.ts).
 *
 * The capacity is measured first: outcomes per second when 64 requests are always in hand. Then ten
 * times as many requests are offered, due or not answered. What is accepted must end, the rest must
 * be refused at once and in the words that mean that nothing was accepted, and both must take a
 * time that is bounded. Last, one application sends texts to a gateway that hangs, and another must
 * not notice (hanging-gateway.ts). Prints tables and ratios, writes
 * test/overload/results/latest.json; exits with 1 when something of this does not hold.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startParaph } from '../../bench/harness/paraph.ts';
import { startBenchRedis } from '../../bench/harness/redis.ts';
import { textTable } from '../../bench/harness/report.ts';
import { readableJson } from '../../scripts/generated-file.ts';
import { allEnd, endsOf } from './ends.ts';
import { judgeHangingGateway, measureHangingGateway } from './hanging-gateway.ts';
import { type LoadResult, startLoader } from './load.ts';
import { measurePasswordFlood } from './passwords.ts';
import { signKind, statusKind } from './requests.ts';

const small = process.argv.includes('--small');
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** What is offered, as a multiple of the capacity. */
const factor = 10;
/**
 * How much of the capacity may wait, in seconds: what an operator would choose `queue.maxWaiting`
 * by.
 */
const backlogSeconds = 2;
const measureMs = small ? 4000 : 10_000;
const overloadMs = small ? 8000 : 30_000;

const stops: (() => Promise<unknown>)[] = [];

const measure = async () => {
  const redis = await startBenchRedis();
  stops.push(redis.stop);
  const loader = await startLoader();
  stops.push(loader.stop);
  const start = async (part: 'api' | 'worker', configuration = {}) => {
    const started = await startParaph({ part, redisUrl: redis.url, configuration });
    stops.push(started.stop);
    return started;
  };
  await start('worker');
  const open = await start('api');

  say('warming up');
  const closed = (
    mode: 'synch' | 'asynch',
    connections: number,
    durationMs: number,
    url = open.url,
  ) => loader.ask({ url, kinds: [signKind(mode, 1)], durationMs, connections, wantsIds: true });
  await closed('synch', 64, 3000);
  say('measuring the capacity');
  const began = Date.now();
  const full = await closed('asynch', 64, measureMs);
  if (!(await allEnd(redis, 60_000)))
    throw new Error('The capacity cannot be measured: not everything has ended');
  const fullEnds = await endsOf(redis, full.ids);
  const capacity = fullEnds.signed / ((fullEnds.lastAt - began) / 1000);
  const unloaded = await closed('asynch', 1, measureMs / 4);
  await allEnd(redis, 10_000);
  const unloadedEnds = await endsOf(redis, unloaded.ids);

  const maxWaiting = Math.ceil(capacity * backlogSeconds);
  await open.stop();
  const api = await start('api', { queue: { maxWaiting } });
  await closed('synch', 64, 2000, api.url);
  const offered = factor * capacity;
  const overloadedAt = Date.now();
  say(
    `offering ${Math.round(offered)} requests a second, of which about ${Math.round(capacity)} can be served`,
  );
  const load = await loader.ask({
    url: api.url,
    kinds: [signKind('asynch', 0.99), statusKind(0.01)],
    perSecond: offered,
    durationMs: overloadMs,
    connections: 2000,
    wantsIds: true,
  });
  say('waiting for what was accepted');
  const ended = await allEnd(redis, 120_000);
  const ends = await endsOf(redis, load.ids);
  say('and whether it is itself again');
  const after = await closed('synch', 8, 2000, api.url);
  await api.stop();
  const passwords = await measurePasswordFlood((configuration) => start('api', configuration), {
    durationMs: measureMs,
    say,
  });
  const gateway = await measureHangingGateway({
    loader,
    durationMs: measureMs,
    say,
    started: (stop) => stops.push(stop),
  });
  return {
    passwords,
    capacity,
    unloaded,
    unloadedEnds,
    maxWaiting,
    offered,
    overloadedAt,
    load,
    ended,
    ends,
    after,
    gateway,
  };
};

type Measured = Awaited<ReturnType<typeof measure>>;

const faultsOf = ({ kinds }: LoadResult): Readonly<Record<string, number>> => {
  const sums: Record<string, number> = {};
  for (const { faults } of Object.values(kinds))
    for (const [words, count] of Object.entries(faults)) sums[words] = (sums[words] ?? 0) + count;
  return sums;
};

const brokenOf = ({ kinds }: LoadResult): number =>
  Object.values(kinds).reduce((sum, { broken }) => sum + broken, 0);

const judge = (measured: Measured) => {
  const {
    capacity,
    unloaded,
    unloadedEnds,
    maxWaiting,
    offered,
    overloadedAt,
    load,
    ended,
    ends,
    after,
  } = measured;
  const gateway = judgeHangingGateway(measured.gateway);
  const sign = load.kinds.asynch;
  const status = load.kinds.status;
  if (sign === undefined || status === undefined) throw new Error('Nothing was sent');
  const goodput = ends.signed / ((ends.lastAt - overloadedAt) / 1000);
  /**
   * A queue that is full, at the rate at which it was emptied, and as long again for what lies
   * outside the queue.
   */
  const boundMs = 2 * (maxWaiting / goodput) * 1000 + 1000;
  const ratios = {
    offered: load.sent / load.seconds / capacity,
    accepted: sign.served.count / (sign.served.count + sign.refused.count),
    goodput: goodput / capacity,
    refusalP99: sign.refused.p99Ms / (unloaded.kinds.asynch?.served.p50Ms ?? Number.NaN),
    acceptedP50: ends.latency.p50Ms / Math.max(1, unloadedEnds.latency.p50Ms),
    acceptedP99: ends.latency.p99Ms / Math.max(1, unloadedEnds.latency.p99Ms),
    acceptedP99OfBound: ends.latency.p99Ms / boundMs,
    hangingGatewayP50: gateway.ratio,
  };
  const faults = faultsOf(load);
  const problems = [
    ...(ended && ends.missing.length === 0
      ? []
      : [`${ends.missing.length} accepted transactions have not ended`]),
    ...Object.entries(ends.failed).map(
      ([reason, count]) => `${count} accepted transactions ended with ${reason}`,
    ),
    ...Object.entries(faults).map(([words, count]) => `${count} requests were answered ${words}`),
    ...(brokenOf(load) === 0 ? [] : [`${brokenOf(load)} connections ended without an answer`]),
    ...(sign.refused.count > 0 ? [] : ['nobody was refused: this was no overload']),
    ...(status.refused.count === 0 ? [] : [`${status.refused.count} status requests were refused`]),
    ...(sign.refused.p99Ms <= 1000 ? [] : ['refusals took more than a second (p99)']),
    ...(sign.served.p99Ms <= 5000 ? [] : ['acceptances took more than five seconds (p99)']),
    ...(ends.latency.p99Ms <= boundMs
      ? []
      : ['what was accepted took longer than a full queue explains (p99)']),
    ...(Object.keys(faultsOf(after)).length === 0 && (after.kinds.synch?.refused.count ?? 0) === 0
      ? []
      : ['it was not itself again afterwards']),
    ...gateway.problems,
  ];
  const ms = ({ p50Ms, p99Ms, maxMs }: { p50Ms: number; p99Ms: number; maxMs: number }) => [
    p50Ms,
    p99Ms,
    maxMs,
  ];
  const table = {
    title: `Capacity ${Math.round(capacity)} signatures a second; due ${Math.round(offered)}, sent ${Math.round(load.sent / load.seconds)} (the others found all connections waiting); at most ${maxWaiting} may wait for a worker`,
    columns: ['what', 'count', 'p50 ms', 'p99 ms', 'max ms'],
    rows: [
      ['accepted: until the answer', sign.served.count, ...ms(sign.served)],
      ['accepted: until the outcome', ends.latency.count, ...ms(ends.latency)],
      ['refused: until the answer', sign.refused.count, ...ms(sign.refused)],
      ['status meanwhile', status.served.count, ...ms(status.served)],
      [
        'unloaded: until the answer',
        unloadedEnds.latency.count,
        ...ms(unloaded.kinds.asynch?.served ?? sign.served),
      ],
      ['unloaded: until the outcome', unloadedEnds.latency.count, ...ms(unloadedEnds.latency)],
    ],
  };
  return { ratios, tables: [table, gateway.table], problems };
};

const explainedOverload = {
  offered: 'requests sent per second / capacity',
  accepted: 'signature requests accepted / sent',
  goodput: 'outcomes per second under overload / capacity',
  refusalP99: 'time to a refusal (p99) / time to an acceptance without load (p50)',
  acceptedP50: 'accepted until outcome, p50: under overload / without load',
  acceptedP99: 'accepted until outcome, p99: under overload / without load',
  acceptedP99OfBound: 'accepted until outcome, p99 / the time that a full queue explains',
  hangingGatewayP50:
    'synchronous request (p50): beside 1000 texts of another to a hanging gateway / alone',
};

let exitCode = 1;
try {
  const when = new Date().toISOString();
  const measured = await measure();
  const { passwords } = measured;
  const overload = judge(measured);
  const explained: Readonly<Record<string, string>> = {
    ...explainedOverload,
    ...passwords.explained,
  };
  const ratios = { ...overload.ratios, ...passwords.ratios };
  const tables = [...overload.tables, passwords.table];
  const problems = [...overload.problems, ...passwords.problems];
  const lines = Object.entries(ratios).map(
    ([name, value]) => `${name} ${value.toPrecision(3)}  ${explained[name]}`,
  );
  process.stdout.write(`${tables.map(textTable).join('\n\n')}\n\n${lines.join('\n')}\n\n`);
  process.stdout.write(
    problems.length === 0
      ? 'Everything that was accepted has ended, the rest was told, and wrong passwords shut nobody out.\n'
      : `${problems.join('\n')}\n`,
  );
  const path = join(import.meta.dirname, 'results/latest.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, readableJson({ when, small, explained, ratios, tables, problems }));
  exitCode = problems.length === 0 ? 0 : 1;
} finally {
  for (const stop of stops.reverse()) await stop().catch((error: unknown) => say(String(error)));
}
process.exit(exitCode);
