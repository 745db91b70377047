/**
 * Runs that aim at one weakness, and builds in which that weakness was made on purpose: a fault
 * test that cannot fail proves nothing, so it is tried on a product that is known to be broken.
 * Mutants are patches of the compiled product.
 *
 * The worker whose late write is held back is killed before its bytes go on: alive, it wrote the
 * end itself over its mistake, and two runs of three passed without the fence.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { habits, type Mix } from './clients.ts';
import type { LoadName } from './loads/loads.ts';
import type { PlannedFault } from './schedule.ts';

export interface Focus {
  readonly durationMs: number;
  readonly plan: readonly PlannedFault[];
  readonly mix: Mix;
  readonly clients: number;
  readonly pauseMs: number;
  readonly processEveryMs: number;
  readonly loads: readonly LoadName[];
}

const again = (
  times: number,
  everyMs: number,
  fault: Omit<PlannedFault, 'atMs'>,
): readonly PlannedFault[] =>
  Array.from({ length: times }, (_, index) => ({ ...fault, atMs: 500 + index * everyMs }));

/** Each process in turn gets the other release, five seconds after the one before. */
const swaps = (fromMs: number, kinds: readonly ('swap-worker' | 'swap-api')[]) =>
  kinds.map((kind, index) => ({
    kind,
    atMs: fromMs + index * 5000,
    target: kinds.slice(0, index).filter((before) => before === kind).length,
    forMs: 0,
    amount: 0,
  }));
const workersThenApis = [
  'swap-worker',
  'swap-worker',
  'swap-worker',
  'swap-api',
  'swap-api',
] as const;

/** A job of the callbacks is added: its name as BullMQ packs it, and its data. */
const addingCallbacks = /\u00a8callback.{0,300}\{"msspTransId"/s;

/** The replay of a transaction by the order of a bulk (src/transactions/jobs/replay-once.ts). */
const replayingOfBulk = /"order":"B[0-9a-f]{16}"\}/;

const deaths = [0, 1, 2].flatMap((target, index) =>
  again(2, 12_000, { kind: 'kill-worker', target, forMs: 500, amount: 0 }).map((fault) => ({
    ...fault,
    atMs: fault.atMs + index * 4000,
  })),
);

const onlyLoad = (name: LoadName, durationMs: number, plan: readonly PlannedFault[]): Focus => ({
  durationMs,
  plan,
  mix: {},
  clients: 0,
  pauseMs: 0,
  processEveryMs: 0,
  loads: [name],
});

