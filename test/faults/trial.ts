/**
 * One run: put the service on its stage, let the clients and the nemesis at it, heal everything,
 * wait until everything is due, gather the evidence and judge it.
 */
import { X509Certificate } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { statusRequest } from '../support/requests.ts';
import { enrolPhones, usePhones } from './browser-phones.ts';
import { call, serialNumbersOf } from './caller.ts';
import { judge } from './checker.ts';
import { callbackChecks } from './checks/callbacks.ts';
import { type Mix, runClients } from './clients.ts';
import { type Evidence, type FinalJob, finalJob, type Violation } from './evidence.ts';
import { openJournal, type Told } from './journal.ts';
import { type LoadName, runLoads } from './loads/loads.ts';
import { createNemesis, type InjectedFault } from './nemesis.ts';
import { type News, type Operator, openOperator } from './operator.ts';
import { applicationId, configurationFor, everyNumberOf, publicUrl } from './people.ts';
import { lookAgain, type ProcessRun, runProcesses } from './process-clients.ts';
import { createRandom } from './random.ts';
import type { PlannedFault } from './schedule.ts';
import { type Stage, startStage } from './stage.ts';
import { createWitness } from './witness.ts';

export interface TrialOptions {
  readonly seed: string;
  readonly plan: readonly PlannedFault[];
  readonly durationMs: number;
  readonly mix: Mix;
  readonly clients: number;
  readonly pauseMs: number;
  /** Pause between the starts of two processes, on average; 0 for none. */
  readonly processEveryMs: number;
  readonly loads: readonly LoadName[];
  readonly workers: number;
  readonly dist: string;
  /** Another release, which all processes begin with (`--focus upgrade`). */
  readonly otherDist?: string | undefined;
  readonly directory: string;
}

export interface TrialResult {
  readonly evidence: Evidence;
  readonly violations: readonly Violation[];
}

/** The longest TimeOut that any client uses, and what the service needs to notice its end. */
const drainMs = 12_000 + 15_000;
const newsEveryMs = 300;

/** Reads what the queues say until it is told to stop; Redis may be away meanwhile. */
const followNews = (operator: Operator) => {
  const timeline = new Map<string, News[]>();
  const read = async (): Promise<void> => {
    for (const news of await operator.news())
      timeline.set(news.id, [...(timeline.get(news.id) ?? []), news]);
  };
  let going = true;
  const reading = (async () => {
    while (going) {
      await read().catch(() => undefined);
      await delay(newsEveryMs);
    }
  })();
  return {
    timeline,
    stop: async () => {
      going = false;
      await reading;
      await read();
    },
  };
};

const waitUntilDrained = async (operator: Operator): Promise<Evidence['stuck']> => {
  for (const from = Date.now(); ; ) {
    const open = await operator.open().catch(() => undefined);
    if (open !== undefined && (open.length === 0 || Date.now() - from > drainMs)) return open;
    await delay(250);
  }
};

const starvedIn = ({ waits }: Stage): readonly InjectedFault[] =>
  waits().map(({ process, from, to }) => ({
    kind: 'starved',
    target: process,
    amount: 0,
    from,
    to,
  }));

/** A callback that a dead worker had in hand is posted half a minute later. */
const callbacksMs = 45_000;

/** Until the end of each process and chart was told, or should have been. */
const waitUntilTold = async (
  { gateway }: Stage,
  runs: readonly (Pick<ProcessRun, 'id'> & { readonly acknowledgedAt?: number })[],
): Promise<void> => {
  for (const from = Date.now(); Date.now() - from < callbacksMs; await delay(250)) {
    const told = new Set([
      ...gateway.messages.flatMap(({ type, data }) =>
        type === 'process.end' ? [data.process] : [],
      ),
      ...gateway.ends.map(({ data }) => data.id),
    ]);
    if (runs.every(({ id, acknowledgedAt }) => acknowledgedAt === undefined || told.has(id)))
      return;
  }
};

const inParallel = async <T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const left = [...items];
  const hand = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
};

