/**
 * Runs activities beside the turns of their instances, each at least once.
 *
 * The turn that starts a try takes its answer if it comes at once. A longer try goes on while the
 * job sleeps, and uses no slot of the worker. Its answer comes to the instance like an event from
 * outside. The process holds the try in Redis and renews the hold. When the process dies, the hold
 * runs out, the job wakes and another try is made.
 *
 * When the chart leaves the state, in any process, the hold is removed, the signal aborts and the
 * answer does not count. The answer of a try after its timeout does not count either.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type AnyActorLogic, createActor, toPromise } from 'xstate';
import {
  type Activity,
  type ActivityArguments,
  type ActivityFunction,
  activityOf,
  type InstanceInHand,
  later,
} from './define.ts';
import type { HeldTry } from './redis/instance-store.ts';
import { toError } from './redis/to-error.ts';
import { decode, encode } from './values.ts';

/**
 * later     The answer comes by token.
 * released  The process stops. Another one makes the next try.
 */
export type Finished =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'later' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'released' };

export interface EndedActivity {
  readonly child: string;
  readonly run: number;
  readonly result: Finished;
}

export interface Start {
  readonly child: string;
  readonly run: number;
  /** Name of its workflow. */
  readonly workflow: string;
  /** Name of the activity in the chart. */
  readonly src: string;
  readonly activity: Activity;
  readonly input: unknown;
  readonly instance: InstanceInHand;
  readonly now: number;
  readonly attempt: number;
}

export type Activities = ReturnType<typeof createActivities>;

export const tokenOf = (
  { id, createdAt }: Pick<InstanceInHand, 'id' | 'createdAt'>,
  child: string,
  run: number,
): string => Buffer.from(JSON.stringify([id, child, run, createdAt])).toString('base64url');

/** @returns Undefined for a text that is not a token. */
export const readToken = (
  token: string,
):
  | {
      readonly instance: string;
      readonly child: string;
      readonly run: number;
      /** When the job of the instance was added; a number in a token of the engine. */
      readonly createdAt: unknown;
    }
  | undefined => {
  try {
    const bytes = Buffer.from(token, 'base64url');
    // `Buffer.from` skips characters that are not base64url.
    if (bytes.toString('base64url') !== token) return undefined;
    const [instance, child, run, createdAt] = JSON.parse(bytes.toString()) as unknown[];
    return typeof instance === 'string' && typeof child === 'string' && typeof run === 'number'
      ? { instance, child, run, createdAt }
      : undefined;
  } catch {
    return undefined;
  }
};

/** The key of the event that ends a run of a child: one for each run. */
export const endKey = (child: string, run: number): string => `end/${child}/${run}`;

/** A value as it comes back from the store: alike whether the answer was fast or slow. */
const asStored = (value: unknown, path: string): unknown =>
  decode(
    encode(value, path, () => undefined),
    () => undefined,
  );

/** The thrown value as the chart gets it. One that cannot be stored becomes an error saying so. */
export const errorOf = (error: unknown): unknown => {
  try {
    return asStored(error, 'error');
  } catch (unstorable) {
    return toError(unstorable);
  }
};

/**
 * Runs a plain `fromPromise` in an actor of its own, because only that actor can abort its signal.
 */
const runPromise =
  (logic: AnyActorLogic): ActivityFunction =>
  async ({ input, signal }) => {
    const actor = createActor(logic, { input } as never);
    signal.addEventListener('abort', () => actor.stop(), { once: true });
    const ended = toPromise(actor);
    // Without an observer the actor would report the error as unhandled, too.
    actor.subscribe({ error: () => undefined });
    actor.start();
    return ended;
  };

/** The pause when this process is stopping: meanwhile another worker takes the job. */
const closedPauseMs = 100;

const plainActivities = new WeakMap<AnyActorLogic, Activity>();

export const activityFor = (logic: AnyActorLogic): Activity => {
  const known = activityOf(logic) ?? plainActivities.get(logic);
  if (known !== undefined) return known;
  const plain = { run: runPromise(logic), policy: {} };
  plainActivities.set(logic, plain);
  return plain;
};

