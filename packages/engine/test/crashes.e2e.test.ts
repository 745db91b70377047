/**
 * Ordinary charts under kill -9 and stalls: one worker process is killed again and again, before or
 * after a command to Redis that the seed chooses, and another is stopped for longer than its locks
 * last, while many instances are under way. Whatever they were doing, each of them ends as XState
 * itself ends the same chart, and everything that was to be done in the world was done.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Queue } from 'bullmq';
import { afterAll, describe, expect, it } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { compileProgram } from '../../../test/support/program.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow } from '../src/define.ts';
import { createEngine, type Engine, spreadOver } from '../src/engine.ts';
import { addressOf, type ChildActor, pathOf } from '../src/record.ts';
import { chartsIn } from './charts.ts';
import { hasEnded, seededNumbers, startCrashWorker } from './killed-workers.ts';

const redis = testRedis();

type Charts = ReturnType<typeof chartsIn>;
type Name = keyof Charts;

/** What comes from outside: each event when the state is there. */
const scripts: Readonly<
  Record<Name, ReadonlyArray<{ readonly when: string; readonly event: { readonly type: string } }>>
> = {
  order: [],
  loan: [{ when: 'deciding', event: { type: 'DECIDE', yes: true } as never }],
  auction: [
    { when: 'waiting', event: { type: 'BID', amount: 10 } as never },
    { when: 'led', event: { type: 'BID', amount: 20 } as never },
    { when: 'led', event: { type: 'PAUSE' } },
    { when: 'paused', event: { type: 'RESUME' } },
  ],
  document: [],
};

/**
 * @param taken Which of the events came in time: with so many deaths an auction may close before
 * its last bid.
 */
const runLive = async (
  name: Name,
  order: string,
  taken: (index: number) => boolean,
): Promise<{ output: unknown; value: unknown; world: ReadonlySet<string> }> => {
  const world = new Set<string>();
  const chart = chartsIn({
    quietMs: 50,
    did: async (what) => {
      world.add(what);
    },
  })[name];
  const actor = createActor(chart as Charts['order'], { input: { order } });
  actor.start();
  for (const [index, { when, event }] of scripts[name].entries()) {
    if (!taken(index)) continue;
    const reached = await waitFor(
      actor,
      ({ value, status }) => status === 'done' || JSON.stringify(value).includes(when),
    );
    if (reached.status === 'done') break;
    actor.send(event as never);
  }
  if (name === 'document') {
    await waitFor(
      actor,
      ({ context }) => (context as unknown as { invited: string[] }).invited.length === 2,
    );
    for (const child of ['first', 'second'])
      (actor.getSnapshot().children as Record<string, { send(event: object): void }>)[child]?.send({
        type: 'APPROVE',
      });
  }
  const { output, value } = await waitFor(actor, ({ status }) => status === 'done', {
    timeout: 5000,
  });
  return { output, value, world };
};

const workerFile = await compileProgram(new URL('crash-worker.ts', import.meta.url));
const processes = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of processes) {
    if (!hasEnded(child)) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
});

const startWorker = async (prefix: string, commands: number): Promise<ChildProcess> => {
  const address = 'path' in redis.connection ? redis.connection.path : redis.url;
  const isHeard = process.env.PARAPH_SEED !== undefined;
  const child = await startCrashWorker(workerFile, [address, prefix, String(commands)], {
    isHeard,
  });
  processes.add(child);
  return child;
};

/** Sends what the script says, when it is time, until the instance has ended. */
const drive = async (
  engine: Engine,
  workflows: Readonly<Record<Name, ReturnType<typeof defineWorkflow>>>,
  name: Name,
  id: string,
): Promise<void> => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
  for (const [index, { when, event }] of scripts[name].entries()) {
    for (;;) {
      const instance = await engine.find(id);
      if (instance?.ended !== 'no') return;
      if (instance.record !== undefined && JSON.stringify(instance.record.value).includes(when)) {
        const result = await engine.send(workflows[name], id, `s${index}`, event);
        if (result === 'taken' || result === 'finished') break;
      }
      await pause();
    }
  }
  if (name !== 'document') return;
  for (;;) {
    const parent = await engine.find(id);
    if (parent?.ended !== 'no') return;
    for (const [name, child] of Object.entries(parent.record?.children ?? {})) {
      if ((child as ChildActor).chart?.value !== 'waiting') continue;
      const address = addressOf(id, pathOf('', name));
      await engine.send(workflows.document, address, `approve ${name}`, { type: 'APPROVE' });
    }
    await pause();
  }
};