const lastStatuses = async (
  stage: Stage,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Told>> => {
  const finals = new Map<string, Told>();
  await inParallel(ids, 8, async (id) => {
    const api = stage.apis[finals.size % stage.apis.length];
    const body = statusRequest(id, applicationId);
    // Fault 900 may be said of the call: then the next one says more.
    for (let tries = 0; tries < 3; tries += 1) {
      const told = await call(api?.url ?? '', 'status', body, { withinMs: 15_000 });
      finals.set(id, told);
      if (told.kind !== 'fault' || told.code !== 900) break;
      await delay(500);
    }
  });
  return finals;
};

/** What the service says whose certificates a number has: asked when all is over. */
const peopleOf = async (
  { apis: [api] }: Stage,
  msisdns: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const people = new Map<string, readonly string[]>();
  await inParallel(msisdns, 8, async (msisdn) => {
    people.set(msisdn, await serialNumbersOf(api?.url ?? '', msisdn));
  });
  return people;
};

/** Until the application was told of all ends, or should have been. */
const waitUntilNoticed = async (evidence: () => Evidence): Promise<void> => {
  for (const from = Date.now(); Date.now() - from < callbacksMs; await delay(500))
    if (callbackChecks.every((check) => [...check(evidence())].length === 0)) return;
};

const rootsOf = async (stage: Stage): Promise<readonly Uint8Array[]> => {
  const pem = await (await fetch(`${stage.apis[0]?.url}/pki/root.pem`)).text();
  return [Uint8Array.from(new X509Certificate(pem).raw)];
};

/**
 * Runs to the end whatever happens to the service.
 * @throws When the stage itself cannot be set up.
 */
export const runTrial = async (options: TrialOptions): Promise<TrialResult> => {
  const { seed, plan, durationMs, directory, dist, workers } = options;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const random = createRandom(seed);
  const journal = openJournal(join(directory, 'journal.jsonl'));
  const crashes: string[] = [];
  let operator: Operator | undefined;
  const witness = createWitness(() => operator);
  const stage = await startStage({
    directory,
    seed,
    dist,
    workers,
    onWorkerLine: witness.hear,
    onCrash: (name) => crashes.push(name),
  });
  try {
    const roots = await rootsOf(stage);
    operator = openOperator(stage.operatorUrl);
    const news = followNews(operator);
    const nemesis = createNemesis(stage);
    const urls = stage.apis.map(({ url }) => url);
    const token = options.loads.includes('bulks') ? await stage.issueToken() : '';
    const inHands = random.branch('phones');
    const enrolled = await enrolPhones({
      urls,
      redisUrl: stage.operatorUrl,
      masterKey: stage.masterKey,
      random: inHands,
      configuration: configurationFor({ gatewayUrl: 'http://127.0.0.1:1' }),
      publicUrl,
      msisdns: everyNumberOf('browser'),
    });
    const away = new AbortController();
    const phones = usePhones(enrolled, inHands, away.signal);
    const until = Date.now() + durationMs;
    const clients = runClients({
      urls,
      operator,
      journal,
      random: random.branch('clients'),
      clients: options.clients,
      pauseMs: options.pauseMs,
      mix: options.mix,
      until,
    });
    const processes = runProcesses({
      urls,
      operator,
      until,
      everyMs: options.processEveryMs,
      tell: stage.gateway.callbackUrl,
      random: random.branch('processes'),
    });
    const loads = runLoads(stage, {
      urls,
      journal,
      until,
      names: options.loads,
      random: random.branch('loads'),
      token,
    });
    await nemesis.run(plan);
    await delay(Math.max(0, until - Date.now()));
    await nemesis.heal();
    const healedAt = Date.now();
    await clients;
    const runs = await processes;
    const { charts, look } = await loads;
    const stuck = await waitUntilDrained(operator);
    away.abort();
    await waitUntilTold(stage, [...runs, ...charts]);
    await lookAgain(runs, stage.apis[0]?.url ?? '', roots);
    const looked = await look();
    await news.stop();
    await witness.settled();

    const known = new Set<string>();
    for (const { told } of journal.entries)
      if ('id' in told && told.id !== undefined) known.add(told.id);
    const jobs = new Map<string, FinalJob>();
    for (const id of await operator.everyId()) jobs.set(id, finalJob(id, await operator.read(id)));
    const finals = await lastStatuses(stage, [...known]);
    const signed = [...finals].flatMap(([id, { kind }]) => (kind === 'signed' ? [id] : []));
    const msisdns = new Set(signed.flatMap((id) => jobs.get(id)?.msisdn ?? []));
    const evidence: Evidence = {
      journal: journal.entries,
      faults: nemesis.injected,
      healedAt,
      jobs,
      timeline: news.timeline,
      finals,
      get notices() {
        return stage.gateway.notices;
      },
      people: await peopleOf(stage, [...msisdns]),
      stuck,
      asked: witness.asked,
      clashes: witness.clashes,
      deliveries: stage.gateway.deliveries,
      phones: await phones,
      crashes,
      processes: {
        runs,
        messages: stage.gateway.messages,
        instances: await operator.instances(),
        starved: starvedIn(stage),
      },
      loads: looked,
      roots,
    };
    await waitUntilNoticed(() => evidence);
    const violations = judge(evidence);
    const keep = (name: string, content: unknown): void =>
      writeFileSync(join(directory, name), `${JSON.stringify(content, undefined, 1)}\n`);
    keep('plan.json', plan);
    keep('faults.json', evidence.faults);
    keep('asked.json', evidence.asked);
    keep('timeline.json', Object.fromEntries(evidence.timeline));
    keep('jobs.json', [...evidence.jobs.values()]);
    keep('deliveries.json', evidence.deliveries);
    keep('phones.json', evidence.phones);
    keep('processes.json', evidence.processes);
    keep('loads.json', evidence.loads);
    keep('violations.json', violations);
    return { evidence, violations };
  } finally {
    await operator?.close();
    await stage.stop();
    for (const name of ['redis-1', 'redis-2'])
      rmSync(join(directory, name), { recursive: true, force: true });
  }
};
