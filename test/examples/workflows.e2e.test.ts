/**
 * The charts of examples/workflows as an operator runs them: in worker processes that are killed
 * with SIGKILL in the middle of everything and started again. Each chart has a death of its own, at
 * a command about an instance of it; the seed says at which.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadCharts } from '../../parts/workflows/charts/load.ts';
import { closeShards, openShards } from '../../src/transactions/shards.ts';
import { run } from '../cli/terminal.ts';
import { createRandom } from '../faults/random.ts';
import { callerOf } from '../support/caller.ts';
import { killProcesses, startProcess } from '../support/process.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { staffStories } from './staff-stories.ts';
import { type Asked, type Story, subscribers } from './story.ts';
import { tradeStories } from './trade-stories.ts';

const redis = testRedis();
const folder = join(import.meta.dirname, '../../examples/workflows');
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.workflow.mjs'))
  .map((name) => name.replace('.workflow.mjs', ''));
const fileOf = (name: string): string => join(folder, `${name}.workflow.mjs`);

describe('examples/workflows', () => {
  it('are ten charts, all of them in the configuration and in the README', () => {
    expect(names).toHaveLength(10);
    const { workflows } = JSON.parse(readFileSync(join(folder, 'paraph.json'), 'utf8'));
    expect(workflows).toEqual(names.map((name) => `./${name}.workflow.mjs`));
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    for (const name of names) expect(readme).toContain(`](${name}.workflow.mjs)`);
  });

  it.each(names)('%s can be made durable, and ends with the events of its file', async (name) => {
    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const checked = await run(['workflow', 'check', fileOf(name)]);
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(checked.stdout).toContain('service.sign');
    const events = join(folder, `${name}.events.json`);
    const ran = await run(['workflow', 'test', fileOf(name), '--events', events, '--json'], {
      env: { REDIS_URL: redis.url },
    });
    said.mockRestore();
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    const { how, state, notes } = ran.json();
    expect({ how, state }).toEqual({ how: 'ended', state: endOfFile[name] });
    expect(notes.filter(({ kind }: Json) => kind === 'trouble')).toEqual([]);
  });
});

describe('a vote of a board', () => {
  const members = ['+41700092501', '+41700092502', '+41700092503'];
  /** The first member is not able to sign. */
  const vote = (members: readonly string[]) => {
    const directory = mkdtempSync(join(tmpdir(), 'paraph-vote-'));
    const events = join(directory, 'events.json');
    const output = { kind: 'failed', code: 402, reason: 'PIN_BLOCKED', detail: '' };
    const input = { motion: 'Budget 2027', members, need: 3 };
    writeFileSync(events, JSON.stringify({ input, answers: { sign: [{ output }] } }));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    return run(['workflow', 'test', fileOf('board-vote'), '--events', events, '--json'], {
      env: { REDIS_URL: redis.url },
    });
  };

  it('is lost at once when those who are able to vote are too few', async () => {
    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const ran = await vote(members);
    said.mockRestore();
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.json()).toMatchObject({ how: 'ended', state: 'lost' });
  });

  it('is of different people', async () => {
    const ran = await vote([...members, ...members.slice(0, 1)]);
    expect(ran.exitCode).not.toBe(0);
    expect(ran.stderr).toContain('does not take this input: members must be different people');
  });
});

/** What the events beside each file lead to. */
const endOfFile: Readonly<Record<string, string>> = {
  'access-grant': 'ended',
  'applicant-check': 'granted',
  auction: 'sold',
  'board-vote': 'carried',
  'document-approval': 'filed',
  onboarding: 'ready',
  order: 'failed',
  'payment-run': 'booked',
  purchase: 'ordered',
  release: 'rolledBack',
};

const seed = process.env.PARAPH_SEED ?? '1';
/** Every instance has more commands. */
const latestKill = 7;
/** Longer than any story takes on a machine that others use. */
const patienceMs = 120_000;
const killer = join(import.meta.dirname, 'kill-at-write.mjs');

interface Call {
  readonly id: string;
  readonly body: Json;
}

/**
 * The programs that charts call. The bank has booked a run when it is asked for the second time.
 */
const startReceiver = async (calls: Call[]): Promise<Server> => {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    const id = String(request.headers['webhook-id']);
    calls.push({ id, body });
    const asked = new Set(
      calls
        .filter((call) => call.body.action === 'status' && call.body.run === body.run)
        .map((call) => call.id),
    );
    const state = body.action === 'status' && [...asked].indexOf(id) === 1 ? 'booked' : 'pending';
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ state }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