const seeds = process.env.PARAPH_SEED?.split(',').map(Number) ?? [7, 8];

describe('ordinary charts under kill -9 and stalls', () => {
  it.each(seeds)(
    'end as XState ends them, and everything was done: seed %i',
    { timeout: 180_000 },
    async (seed) => {
      const next = seededNumbers(seed);
      const prefix = `{${redis.prefix}-${seed}}`;
      const connection = redis.client();
      const queue = new Queue('workflows', { connection, prefix });
      const engine = createEngine(spreadOver([queue], connection, Date.now), Date.now);
      const charts = chartsIn({ quietMs: 0, did: async () => undefined });
      const workflows = Object.fromEntries(
        Object.entries(charts).map(([name, chart]) => [
          name,
          defineWorkflow({ name, version: 1, chart }),
        ]),
      ) as Readonly<Record<Name, ReturnType<typeof defineWorkflow>>>;
      const names = Object.keys(charts) as Name[];
      const instances = names.flatMap((name) =>
        Array.from({ length: 6 }, (_, index) => ({
          name,
          order: `${name}-${index}${index % 2 === 1 ? 'x' : ''}`,
        })),
      );

      let done = false;
      const stopped = new AbortController();
      const keepWorking = async (): Promise<number> => {
        let killed = 0;
        while (!done) {
          const last = killed >= 5;
          const child = await startWorker(prefix, last ? 0 : 20 + next(100));
          // All may have ended while it was starting.
          if (!done && !hasEnded(child))
            await Promise.race([once(child, 'exit'), once(stopped.signal, 'abort')]);
          if (!done) killed += 1;
          child.kill('SIGKILL');
        }
        return killed;
      };
      const keepStalling = async (): Promise<number> => {
        const child = await startWorker(prefix, 0);
        let stalls = 0;
        while (!done && stalls < 5) {
          await pause(50 + next(300));
          child.kill('SIGSTOP');
          // Longer than a lock lasts and the next check for stalled jobs takes.
          await pause(700 + next(300));
          child.kill('SIGCONT');
          stalls += 1;
        }
        // Afterwards it works like any other, so that the others' deaths are all that is left.
        if (!done) await once(stopped.signal, 'abort');
        child.kill('SIGKILL');
        return stalls;
      };
      const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      const working = Promise.all([keepWorking(), keepStalling()]);
      const stuck = setTimeout(async () => {
        for (const { order } of instances) {
          const job = await connection.hgetall(queue.toKey(order));
          if (job.finishedOn !== undefined) continue;
          const delay = await connection.zscore(queue.toKey('delayed'), order);
          console.error(
            `${order} has not ended: sleeps for ${Number(delay) / 4096 - Date.now()} ms, ${JSON.stringify(job)}`,
          );
        }
      }, 150_000);
      await Promise.all(
        instances.map(async ({ name, order }) => {
          await engine.start(workflows[name], order, { order });
          await drive(engine, workflows, name, order);
          for (;;) {
            const instance = await engine.find(order);
            if (instance?.ended !== 'no') return;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }),
      );
      clearTimeout(stuck);
      done = true;
      stopped.abort();
      const [killed, stalls] = await working;
      const world = await connection.hgetall(`${prefix}:world`);
      for (const { name, order } of instances) {
        const fields = await connection.hgetall(queue.toKey(order));
        const live = await runLive(name, order, (index) => fields[`key:out/s${index}`] === 'taken');
        const instance = await engine.find(order);
        expect(instance, order).toMatchObject({
          ended: 'completed',
          record: { status: 'done', value: live.value },
        });
        expect(instance?.record?.output, order).toEqual(live.output);
        for (const what of live.world) expect(Number(world[what]), what).toBeGreaterThanOrEqual(1);
        const own = Object.keys(world).filter((what) => what.startsWith(`${order}:`));
        expect(new Set(own), order).toEqual(live.world);
      }
      expect(killed).toBeGreaterThanOrEqual(1);
      expect(stalls).toBeGreaterThanOrEqual(1);
      await queue.close();
    },
  );
});