export const focuses = {
  /** What a worker writes of a job arrives when another has taken the job to its end. */
  fence: {
    durationMs: 5000,
    plan: [
      { kind: 'hold-in-step', atMs: 500, target: 0, forMs: 20_000, amount: 0 },
      { kind: 'hold-in-step', atMs: 500, target: 1, forMs: 20_000, amount: 0 },
    ],
    mix: { 'a phone lies still': 1 },
    clients: 4,
    pauseMs: 300,
    processEveryMs: 0,
    loads: [],
  },
  /**
   * Answers come while a job is on its way to sleep, which takes long because the network is slow.
   */
  recheck: {
    durationMs: 5000,
    plan: again(1, 0, { kind: 'slow-everybody', target: 0, forMs: 5000, amount: 30 }),
    mix: { 'an answer comes at once': 1 },
    clients: 6,
    pauseMs: 300,
    processEveryMs: 0,
    loads: [],
  },
  /**
   * Nobody hears Redis for so long that requests are refused, and then all bytes arrive, also those
   * of connections that were given up. Later the APIs' connections fall silent for good.
   */
  silence: {
    durationMs: 11_500,
    plan: [
      { kind: 'hold-everybody', atMs: 500, target: 0, forMs: 3000, amount: 0 },
      { kind: 'dead-peer-api', atMs: 4500, target: 0, forMs: 5000, amount: 0 },
      { kind: 'dead-peer-api', atMs: 4500, target: 1, forMs: 5000, amount: 0 },
    ],
    mix: { 'a robot signs, asynch': 1 },
    clients: 6,
    pauseMs: 200,
    processEveryMs: 0,
    loads: [],
  },
  /** One application adds thousands of requests at once; others go on asking. */
  turns: {
    durationMs: 6000,
    plan: again(1, 0, { kind: 'flood', target: 0, forMs: 0, amount: 1200 }),
    mix: { 'a robot signs, asynch': 1 },
    clients: 4,
    pauseMs: 100,
    processEveryMs: 0,
    loads: [],
  },
  /** Redis is full for so long that what is due has failed again and again; then there is room. */
  heal: {
    durationMs: 30_000,
    plan: again(1, 0, { kind: 'fill-redis', target: 0, forMs: 16_000, amount: 0 }),
    mix: { 'a robot signs, asynch': 1, 'a phone lies still': 3, 'an App lies still': 1 },
    clients: 10,
    pauseMs: 300,
    processEveryMs: 0,
    loads: [],
  },
  /** Workers die with the callbacks in hand that they are about to add. */
  callbacks: {
    durationMs: 8000,
    plan: again(3, 2500, {
      kind: 'kill-in-step',
      target: 0,
      forMs: 300,
      amount: 0,
      step: addingCallbacks,
    }),
    mix: { 'a robot signs, asynch': 1 },
    clients: 6,
    pauseMs: 200,
    processEveryMs: 0,
    loads: [],
  },
  /** Workers die while people sign, step by step, and timers run. */
  processes: {
    durationMs: 15_000,
    plan: [0, 1, 2].map((target, index) => ({
      kind: 'kill-worker',
      atMs: 3000 + index * 4000,
      target,
      forMs: 500,
      amount: 0,
    })),
    mix: {},
    clients: 0,
    pauseMs: 0,
    processEveryMs: 500,
    loads: [],
  },
  /** Workers die with the replay in hand that they have noted as begun. */
  bulks: onlyLoad(
    'bulks',
    24_000,
    again(2, 0, { kind: 'kill-in-step', target: 0, forMs: 300, amount: 0, step: replayingOfBulk }),
  ),
  /** Workers die while mails are sent, and the mail server refuses some. */
  mails: onlyLoad('mails', 30_000, deaths.slice(0, 2)),
  /** APIs and workers die while documents are uploaded, signed and downloaded. */
  documents: onlyLoad('documents', 40_000, [
    ...deaths,
    ...again(3, 8000, { kind: 'kill-api', target: 0, forMs: 500, amount: 0 }),
  ]),
  /** APIs and workers die while people log in. */
  logins: onlyLoad('logins', 30_000, [
    ...deaths,
    ...again(3, 8000, { kind: 'kill-api', target: 0, forMs: 500, amount: 0 }),
  ]),
  /** Workers die while charts wait, work and tell. */
  charts: onlyLoad('charts', 40_000, deaths),
  /**
   * Processes of the last release are replaced by this one's, one after the other, taken back, and
   * replaced again, while people sign, processes run and charts wait.
   */
  upgrade: {
    durationMs: 90_000,
    plan: [
      ...swaps(4000, workersThenApis),
      ...swaps(32_000, workersThenApis.toReversed()),
      ...swaps(60_000, workersThenApis),
    ],
    mix: habits,
    clients: 8,
    pauseMs: 500,
    processEveryMs: 1500,
    loads: ['charts', 'logins'],
  },
} as const satisfies Readonly<Record<string, Focus>>;

export type FocusName = keyof typeof focuses;

interface Mutant {
  readonly focus: FocusName;
  /** A compiled file, what to look for in it, and what to put in its place. */
  readonly file: string;
  readonly find: RegExp;
  readonly put: string;
}