/** By what was done, the ids under which it was done. */
const idsOf = <T>(
  all: Iterable<readonly [what: T, id: string]>,
): ReadonlyMap<T, ReadonlySet<string>> => {
  const found = new Map<T, Set<string>>();
  for (const [what, id] of all) found.set(what, (found.get(what) ?? new Set()).add(id));
  return found;
};

describe('under kill -9', () => {
  const calls: Call[] = [];
  const outputs: string[] = [];
  const verdicts = new Map<string, readonly number[]>();
  const views = new Map<string, Json>();
  const transactions: {
    readonly what: string;
    readonly signed: boolean;
    readonly ended: boolean;
  }[] = [];
  /** By the title of the story that it was in: the signal that ended the worker. */
  const deaths = new Map<string, string | null>();
  let receiver: Server;
  let product: TestProduct;
  let data = '';
  let stories: readonly Story[] = [];
  const { call } = callerOf(() => product);
  const idOf = (story: Story): string => `s-${stories.indexOf(story)}`;
  const at = (story: Story): string => `${story.of}/${idOf(story)}`;

  const look = async (story: Story): Promise<Json> => (await call('GET', at(story))).body;
  const until = async (story: Story, wanted: (view: Json) => boolean): Promise<Json> => {
    for (const limit = performance.now() + patienceMs; ; await delay(100)) {
      const view = await look(story);
      // What has ended otherwise is seen by the test of the story.
      if (wanted(view) || view.status !== 'open') return view;
      if (performance.now() > limit) throw new Error(`${story.title}: ${JSON.stringify(view)}`);
    }
  };

  /** @returns The status of the answer that was a verdict: without workers there is none. */
  const send = async (story: Story, index: number, event: object): Promise<number> => {
    const headers = { 'idempotency-key': `event-${index}` };
    for (;;) {
      const { status } = await call('POST', `${at(story)}/events`, { body: event, headers });
      if (status !== 503) return status;
    }
  };

  const tell = async (story: Story): Promise<void> => {
    const body = { id: idOf(story), input: story.input };
    expect((await call('POST', story.of, { body })).status).toBe(201);
    const statuses: number[] = [];
    verdicts.set(story.title, statuses);
    for (const [index, { when, send: event }] of (story.events ?? []).entries()) {
      await until(story, when);
      statuses.push(await send(story, index, event));
    }
    views.set(story.title, await until(story, ({ status }) => status !== 'open'));
  };

  const begun: Promise<void>[] = [];
  const begin = (story: Story): Promise<void> => {
    const told = tell(story);
    // It is awaited with the others, after the deaths.
    told.catch(() => undefined);
    begun.push(told);
    return told;
  };

  const startWorker = (environment: Record<string, string>) =>
    startProcess(environment, 'worker', { node: ['--import', killer] });

  /**
   * Begins the first story of a chart in a worker that dies at a command about it. The worker of
   * the next death brings it to its end before that, at once, so that no prompt expires while
   * nobody works.
   */
  const dieIn = async (name: string, environment: Record<string, string>): Promise<void> => {
    const first = stories.find(({ of }) => of === name);
    if (first === undefined) throw new Error(`${name} has no story`);
    const killAt = createRandom(seed).branch(name).between(1, latestKill);
    const variables = { KILL_ABOUT: `-${name}--${idOf(first)}`, KILL_AT_WRITE: String(killAt) };
    const worker = await startWorker({ ...environment, ...variables });
    const died = once(worker.child, 'close');
    await begun.at(-1);
    // Where nothing kills it, the story ends, and its test says so.
    const ended = begin(first);
    await Promise.race([died, ended]);
    deaths.set(first.title, worker.child.signalCode);
    worker.child.kill('SIGKILL');
    await died;
    outputs.push(worker.output());
  };

  const readTransactions = async () => {
    const shards = openShards({
      redis: product.core.commands,
      ...product.configuration.queue,
      onError: () => undefined,
    });
    try {
      const jobs = await Promise.all(shards.map(({ signatures }) => signatures.queue.getJobs()));
      return jobs.flat().map(({ data: { MSS_SignatureReq: asked }, finishedOn, failedReason }) => ({
        what: JSON.stringify([asked.MobileUser.MSISDN, asked.DataToBeSigned.Data]),
        ended: finishedOn !== undefined,
        signed: finishedOn !== undefined && !failedReason,
      }));
    } finally {
      await closeShards(shards);
    }
  };

  beforeAll(async () => {
    receiver = await startReceiver(calls);
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    stories = [...tradeStories(url), ...staffStories(url)];
    data = mkdtempSync(join(tmpdir(), 'paraph-examples-'));
    const masterKey = randomBytes(32);
    const configuration = {
      sandbox: true,
      subscribers,
      workflows: names.map(fileOf),
      workers: { lockSeconds: 1, stalledCheckSeconds: 0.5 },
    };
    const charts = await loadCharts(configuration.workflows, '');
    if (!charts.ok) throw new Error(charts.problems.join());
    product = await startTestProduct(redis, {
      masterKey,
      workers: false,
      configuration,
      charts: charts.value,
    });
    const { queue } = product.configuration;
    writeFileSync(join(data, 'paraph.json'), JSON.stringify({ ...configuration, queue }));
    const environment = {
      REDIS_URL: redis.url,
      PARAPH_DATA: data,
      PARAPH_CONFIG: join(data, 'paraph.json'),
      PARAPH_MASTER_KEY: masterKey.toString('base64url'),
    };
    for (const name of names) await dieIn(name, environment);
    const last = await Promise.all([startWorker(environment), startWorker(environment)]);
    try {
      const isBegun = new Set(deaths.keys());
      for (const story of stories) if (!isBegun.has(story.title)) void begin(story);
      await Promise.all(begun);
      // What is taken off phones may come a moment later.
      await vi.waitFor(
        async () => expect((await readTransactions()).filter(({ ended }) => !ended)).toEqual([]),
        { timeout: patienceMs, interval: 100 },
      );
    } finally {
      for (const { child } of last) child.kill('SIGKILL');
      await Promise.all(last.map(({ child }) => child.signalCode ?? once(child, 'close')));
      outputs.push(...last.map(({ output }) => output()));
    }
    transactions.push(...(await readTransactions()));
  }, 300_000);

  afterAll(async () => {
    await killProcesses();
    await product.stop();
    receiver.close();
    rmSync(data, { recursive: true, force: true });
  });

  const each = [...tradeStories(''), ...staffStories('')].map(({ title }) => title);
  const named = (title: string): Story => {
    const story = stories.find((one) => one.title === title);
    if (story === undefined) throw new Error(title);
    return story;
  };

  it.each(each)('%s', (title) => {
    const { of, ends, events = [] } = named(title);
    const [first] = stories.filter((story) => story.of === of);
    expect(deaths.get(first?.title ?? ''), `a death in the middle of ${of}`).toBe('SIGKILL');
    expect(views.get(title)).toMatchObject(ends);
    expect(verdicts.get(title)).toEqual(events.map(({ refused }) => (refused ? 409 : 202)));
  });

  it('everything is done in the world, and nothing else, each under one id whenever it is done again', () => {
    const lines = outputs.flatMap((output) =>
      [...output.matchAll(/^(.+) \[(\S+)\]$/gm)].map(
        ([, what = '', id = '']) => [what, id] as const,
      ),
    );
    const done = idsOf(lines);
    expect([...done.keys()].toSorted()).toEqual(stories.flatMap(({ did = [] }) => did).toSorted());
    for (const [what, ids] of done) expect(ids.size, what).toBe(1);
    expect(new Set([...done.values()].flatMap((ids) => [...ids])).size).toBe(done.size);
  });

  it('every program is called, each time under one id', () => {
    const bodies = new Map(calls.map(({ id, body }) => [id, JSON.stringify(body)]));
    for (const { id, body } of calls) expect(JSON.stringify(body), id).toBe(bodies.get(id));
    const wanted = stories.flatMap(({ called = [] }) => called.map((body) => JSON.stringify(body)));
    expect([...bodies.values()].toSorted()).toEqual(wanted.toSorted());
  });

  it('nobody is asked twice for what they are to sign, and nobody else is asked', () => {
    const textOf = ([msisdn, text]: Asked): string => JSON.stringify([msisdn, text]);
    const signed = stories.flatMap((story) => (story.signed ?? []).map(textOf));
    const unsigned = stories.flatMap((story) => (story.unsigned ?? []).map(textOf));
    const asked = transactions.map(({ what }) => what);
    expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
    const didSign = transactions.filter((each) => each.signed).map(({ what }) => what);
    expect(didSign.toSorted()).toEqual(signed.toSorted());
    for (const what of asked) expect([...signed, ...unsigned]).toContain(what);
  });

  it('each of the charts has had a death of its own', () => {
    const inCharts = [...deaths.keys()].map((title) => named(title).of);
    expect(inCharts.toSorted()).toEqual(names.toSorted());
  });
});