interface Try {
  readonly child: string;
  readonly run: number;
  readonly inHand: TryInHand;
}

/**
 * Few activities read `signal` or `token`, and making them costs more than a robot's try. A class:
 * see `Life` (interpret.ts).
 */
class TryInHand implements ActivityArguments<unknown> {
  readonly input: unknown;
  readonly instance: InstanceInHand;
  readonly now: number;
  readonly attempt: number;
  readonly #name: readonly [child: string, run: number];
  #controller: AbortController | undefined;
  isAborted = false;

  constructor({ child, run, input, instance, now, attempt }: Start) {
    this.input = input;
    this.instance = instance;
    this.now = now;
    this.attempt = attempt;
    this.#name = [child, run];
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  get token(): string {
    return tokenOf(this.instance, ...this.#name);
  }

  abort(): void {
    this.isAborted = true;
    this.#controller?.abort();
  }
}

interface Own {
  readonly tries: Map<string, Try>;
  /** Undefined while no turn has the instance in hand. */
  turn: { readonly ended: EndedActivity[]; tell: (() => void) | undefined } | undefined;
}

/**
 * @param bring Sends the end of a try to its instance, whose job sleeps. Never rejects.
 * @param renew Holds tries for `holdMs` from now on. Returns for each whether it was still held.
 * @param onError Gets what a try has thrown, and the try. The chart gets the error, too.
 */
export const createActivities = (
  bring: (instance: string, ended: EndedActivity) => Promise<void>,
  renew: (tries: readonly HeldTry[]) => Promise<readonly boolean[]>,
  holdMs: number,
  onError: (error: Error, start: Start) => void,
) => {
  const instances = new Map<string, Own>();
  const bringing = new Set<Promise<void>>();
  let isClosed = false;

  const giveUp = (own: Own, name: string): void => {
    own.tries.get(name)?.inHand.abort();
    own.tries.delete(name);
  };

  /**
   * Renews the holds of running tries. If it fails, the tries go on, and the first answer counts.
   */
  const renewAll = async (): Promise<void> => {
    const all = [...instances].flatMap(([id, own]) =>
      own.turn === undefined ? [...own.tries.keys()].map((name) => ({ id, name, own })) : [],
    );
    if (all.length === 0) return;
    const wanted = await renew(all);
    for (const [index, { id, name, own }] of all.entries()) {
      if (wanted[index] === false && own.turn === undefined) giveUp(own, name);
      forgetIdle(id, own);
    }
  };
  const renewing = setInterval(() => renewAll().catch(() => undefined), holdMs / 3).unref();

  const forgetIdle = (instance: string, own: Own): void => {
    if (own.turn === undefined && own.tries.size === 0) instances.delete(instance);
  };

  const tell = (instance: string, own: Own, ended: EndedActivity): void => {
    if (own.turn !== undefined) {
      own.turn.ended.push(ended);
      own.turn.tell?.();
      return;
    }
    forgetIdle(instance, own);
    const done = bring(instance, ended).finally(() => bringing.delete(done));
    bringing.add(done);
  };

  const begin = (id: string, own: Own, start: Start): number => {
    if (isClosed) return closedPauseMs;
    const { child, run, activity, input, instance } = start;
    const { gate, timeoutMs } = activity.policy;
    const turn = gate?.turn(input, instance);
    if (turn?.kind === 'wait') return Math.max(turn.ms, 1);
    const name = `${child}/${run}`;
    const inHand = new TryInHand(start);
    own.tries.set(name, { child, run, inHand });
    let isOver = false;
    const end = (result: Finished): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (turn?.kind === 'place') {
        const verdict = result.kind === 'done' ? gate?.verdictOf?.(result.output) : undefined;
        turn.end(verdict ?? (result.kind === 'failed' ? 'failed' : 'answered'));
      }
      if (own.tries.get(name)?.inHand !== inHand) return;
      own.tries.delete(name);
      tell(id, own, { child, run, result });
    };
    let timer: NodeJS.Timeout | undefined;
    (async () => activity.run(inHand))()
      .then((output) =>
        end(
          output === later
            ? { kind: 'later' }
            : { kind: 'done', output: asStored(output, 'output') },
        ),
      )
      .catch((error: unknown) => {
        if (!inHand.isAborted) onError(toError(error), start);
        end({ kind: 'failed', error: errorOf(error) });
      });
    if (timeoutMs === undefined) return 0;
    // In a microtask, because a try that answers at once needs no timer.
    queueMicrotask(() => {
      if (own.tries.get(name)?.inHand !== inHand) return;
      timer = setTimeout(() => {
        const error = Object.assign(new Error(`The activity took longer than ${timeoutMs} ms`), {
          name: 'TimeoutError',
        });
        if (own.tries.get(name)?.inHand === inHand) onError(error, start);
        end({ kind: 'failed', error });
        inHand.abort();
      }, timeoutMs);
    });
    return 0;
  };

  return {
    /**
     * The activities of one instance, for one turn. Call it before the inbox is read: the end of a
     * try is in that inbox, or comes to this turn.
     */
    of: (instance: string) => {
      const own: Own = instances.get(instance) ?? { tries: new Map(), turn: undefined };
      instances.set(instance, own);
      const turn: NonNullable<Own['turn']> = { ended: [], tell: undefined };
      // The turn before has lost its lock, so its tries may belong to no commit.
      if (own.turn !== undefined) for (const name of own.tries.keys()) giveUp(own, name);
      own.turn = turn;
      const check = (): void => {
        if (own.turn !== turn) throw new Error('Another turn of the instance has begun');
      };
      return {
        /**
         * Begins no second try while one runs, nor while its end is not applied yet.
         *
         * @returns 0 when it runs or has ended, otherwise the milliseconds after which to ask
         * again.
         */
        start: (start: Start): number => {
          check();
          const isSame = ({ child, run }: EndedActivity): boolean =>
            child === start.child && run === start.run;
          const isBegun = own.tries.has(`${start.child}/${start.run}`) || turn.ended.some(isSame);
          return isBegun ? 0 : begin(instance, own, start);
        },
        /** Aborts those whose name (`child/run`) is not in the list. */
        keepOnly: (names: readonly string[]): void => {
          if (own.turn !== turn) return;
          for (const name of own.tries.keys()) if (!names.includes(name)) giveUp(own, name);
          const wanted = turn.ended.filter(({ child, run }) => names.includes(`${child}/${run}`));
          turn.ended.splice(0, turn.ended.length, ...wanted);
        },
        /** The next end; undefined when there is none within `ms`. */
        next: async (ms: number): Promise<EndedActivity | undefined> => {
          if (turn.ended.length === 0 && own.tries.size > 0) {
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, ms);
              turn.tell = () => {
                clearTimeout(timer);
                resolve();
              };
            });
            turn.tell = undefined;
          }
          return turn.ended.shift();
        },
        /** Whether no try runs, and none has ended without being applied. */
        isIdle: (): boolean => own.tries.size === 0 && turn.ended.length === 0,
        running: (): readonly Pick<EndedActivity, 'child' | 'run'>[] => [...own.tries.values()],
        /** Runs whose try is running, or has ended and is not applied yet. */
        begun: (): readonly Pick<EndedActivity, 'child' | 'run'>[] => [
          ...own.tries.values(),
          ...turn.ended,
        ],
        /** Ends the turn: from now on the ends of tries go to `bring`. */
        leave: (): void => {
          if (own.turn !== turn) return;
          own.turn = undefined;
          for (const ended of turn.ended) tell(instance, own, ended);
          forgetIdle(instance, own);
        },
      };
    },
    /** Waits `graceMs` for running tries. Then aborts them and leaves them to another process. */
    close: async (graceMs: number): Promise<void> => {
      isClosed = true;
      clearInterval(renewing);
      const until = performance.now() + graceMs;
      while (instances.size > 0 && performance.now() < until) await delay(5);
      for (const [instance, own] of instances) {
        for (const [name, { child, run }] of own.tries) {
          giveUp(own, name);
          tell(instance, own, { child, run, result: { kind: 'released' } });
        }
      }
      await Promise.all(bringing);
    },
  };
};