export const mutants = {
  /** Writes a record without looking whose lock it is. */
  'no-fence': {
    focus: 'fence',
    file: 'packages/engine/src/redis/commit-script.js',
    find: /^if redis\.call\('GET', KEYS\[2\]\) ~= token then$/m,
    put: 'if false then',
  },
  /** Falls asleep without looking for what came meanwhile. */
  'no-recheck': {
    focus: 'recheck',
    file: 'packages/engine/src/redis/commit-script.js',
    find: /^local more = .*$/m,
    put: 'local more = false',
  },
  /** Keeps connections on which nothing comes any more. */
  'no-silence': {
    focus: 'silence',
    file: 'src/redis/silence.js',
    find: /stream\.destroy\(silence\(\)\)/,
    put: 'undefined',
  },
  /** Takes in whatever arrives, however late. */
  'no-not-after': {
    focus: 'silence',
    file: 'src/redis/not-after.js',
    find: /if time and time\[1\] \* 1000 \+ time\[2\] \/ 1000 > notAfter then/,
    put: 'if false then',
  },
  /** Takes jobs in the order in which they were added. */
  'no-turns': {
    focus: 'turns',
    file: 'workers/fairness.js',
    find: /if \(!worker\.isQueueEmpty\(\)\)\s+begin\(\);/,
    put: ';',
  },
  /** Every turn that failed waits for half a minute. */
  'slow-turns': {
    focus: 'heal',
    file: 'packages/engine/src/turn.js',
    find: /errorPauseMs\(error, before\)/,
    put: '30_000',
  },
  /** Tells a client that its request is accepted before Redis has it. */
  'early-acceptance': {
    focus: 'heal',
    file: 'src/transactions/transactions.js',
    find: /return \{ msspTransId: await add\(wire, fingerprint, (newMsspTransId\(fingerprint\.shard\))\) \};/,
    put: 'const wanted = $1; add(wire, fingerprint, wanted).catch(() => undefined); return { msspTransId: wanted };',
  },
  /** Goes on in the events before it has made jobs of them. */
  'position-first': {
    focus: 'callbacks',
    file: 'parts/callbacks/follower.js',
    find: /(await addJobs\(ids\);)(\s*if \(to !== stored\)\s*await redis\.set\(positionKey, .*\);)/,
    put: '$2 $1',
  },
  /** A step begins while phones of the one before still show its prompts. */
  'no-order': {
    focus: 'processes',
    file: 'parts/processes/charts/process.machine.js',
    find: /entry: 'withdrawAll',\s*always: \{ guard: 'isClosed', /,
    put: 'always: { ',
  },
  /** Whoever takes over from a dead worker forgets the timers. */
  'no-timers': {
    focus: 'processes',
    file: 'packages/engine/src/take-job.js',
    find: /resume\(workflow\.chart, id, stored, undefined, journal\)/,
    put: 'resume(workflow.chart, id, job.stalledCounter > 0 ? { ...stored, timers: [] } : stored, undefined, journal)',
  },
  /** Forgets what a worker had begun to replay, or to cancel, when it died. */
  'begun-forgotten': {
    focus: 'bulks',
    file: 'src/console/operators/bulk-run.js',
    find: /\[undefined, 'begun'\]\.includes/,
    put: '[undefined].includes',
  },
  /** Gives a mail up that the server did not take at once. */
  'mails-once': {
    focus: 'mails',
    file: 'parts/workflows/activities/mail-activity.js',
    find: /attempts: 20,/,
    put: 'attempts: 1,',
  },
  /** Gives tokens for a code as often as it is sent. */
  'codes-again': {
    focus: 'logins',
    file: 'src/oauth/adapter.js',
    find: /consume: async \(id\) => \{/,
    put: "consume: async (id) => { if (model === 'AuthorizationCode') return;",
  },
} as const satisfies Readonly<Record<string, Mutant>>;

export type MutantName = keyof typeof mutants;

/**
 * @returns The text of the mutant's file, broken.
 * @throws When the place to break is not found: the product has changed and the mutant has to
 * follow.
 */
export const breakFile = (name: MutantName, dist: string): string => {
  const { file, find, put } = mutants[name];
  const text = readFileSync(join(dist, file), 'utf8');
  const broken = text.replace(find, put);
  if (broken === text) throw new Error(`${file} has no place for the mutant ${name}`);
  return broken;
};

/**
 * Copies the compiled product and breaks the copy.
 *
 * @returns The folder of the broken build.
 */
export const breed = (name: MutantName, dist: string, project: string, into: string): string => {
  const broken = breakFile(name, dist);
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  cpSync(dist, join(into, 'dist'), { recursive: true });
  // The program reads its version, and finds its packages, beside dist.
  cpSync(join(project, 'package.json'), join(into, 'package.json'));
  symlinkSync(join(project, 'node_modules'), join(into, 'node_modules'));
  writeFileSync(join(into, 'dist', mutants[name].file), broken);
  return join(into, 'dist');
};
