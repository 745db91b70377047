/**
 * An application that starts processes of random shape and follows each to its end, and the people
 * in them: some press Sign on their page, decline, are asked again. Some processes are cancelled.
 * What the application was told is kept apart from the service.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessOutput, ProcessView } from '../../parts/processes/charts/process-report.ts';
import type { Evidence as EvidenceRecord } from '../../parts/processes/evidence/evidence.ts';
import { verifyEvidence } from '../../parts/processes/evidence/verify-evidence.ts';
import { workflowCalls } from './http.ts';
import type { Operator } from './operator.ts';
import { processesId } from './people.ts';
import { type Shape, shapeFor } from './process-shapes.ts';
import type { Random } from './random.ts';

/** The answer of `GET /workflows/process/{id}`. */
export interface Answer {
  readonly status: 'open' | 'completed' | 'failed' | 'cancelled';
  readonly context?: ProcessView;
  readonly output?: ProcessOutput;
  readonly createdAt: string;
  readonly endedAt?: string;
  readonly reason?: string;
}

/** One look; milliseconds since the epoch. */
export interface Seen {
  readonly from: number;
  readonly to: number;
  /** Of HTTP; 0 when there was no answer. */
  readonly status: number;
  readonly answer?: Answer | undefined;
}

export interface Order {
  readonly what: 'cancel' | 'again' | 'press' | 'decline';
  /** Index in the definition. */
  readonly step?: number;
  readonly key?: string;
  readonly from: number;
  /** HTTP status, or what the operator was told. */
  readonly result: string;
}

/** What is known of one process, without looking into the service. */
export interface ProcessRun {
  readonly id: string;
  /** The definition. */
  readonly shape: Shape;
  readonly startedAt: number;
  acknowledgedAt?: number;
  readonly seen: Seen[];
  readonly orders: Order[];
  /** The last look, when there was nothing left to wait for. */
  final?: Seen;
  /** Its evidence, as anybody can read it; or what is wrong with it. */
  evidence?: EvidenceRecord | { readonly problems: readonly string[] };
}

const call = workflowCalls(processesId, 'process');

const request = async (url: string, method: string, path: string, body?: object): Promise<Seen> => {
  const { from, to, status, body: answer } = await call(url, method, path, body);
  return { from, to, status, ...(status >= 200 && status < 300 && { answer }) };
};

const isEnded = ({ answer }: Seen): boolean =>
  answer?.status !== undefined && answer.status !== 'open';
const lookEveryMs = 500;

/** How long an application tries to start a process that nobody has taken. */
const startMs = 20_000;
/** Longer than any process of any shape takes, also when it compensates. */
const followMs = 60_000;

interface Options {
  readonly urls: readonly string[];
  readonly operator: Operator;
  readonly random: Random;
  /** A new process so often. */
  readonly everyMs: number;
  readonly tell: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

const follow = async (run: ProcessRun, { urls, operator, random }: Options): Promise<void> => {
  const post = (body: object, path = '') => request(random.pick(urls), 'POST', path, body);
  const start = { id: run.id, input: run.shape };
  for (const until = run.startedAt + startMs; run.acknowledgedAt === undefined; await delay(300)) {
    const seen = await post(start);
    if (
      seen.answer === undefined &&
      Date.now() < until &&
      seen.status !== 400 &&
      seen.status !== 409
    )
      continue;
    run.seen.push(seen);
    if (seen.answer === undefined) return;
    run.acknowledgedAt = seen.to;
  }
  if (random.chance(0.1)) run.seen.push(await post(start));

  const order = async (
    what: Order['what'],
    step: number,
    name: string,
    key: string,
  ): Promise<void> => {
    const from = Date.now();
    const about = { what, step, key, from };
    if (what === 'again') {
      const body = { type: 'AGAIN', step: name, key };
      const { status } = await post(body, `/${run.id}/events`);
      run.orders.push({ ...about, result: String(status) });
      return;
    }
    const event = { type: what === 'press' ? 'SIGN' : 'DECLINE' } as const;
    // The compensation tells somebody before its step.
    const place = step + (step < run.shape.steps.length ? 0 : 1);
    const result = await operator.tellSigner(run.id, { step: place, key }, event);
    run.orders.push({ ...about, result: typeof result === 'string' ? result : result.problem });
  };

  const cancel = async (): Promise<void> => {
    const from = Date.now();
    const { status } = await request(random.pick(urls), 'DELETE', `/${run.id}?reason=faults`);
    run.orders.push({ what: 'cancel', from, result: String(status) });
  };

  const isToCancel = random.chance(0.1);
  for (const until = Date.now() + followMs; Date.now() < until; await delay(lookEveryMs)) {
    const seen = await request(random.pick(urls), 'GET', `/${run.id}`);
    run.seen.push(seen);
    if (isEnded(seen)) return;
    const steps = seen.answer?.context?.steps ?? [];
    const index = steps.findIndex(({ state }) => state === 'open');
    const ask = run.shape.steps[index]?.ask;
    const { name = '', signers = [] } = steps[index] ?? {};
    for (const { key, state } of signers) {
      const isOnPage = state === 'open' && ask !== 'now';
      if (isOnPage && random.chance(0.3)) await order('press', index, name, key);
      else if (state === 'open' && random.chance(0.02)) await order('decline', index, name, key);
      else if (state === 'rests' && random.chance(0.3)) await order('again', index, name, key);
    }
    if (isToCancel && random.chance(0.2)) await cancel();
  }
};

/** Resolves when each process was followed to its end, or for long enough. */
export const runProcesses = async (options: Options): Promise<readonly ProcessRun[]> => {
  const { random, everyMs, tell, until } = options;
  const runs: ProcessRun[] = [];
  const following: Promise<void>[] = [];
  while (everyMs > 0 && Date.now() < until) {
    const id = `p-${runs.length + 1}`;
    const own = random.branch(id);
    const startedAt = Date.now();
    const run: ProcessRun = {
      id,
      shape: shapeFor(own, id, startedAt, tell),
      startedAt,
      seen: [],
      orders: [],
    };
    runs.push(run);
    following.push(follow(run, { ...options, random: own }));
    await delay(random.between(0, 2 * everyMs));
  }
  await Promise.all(following);
  return runs;
};

/** Looks at each process for the last time, and verifies its evidence as a third party does. */
export const lookAgain = async (
  runs: readonly ProcessRun[],
  url: string,
  roots: readonly Uint8Array[],
): Promise<void> => {
  for (const run of runs) {
    run.final = await request(url, 'GET', `/${run.id}`);
    const { evidence } = run.final.answer?.output ?? {};
    if (evidence === undefined) continue;
    const verified = await verifyEvidence(evidence, { serviceRoots: roots, definition: run.shape });
    run.evidence = verified.ok
      ? verified.evidence
      : { problems: verified.problems.map(({ message }) => message) };
  }
};
