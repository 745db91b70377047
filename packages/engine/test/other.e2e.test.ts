/** Events between instances: `workflow(other)` in a chart, and events that effects send. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest';
import { assign, setup } from 'xstate';
import { compileProgram } from '../../../test/support/program.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { tokenOf } from '../src/activities.ts';
import { defineWorkflow, type Workflow } from '../src/define.ts';
import { effectOf } from '../src/effect.ts';
import { idOfRun } from '../src/other.ts';
import { activitiesIn } from '../src/record.ts';
import { maxWaitingEvents } from '../src/redis/deliver-script.ts';
import { rehearse } from '../src/rehearsal.ts';
import { till, tripsIn } from './other-charts.ts';
import { createGate, createStage, type Stage } from './stage.ts';

const redis = testRedis();
const stage = createStage(redis);

const begin = () => {
  const world: string[] = [];
  const { leg, trip } = tripsIn(async (what) => void world.push(what));
  return { ...stage(), world, leg, trip };
};

/** Ids of the instances that the open runs of an instance have started. */
const legsOf = async (
  { engine }: Pick<Stage, 'engine'>,
  id: string,
): Promise<readonly string[]> => {
  const found = await engine.find(id);
  if (found === undefined) return [];
  return activitiesIn(found.record).map(([path, { run }]) => idOfRun(tokenOf(found, path, run)));
};

describe('a chart that starts another workflow', () => {
  it('is answered with its output, or with the reason of its failure', async () => {
    const { engine, work, leg, trip, world } = begin();
    await work([leg, trip, till]);
    const trips = engine.of(trip);
    await trips.start('t-1', { name: 'one', to: ['Bern', 'nowhere'] });
    const ended = await trips.ended('t-1');
    expect(ended).toMatchObject({
      ended: 'completed',
      output: ['Bern', 'Error: there is no way to nowhere'],
    });
    expect(world.filter((each) => each.startsWith('ride')).toSorted()).toEqual([
      'ride Bern',
      'ride nowhere',
    ]);
    expectTypeOf(ended.output).toEqualTypeOf<readonly string[] | undefined>();
  });

  it('gets the error of the other one’s schema, and starts nothing', async () => {
    const { engine, queue, work, leg, trip } = begin();
    await work([leg, trip, till]);
    const trips = engine.of(trip);
    await trips.start('t-2', { name: 'two', to: ['Bern', 'x'.repeat(21)] });
    expect((await trips.ended('t-2')).output).toEqual([
      'Bern',
      'InputError: The input of leg: to: Too big: expected string to have <=20 characters',
    ]);
    expect((await queue.getJobs()).filter(({ name }) => name === 'leg@1')).toHaveLength(1);
  });

  it('waits while the other one does, which takes events of its own, and stops it on leaving', async () => {
    const it = begin();
    const { engine, work, leg, trip } = it;
    await work([leg, trip, till]);
    const [trips, legs] = [engine.of(trip), engine.of(leg)];
    await trips.start('t-3', { name: 'three', to: ['far', 'far'] });
    await trips.waitFor('t-3', (snapshot) => snapshot.matches('away'));
    const [first = '', second = ''] = await legsOf(it, 't-3');
    await legs.waitFor(second, (snapshot) => snapshot.matches('waiting')).catch(() => undefined);
    await expect.poll(async () => (await legs.find(first))?.snapshot?.value).toBe('waiting');
    await legs.send(first, { type: 'ARRIVE' });
    await trips.waitFor('t-3', ({ context }) => context.seen.length === 1);
    await expect.poll(async () => (await legs.find(second))?.snapshot?.value).toBe('waiting');
    await trips.send('t-3', { type: 'HOME' });
    expect(await trips.ended('t-3')).toMatchObject({ output: ['far'] });
    expect(await legs.ended(second)).toMatchObject({
      ended: 'completed',
      snapshot: { status: 'stopped' },
      reason: 't-3 does not wait for it any more',
    });
  });

  it('gets an error when the other one was stopped', async () => {
    const it = begin();
    const { engine, work, leg, trip } = it;
    await work([leg, trip, till]);
    await engine.of(trip).start('t-4', { name: 'four', to: ['far', 'Bern'] });
    await engine.of(trip).waitFor('t-4', ({ context }) => context.seen.length === 1);
    const [first = ''] = await legsOf(it, 't-4');
    await engine.stop(first, 'snow');
    expect((await engine.of(trip).ended('t-4')).output).toEqual(['Bern', 'Error: snow']);
  });

  it('does not begin one that was added when the state had been left: it has done nothing', async () => {
    const { engine, queue, work, leg, trip, world } = begin();
    const worker = await work([trip, till]);
    await engine.of(trip).start('t-5', { name: 'five', to: ['Bern', 'far'] });
    await engine.of(trip).waitFor('t-5', (snapshot) => snapshot.matches('away'));
    const found = await engine.find('t-5');
    const [[path, { run }] = ['', { run: 0 }]] =
      found === undefined ? [] : activitiesIn(found.record);
    const token = tokenOf({ id: 't-5', createdAt: found?.createdAt ?? 0 }, path, run);
    const late = idOfRun(token);
    // Its try is in a process that was paused, and goes on only when the state has been left.
    await expect.poll(() => queue.remove(late)).toBe(1);
    await engine.of(trip).send('t-5', { type: 'HOME' });
    await engine.of(trip).ended('t-5');
    await worker.close();
    await engine.start(leg, late, { to: 'Bern' }, { answerTo: token });
    await work([leg, trip, till]);
    expect(await engine.ended(late)).toMatchObject({
      ended: 'failed',
      failedReason: 'Nobody waits for this instance any more',
    });
    expect(world).not.toContain('begin Bern');
  });

  it('believes no end of a job that asks something else', async () => {
    const { engine, queue, work, leg, trip, world } = begin();
    const worker = await work([trip, till]);
    await engine.of(trip).start('t-6', { name: 'six', to: ['far', 'far'] });
    await engine.of(trip).waitFor('t-6', (snapshot) => snapshot.matches('away'));
    const found = await engine.find('t-6');
    const [[path, { run }] = ['', { run: 0 }]] =
      found === undefined ? [] : activitiesIn(found.record);
    const token = tokenOf({ id: 't-6', createdAt: found?.createdAt ?? 0 }, path, run);
    await engine.start(leg, 'forged', { to: 'Bern' }, { answerTo: token });
    await work([leg, trip, till]);
    expect(await engine.ended('forged')).toMatchObject({ ended: 'failed' });
    expect(world).not.toContain('begin Bern');
    expect((await engine.of(trip).find('t-6'))?.ended).toBe('no');
    await worker.close();
    expect(await queue.getJob(idOfRun(token))).toBeDefined();
  });

  it('is refused by a worker that reaches no other instances', async () => {
    const { queue, redis: connection, trip } = begin();
    const { startWorkflowWorker } = await import('../src/worker.ts');
    expect(() =>
      startWorkflowWorker({
        queue,
        connection,
        workflows: [trip],
        concurrency: 1,
        now: Date.now,
        onError: () => undefined,
      }),
    ).toThrow('trip: the actor leg starts another workflow, which this worker cannot');
  });

  it('is rehearsed with the other one, or with an answer in its place', async () => {
    const { trip, world } = begin();
    const [first, second] = await Promise.all([
      rehearse({
        connection: redis.client(),
        workflow: trip,
        data: { name: 'seven', to: ['Bern', 'nowhere'] },
      }),
      rehearse({
        connection: redis.client(),
        workflow: trip,
        data: { name: 'eight', to: ['x', 'y'] },
        answers: { leg: [{ output: { at: 'Genf' } }, { error: 'ice' }] },
      }),
    ]);
    expect(first).toMatchObject({ how: 'ended' });
    expect(first.instance.record?.output).toEqual(['Bern', 'Error: there is no way to nowhere']);
    expect(second.instance.record?.output).toEqual(['Error: ice', 'Genf']);
    expect(world.filter((each) => each.startsWith('begin')).toSorted()).toEqual([
      'begin Bern',
      'begin nowhere',
    ]);
  });
});

