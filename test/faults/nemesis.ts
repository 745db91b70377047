/**
 * Does what was planned, and notes when each fault really began and ended.
 *
 * A fault that fails (a Redis that is just then away cannot be filled) is noted as not injected; it
 * never ends the run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { addCrowd } from './operator.ts';
import { startAgain } from './processes.ts';
import { type RedisNode, refuseWrites } from './redis-node.ts';
import { type FaultKind, type PlannedFault, resourceOf } from './schedule.ts';
import type { Part, Stage } from './stage.ts';

export interface InjectedFault {
  /** `starved`: not injected; the machine was busy. */
  readonly kind: FaultKind | 'starved';
  /** The process, or `redis`, or `everybody`. */
  readonly target: string;
  readonly amount: number;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Why it did not work. */
  readonly problem?: string;
}

/** How long to wait for a text on its way, or for a device to be asked. */
const stepPatienceMs = 4000;
/** The same for a step that only one kind of load takes, when it comes to it. */
const rareStepPatienceMs = 30_000;

/**
 * What a worker sends to note under the job's lock that the device is asked
 * (packages/engine/src/redis/commit-script.ts): the keys of the job, its lock and three more, those
 * of BullMQ where the job is to sleep, the token, and the record. Finds the key of the job.
 */
const markingAsked =
  /(\S+:signatures:H[0-9A-Za-z]{19}):lock(?:\r\n\$\d+\r\n[^\r]*){4,14}\r\n\$\d+\r\n\{[^\r]*"state":"pending"/;

const endEveryMs = 50;

/** The script that keeps it busy. One that has ended is no error. */
const endScript = async (redis: RedisNode): Promise<void> => {
  for (let tries = 0; tries < 20; tries += 1) {
    await redis.command('SCRIPT', 'KILL').catch(() => undefined);
    if ((await redis.command('PING').catch(() => undefined)) === 'PONG') return;
    await delay(endEveryMs);
  }
};

export const createNemesis = (stage: Stage) => {
  const injected: InjectedFault[] = [];

  const part = (parts: readonly Part[], index: number): Part => {
    const found = parts[index % parts.length];
    if (found === undefined) throw new Error('There is nobody to strike');
    return found;
  };

  const pauseInStep = (forMs: number, struck: (worker: string) => void): Promise<void> =>
    new Promise((resolve) => {
      let victim: { readonly key: string; readonly worker: Part } | undefined;
      let release: (() => void) | undefined;
      const released = new Promise<'refuse'>((settle) => {
        release = () => settle('refuse');
      });
      const stop = (): void => {
        stage.gateway.onArrival(undefined);
        victim?.worker.process.resume();
        release?.();
        resolve();
      };
      const nobody = setTimeout(stop, stepPatienceMs);
      stage.gateway.onArrival(({ key, worker }) => {
        if (victim !== undefined) return key === victim.key ? Promise.resolve('refuse') : undefined;
        const found = stage.workers.find(({ process }) => process.name === worker);
        if (found === undefined) return undefined;
        clearTimeout(nobody);
        victim = { key, worker: found };
        found.process.pause();
        struck(worker);
        setTimeout(stop, forMs);
        return released;
      });
    });

  const whenEnded = async (job: string, withinMs: number): Promise<void> => {
    for (const from = Date.now(); Date.now() - from < withinMs; await delay(endEveryMs)) {
      const ended = await stage
        .primary()
        .command('HEXISTS', job, 'finishedOn')
        .catch(() => undefined);
      if (ended === 1) return;
    }
  };

  /** Begins the fault. @returns Who was struck, and what ends it. */
  const begin = async (
    fault: PlannedFault,
  ): Promise<{ readonly target: string; readonly end: () => Promise<void> | void }> => {
    const { kind, target, amount } = fault;
    const worker = part(stage.workers, target);
    const api = part(stage.apis, target);
    const redis = stage.primary();
    const killed = async (process: Part['process']) => {
      await process.kill();
      return { target: process.name, end: () => startAgain(process) };
    };
    const paused = (process: Part['process']) => {
      process.pause();
      return { target: process.name, end: () => process.resume() };
    };
    const everybody = (strike: (part: Part) => void) => {
      for (const each of [...stage.apis, ...stage.workers]) strike(each);
      const end = (): void => {
        for (const { lane } of [...stage.apis, ...stage.workers]) lane.heal();
      };
      return { target: 'everybody', end };
    };
    /** As an operator replaces a release: it ends in order, and the other one starts. */
    const swapped = async ({ process, swap }: Part) => {
      swap();
      await process.end();
      return { target: process.name, end: () => startAgain(process) };
    };
    const laneOf = ({ process, lane }: Part, strike: () => void) => {
      strike();
      return { target: process.name, end: () => lane.heal() };
    };
    const clock = (offsetMs: number) => {
      worker.setClock(offsetMs);
      return { target: worker.process.name, end: () => worker.setClock(0) };
    };
    switch (kind) {
      case 'kill-worker':
        return killed(worker.process);
      case 'kill-api':
        return killed(api.process);
      case 'kill-redis':
        return killed(redis);
      case 'swap-worker':
        return swapped(worker);
      case 'swap-api':
        return swapped(api);
      case 'pause-worker':
        return paused(worker.process);
      case 'pause-api':
        return paused(api.process);
      case 'pause-redis':
        return paused(redis);
      case 'cut-worker':
        return laneOf(worker, () => worker.lane.cut());
      case 'cut-api':
        return laneOf(api, () => api.lane.cut());
      case 'cut-everybody':
        return everybody(({ lane }) => lane.cut());
      case 'hold-worker':
        return laneOf(worker, () => worker.lane.hold());
      case 'hold-everybody':
        return everybody(({ lane }) => lane.hold());
      case 'hold-in-step': {
        const [, job] =
          (await Promise.race([
            worker.lane.holdAt(markingAsked),
            delay(stepPatienceMs, undefined),
          ])) ?? [];
        if (job === undefined) return { target: 'nobody', end: () => worker.lane.heal() };
        await whenEnded(job, fault.forMs);
        // One that lived would hear that its write succeeded, end the job as well, and so cover up
        // what it had written.
        await worker.process.kill();
        worker.lane.heal();
        return { target: worker.process.name, end: () => startAgain(worker.process) };
      }
      case 'kill-in-step': {
        const caught = await Promise.race([
          ...stage.workers.map((each) => each.lane.holdAt(fault.step ?? /$^/).then(() => each)),
          delay(rareStepPatienceMs, undefined),
        ]);
        // What was held is dropped: the network does not keep it for a dead worker.
        caught?.lane.cut();
        await caught?.process.kill();
        for (const { lane } of stage.workers) lane.heal();
        if (caught === undefined) return { target: 'nobody', end: () => undefined };
        await delay(fault.forMs);
        return { target: caught.process.name, end: () => startAgain(caught.process) };
      }
      case 'dead-peer-worker':
        worker.lane.deaden();
        return { target: worker.process.name, end: () => undefined };
      case 'dead-peer-api':
        api.lane.deaden();
        return { target: api.process.name, end: () => undefined };
      case 'dead-peer-everybody':
        for (const { lane } of [...stage.apis, ...stage.workers]) lane.deaden();
        return { target: 'everybody', end: () => undefined };
      case 'slow-worker':
        return laneOf(worker, () => worker.lane.slow(amount));
      case 'slow-everybody':
        return everybody(({ lane }) => lane.slow(amount));
      case 'clock-ahead':
        return clock(amount);
      case 'clock-behind':
        return clock(-amount);
      case 'fill-redis':
        // Less than it uses, so that the next write is one too many.
        await redis.command('CONFIG', 'SET', 'maxmemory', '1000000');
        return {
          target: redis.name,
          end: async () => {
            await redis.command('CONFIG', 'SET', 'maxmemory', '0');
          },
        };
      case 'busy-redis':
        // The script ends when it is killed; until then Redis answers everything else with BUSY.
        await redis.command('CONFIG', 'SET', 'busy-reply-threshold', '50');
        void redis.command('EVAL', 'while true do end', '0').catch(() => undefined);
        return { target: redis.name, end: () => endScript(redis) };
      case 'readonly-redis':
        // Nobody listens there, so it keeps what it has.
        await redis.command('REPLICAOF', '127.0.0.1', '1');
        return {
          target: redis.name,
          end: async () => {
            await redis.command('REPLICAOF', 'NO', 'ONE');
          },
        };
      case 'refuse-writes': {
        let isOver = false;
        const pulses = (async () => {
          while (!isOver) {
            await refuseWrites(redis, true);
            await delay(amount);
            await refuseWrites(redis, false);
            await delay(amount);
          }
        })();
        // A Redis that goes away meanwhile is told by `end`.
        pulses.catch(() => undefined);
        return {
          target: redis.name,
          end: async () => {
            isOver = true;
            await pulses;
          },
        };
      }
      case 'flood':
        await addCrowd(stage.operatorUrl, amount);
        return { target: 'everybody', end: () => undefined };
      case 'switch-primary':
        await stage.switchPrimary();
        return { target: redis.name, end: () => undefined };
      case 'pause-in-step': {
        let struck = '';
        const over = pauseInStep(fault.forMs, (name) => {
          struck = name;
        });
        await over;
        return { target: struck || 'nobody', end: () => undefined };
      }
    }
  };

  /**
   * One after the other on the same thing: what was killed is started again before anything else
   * befalls it.
   */
  const turns = new Map<string, Promise<void>>();
  const inTurn = (fault: PlannedFault): Promise<void> => {
    const resource = resourceOf(fault);
    const turn = (turns.get(resource) ?? Promise.resolve()).then(() => inject(fault));
    turns.set(resource, turn);
    return turn;
  };

  const inject = async (fault: PlannedFault): Promise<void> => {
    const { kind, amount, forMs } = fault;
    const from = Date.now();
    let target = '';
    try {
      const begun = await begin(fault);
      target = begun.target;
      if (!kind.endsWith('-in-step')) await delay(forMs);
      await begun.end();
      injected.push({ kind, target, amount, from, to: Date.now() });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      injected.push({ kind, target, amount, from, to: Date.now(), problem });
    }
  };

  return {
    injected: injected as readonly InjectedFault[],
    /** Resolves when the last fault is over. */
    run: async (plan: readonly PlannedFault[]): Promise<void> => {
      const started = Date.now();
      await Promise.all(
        plan.map(async (fault) => {
          await delay(Math.max(0, started + fault.atMs - Date.now()));
          await inTurn(fault);
        }),
      );
    },
    /** Whatever state things are in: everybody runs, hears everybody and knows the time. */
    heal: async (): Promise<void> => {
      stage.gateway.onArrival(undefined);
      const redis = [stage.primary(), stage.replica()];
      const parts = [...stage.apis, ...stage.workers];
      for (const { process, lane, setClock } of parts) {
        process.resume();
        lane.heal();
        setClock(0);
      }
      for (const node of redis) {
        node.resume();
        await node.start();
        await endScript(node);
        await node.command('CONFIG', 'SET', 'maxmemory', '0');
        await refuseWrites(node, false);
      }
      await Promise.all(parts.map(({ process }) => startAgain(process)));
    },
  };
};
