/**
 * Runs activities: each at least once, until it answers, is given up, or fails once more than its policy allows.
 *
 * An activity belongs to a run of a child in its chart. When the chart leaves the state, its signal aborts and its answer counts
 * no more; so does the answer of a try that was aborted because it took too long.
 */
import { type AnyActorLogic, createActor, toPromise } from 'xstate';
import { type ActivityFunction, type ActivityPolicy, activityOf, later } from './define.ts';

export type Finished =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'later' }
  | { readonly kind: 'failed'; readonly error: ActivityError; readonly policy: ActivityPolicy };

/** What a chart sees of an error: plain, because it may be stored. */
export interface ActivityError {
  readonly name: string;
  readonly message: string;
}

interface Start {
  readonly child: string;
  readonly run: number;
  readonly logic: AnyActorLogic;
  readonly input: unknown;
  readonly now: number;
}

export interface RunningActivities {
  /** Does nothing for one that runs already. */
  start(options: Start): void;
  /** Gives up those that are not named (`child/run`). */
  keepOnly(names: readonly string[]): void;
  /** The next one that ends, or undefined after `ms`. */
  next(
    ms: number,
  ): Promise<{ readonly child: string; readonly run: number; readonly result: Finished } | undefined>;
  /** Gives up all. */
  stop(): void;
}

export interface ActivityRuns {
  of(instance: string): RunningActivities;
}

export const tokenOf = (instance: string, child: string, run: number): string =>
  Buffer.from(JSON.stringify([instance, child, run])).toString('base64url');

/** @returns Undefined for a text that is no token. */
export const readToken = (
  token: string,
): { readonly instance: string; readonly child: string; readonly run: number } | undefined => {
  try {
    const [instance, child, run] = JSON.parse(Buffer.from(token, 'base64url').toString()) as unknown[];
    return typeof instance === 'string' && typeof child === 'string' && typeof run === 'number'
      ? { instance, child, run }
      : undefined;
  } catch {
    return undefined;
  }
};

const errorOf = (error: unknown): ActivityError =>
  error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };

/** `fromPromise` as it stands: its actor is what aborts its signal. */
const runPromise =
  (logic: AnyActorLogic): ActivityFunction =>
  async ({ input, signal }) => {
    const actor = createActor(logic, { input } as never);
    signal.addEventListener('abort', () => actor.stop(), { once: true });
    const ended = toPromise(actor);
    // Without an observer of its own the actor would report the error as unhandled, too.
    actor.subscribe({ error: () => undefined });
    actor.start();
    return ended;
  };

export const createActivityRuns = (): ActivityRuns => ({
  of: (instance) => {
    const running = new Map<string, AbortController>();
    const ended: Array<{ child: string; run: number; result: Finished }> = [];
    let tell: (() => void) | undefined;

    const giveUp = (name: string): void => {
      running.get(name)?.abort();
      running.delete(name);
    };

    return {
      start: ({ child, run, logic, input, now }) => {
        const name = `${child}/${run}`;
        if (running.has(name)) return;
        const own = activityOf(logic);
        const policy = own?.policy ?? {};
        const controller = new AbortController();
        running.set(name, controller);
        const end = (result: Finished): void => {
          clearTimeout(timer);
          if (running.get(name) !== controller) return;
          running.delete(name);
          ended.push({ child, run, result });
          tell?.();
        };
        const timer =
          policy.timeoutMs === undefined
            ? undefined
            : setTimeout(() => {
                end({
                  kind: 'failed',
                  error: { name: 'TimeoutError', message: 'The activity took too long' },
                  policy,
                });
                controller.abort();
              }, policy.timeoutMs);
        const call = own?.run ?? runPromise(logic);
        const { signal } = controller;
        (async () => call({ input, signal, token: tokenOf(instance, child, run), now }))().then(
          (output) => end(output === later ? { kind: 'later' } : { kind: 'done', output }),
          (error: unknown) => end({ kind: 'failed', error: errorOf(error), policy }),
        );
      },
      keepOnly: (names) => {
        for (const name of running.keys()) if (!names.includes(name)) giveUp(name);
      },
      next: async (ms) => {
        // What answers at once has answered by then, and needs no timer.
        for (let turn = 0; turn < 8 && ended.length === 0; turn += 1) await undefined;
        if (ended.length === 0 && running.size > 0) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, ms);
            tell = () => {
              clearTimeout(timer);
              resolve();
            };
          });
          tell = undefined;
        }
        return ended.shift();
      },
      stop: () => {
        for (const name of running.keys()) giveUp(name);
      },
    };
  },
});
