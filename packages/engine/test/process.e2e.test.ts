/**
 * Signature processes on the engine, while their worker is killed with -9 again and again, before
 * or after a command to Redis that the seed chooses.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Queue } from 'bullmq';
import { afterAll, expect, it } from 'vitest';
import type { ProcessInput } from '../../../parts/processes/charts/process.machine.ts';
import type { PlanStep } from '../../../parts/processes/charts/process-plan.ts';
import { compileProgram } from '../../../test/support/program.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createEngine, spreadOver } from '../src/engine.ts';
import { processWorkflow } from './process-charts.ts';

const redis = testRedis();
const workerFile = await compileProgram(new URL('crash-worker.ts', import.meta.url));
const processes = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of processes) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

const startWorker = (prefix: string, commands: number): ChildProcess => {
  const address = 'path' in redis.connection ? redis.connection.path : redis.url;
  const child = spawn(process.execPath, [workerFile, address, prefix, String(commands)], {
    stdio: 'ignore',
  });
  processes.add(child);
  return child;
};

const step = (name: string, texts: readonly string[], more: Partial<PlanStep> = {}): PlanStep => ({
  name,
  signers: texts.map((text, index) => ({
    key: String(index + 1),
    person: { name: text, msisdn: '+41790000001', text: `${text} in ${name}` },
    substitutes: [],
  })),
  need: texts.length,
  ask: 'now',
  remindMs: [],
  onRefusal: 'fail',
  onUnreached: 'wait',
  onDeadline: 'fail',
  ...more,
});

interface Case {
  readonly steps: readonly PlanStep[];
  readonly compensation?: ProcessInput['compensation'];
  readonly deadlineMs?: number;
  /** It is cancelled when this was told or asked. */
  readonly cancelAfter?: string;
  /** Who have signed, in the order of the steps; and how it ends. */
  readonly signed: readonly string[];
  readonly ends: string;
}

const cases: Readonly<Record<string, Case>> = {
  order: {
    steps: [step('a', ['signs']), step('b', ['signs', 'signs too']), step('c', ['signs'])],
    signed: ['signs in a', 'signs in b', 'signs too in b', 'signs in c'],
    ends: 'completed',
  },
  some: {
    steps: [step('a', ['sleeps', 'signs', 'signs too'], { need: 2 }), step('b', ['signs'])],
    signed: ['signs in a', 'signs too in a', 'signs in b'],
    ends: 'completed',
  },
  again: {
    steps: [step('a', ['is late'], { askAgain: { times: 3, everyMs: 30 } }), step('b', ['signs'])],
    signed: ['is late in a', 'signs in b'],
    ends: 'completed',
  },
  refused: {
    steps: [step('a', ['signs']), step('b', ['refuses', 'sleeps'])],
    compensation: [{ tell: 'https://app/' }, step('c', ['signs'])],
    signed: ['signs in a', 'signs in c'],
    ends: 'REFUSED: step b',
  },
  late: {
    steps: [step('a', ['signs']), step('b', ['sleeps'], { deadline: { afterMs: 300 } })],
    signed: ['signs in a'],
    ends: 'EXPIRED: step b',
  },
  cancelled: {
    steps: [step('a', ['signs']), step('b', ['sleeps', 'sleeps too'])],
    cancelAfter: 'asks sleeps in b',
    signed: ['signs in a'],
    ends: 'CANCELLED: step b',
  },
};

it('end as their definitions say, in order, and leave nobody open: under kill -9', {
  timeout: 180_000,
}, async () => {
  let random = 11;
  const next = (below: number): number => {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    return random % below;
  };
  const prefix = `{${redis.prefix}-process}`;
  const connection = redis.client();
  const queue = new Queue('workflows', { connection, prefix });
  const engine = createEngine(spreadOver([queue], connection, Date.now), Date.now);
  const workflow = processWorkflow(async () => undefined, Date.now);
  const lines = (): Promise<string[]> => connection.lrange(`${prefix}:log`, 0, -1);
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

  const stopped = new AbortController();
  const keepWorking = async (): Promise<number> => {
    for (let killed = 0; ; killed += 1) {
      const child = startWorker(prefix, killed >= 4 ? 0 : 30 + next(120));
      await Promise.race([once(child, 'exit'), once(stopped.signal, 'abort')]);
      if (!stopped.signal.aborted) continue;
      child.kill('SIGKILL');
      return killed;
    }
  };
  const working = keepWorking();

  const instances = Object.entries(cases).flatMap(([name, each]) =>
    [1, 2, 3].map((number) => ({ id: `${name}-${number}`, ...each })),
  );
  await Promise.all(
    instances.map(async ({ id, steps, compensation = [], deadlineMs = 600_000, cancelAfter }) => {
      const at = Date.now();
      await engine.start(workflow, id, {
        apId: 'ap',
        id,
        deadline: at + deadlineMs,
        steps,
        compensation,
        at,
      });
      while (cancelAfter !== undefined && !(await lines()).includes(`${id} ${cancelAfter}`))
        await pause();
      const cancel = { type: 'CANCEL', by: 'application' } as const;
      while (
        cancelAfter !== undefined &&
        (await engine.send(workflow, id, 'cancel', cancel)) === 'busy'
      )
        await pause();
      while ((await engine.find(id))?.ended === 'no') await pause();
    }),
  );
  const openOf = async (id: string): Promise<readonly string[]> => {
    const open: string[] = [];
    for (const key of await connection.keys(queue.toKey(`${id}.*`))) {
      if ((await connection.type(key)) !== 'hash') continue;
      if ((await connection.hget(key, 'finishedOn')) === null) open.push(key);
    }
    return open;
  };
  // A signer is told to its process before its own job ends.
  for (const { id } of instances)
    await expect.poll(() => openOf(id), { timeout: 30_000 }).toEqual([]);
  stopped.abort();
  const killed = await working;

  const log = await lines();
  for (const { id, steps, signed, ends } of instances) {
    const instance = await engine.find(id);
    const own = log
      .filter((line) => line.startsWith(`${id} `))
      .map((line) => line.slice(id.length + 1));
    const end = instance?.ended === 'failed' ? instance.failedReason : instance?.record?.value;
    expect([id, end]).toEqual([id, ends]);
    const given = own.flatMap((line) => (line.startsWith('signed ') ? [line.slice(7)] : []));
    expect(new Set(given), id).toEqual(new Set(signed));
    // Nobody is asked before those of the steps before have signed.
    steps.forEach(({ name }, index) => {
      const first = own.findIndex(
        (line) => line.startsWith('asks ') && line.endsWith(` in ${name}`),
      );
      const before = steps.slice(0, index).map((each) => ` in ${each.name}`);
      const needed = signed.filter((text) => before.some((each) => text.endsWith(each)));
      if (first !== -1)
        for (const text of needed)
          expect(own.slice(0, first), `${id}: ${name}`).toContain(`signed ${text}`);
    });
    expect(own.filter((line) => line.startsWith('tells end')).length, id).toBeGreaterThanOrEqual(1);
  }
  expect(killed).toBeGreaterThanOrEqual(1);
  await queue.close();
});