describe('an effect', () => {
  it('sends an event to any instance, once however often it is carried out', async () => {
    const { engine, work, leg, trip } = begin();
    let fails = 2;
    const chart = setup({
      types: { events: {} as { type: 'GO' } },
      actions: {
        pay: async (given) => {
          const { send } = effectOf(given);
          await send(till, 'the-till', { type: 'PAY', by: 'a' });
          await send(till, 'the-till', { type: 'PAY', by: 'b' });
          // @ts-expect-error The till takes no such event.
          await send(till, 'the-till', { type: 'PAID' });
          fails -= 1;
          if (fails > 0) throw new Error('again');
        },
      },
    }).createMachine({
      initial: 'a',
      states: { a: { entry: 'pay', on: { GO: 'b' } }, b: { type: 'final' } },
    });
    const payer = defineWorkflow({ name: 'payer', version: 1, chart });
    await work([leg, trip, till, payer]);
    await engine.of(till).start('the-till');
    await engine.of(payer).start('p-1');
    await expect.poll(() => fails, { timeout: 10_000 }).toBe(0);
    expect((await engine.of(till).find('the-till'))?.snapshot?.context.paid).toEqual(['a', 'b']);
  });

  it('sends to an instance that is full, also to its own, when that has taken what waits', async () => {
    const [begun, filled] = [createGate(), createGate()];
    let tries = 0;
    const full: Workflow = defineWorkflow({
      name: 'full',
      version: 1,
      chart: setup({
        actions: {
          goOn: (given) => {
            tries += 1;
            if (tries > 1) return effectOf(given).send(full, 'I-1', { type: 'BACK' }) as never;
            begun.open();
            return filled.opened.then(() => Promise.reject(new Error('not yet'))) as never;
          },
        },
      }).createMachine({
        initial: 'open',
        on: { FILL: { actions: assign({}) } },
        states: {
          open: { on: { GO: { target: 'gone', actions: 'goOn' } } },
          gone: { on: { BACK: 'back' } },
          back: { type: 'final' },
        },
      }),
    });
    const { engine, work, until, ended } = begin();
    await work([full]);
    await engine.start(full, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(full, 'I-1', 'go', { type: 'GO' });
    await begun.opened;
    for (let n = 0; n < maxWaitingEvents; n += 1)
      expect(await engine.send(full, 'I-1', `fill-${n}`, { type: 'FILL' })).toBe('taken');
    filled.open();
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
  });

  it('is none where XState itself runs the action', () => {
    expect(() => effectOf({ context: {} })).toThrow('Only the engine carries out effects');
  });

  it('of a child and its event to a child are addressed by path', async () => {
    const { engine, work } = begin();
    const inner = setup({ types: { context: {} as { count: number } } }).createMachine({
      context: { count: 0 },
      on: { COUNT: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
    });
    const outer = setup({ actors: { inner } }).createMachine({
      invoke: { id: 'in', src: 'inner' },
    });
    const counter = defineWorkflow({ name: 'counter', version: 1, chart: outer });
    const asking = setup({
      actions: {
        ask: (given) => effectOf(given).send(counter, 'c-1', { type: 'COUNT' }, { path: 'in' }),
      },
    }).createMachine({
      initial: 'a',
      states: { a: { entry: 'ask', always: 'b' }, b: { type: 'final' } },
    });
    const asker = defineWorkflow({ name: 'asker', version: 1, chart: asking });
    await work([counter, asker]);
    await engine.of(counter).start('c-1');
    await engine.of(counter).waitFor('c-1', () => true);
    await engine.of(asker).start('a-1');
    await engine.of(asker).ended('a-1');
    await engine
      .of(counter)
      .waitFor('c-1', ({ children }) => children.in?.getSnapshot().context.count === 1);
  });
});

describe('under kill -9', () => {
  const processes = new Set<ChildProcess>();
  afterAll(async () => {
    for (const child of processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it('each instance ends as without, has started its others once, and was heard once', async () => {
    const workerFile = await compileProgram(new URL('other-worker.ts', import.meta.url));
    const { engine, queue, trip, redis: connection } = begin();
    const prefix = queue.opts.prefix ?? '';
    const address = 'path' in redis.connection ? redis.connection.path : redis.url;
    const startWorker = async (commands: number): Promise<ChildProcess> => {
      const child = spawn(process.execPath, [workerFile, address, prefix, String(commands)], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      processes.add(child);
      const { stdout } = child;
      if (stdout === null) throw new Error('The worker has no output');
      await Promise.race([once(stdout, 'data'), once(child, 'exit')]);
      return child;
    };
    await engine.of(till).start('the-till');
    const names = Array.from({ length: 20 }, (_, index) => `trip-${index}`);
    const trips = engine.of(trip);
    for (const name of names) {
      const far = name.endsWith('5') ? 'nowhere' : `to-${name}`;
      await trips.start(name, { name, to: [far, `back-${name}`] });
    }
    let random = 11;
    const next = (below: number): number => {
      random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
      return random % below;
    };
    for (let killed = 0; killed < 6; killed += 1) {
      const child = await startWorker(15 + next(60));
      // One that has nothing left to do sends few commands.
      const pause = new Promise((resolve) => setTimeout(resolve, 2000));
      if (child.exitCode === null && child.signalCode === null)
        await Promise.race([once(child, 'exit'), pause]);
      child.kill('SIGKILL');
    }
    await startWorker(0);
    for (const name of names) {
      const far = name.endsWith('5') ? 'Error: there is no way to nowhere' : `to-${name}`;
      const { output } = await trips.ended(name, { signal: AbortSignal.timeout(60_000) });
      expect(output).toEqual([far, `back-${name}`].toSorted());
    }
    expect((await engine.of(till).find('the-till'))?.snapshot?.context.paid.toSorted()).toEqual(
      names.toSorted(),
    );
    // An instance for each run, none twice.
    const jobs = await queue.getJobs();
    expect(jobs.filter((job) => job.name === 'leg@1')).toHaveLength(2 * names.length);
    const world = await connection.hgetall(`${prefix}:world`);
    expect(Object.keys(world).filter((what) => what.startsWith('ride to-'))).toHaveLength(18);
  }, 120_000);
});

it('keeps the id of an instance within what an own id may be', () => {
  expect(idOfRun(randomUUID())).toMatch(/^[\w-]{1,64}$/);
});
