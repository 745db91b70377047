/**
 * XState as charts get it that are loaded for `kills.ts`: a file's actors are collected and not
 * run, and its promises tell with what they have ended.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import * as xstate from 'xstate';
import { type AnyEventObject, type AnyStateMachine, StateMachine } from 'xstate';

export * from 'xstate';
export {
  chartsNotRun,
  createMachine,
  enqueueActions,
  noteActions,
  record,
  setup,
} from './xstate-recorded.ts';

/** What a file starts. */
export interface Started {
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  /** What it sends, in order. */
  readonly sent: AnyEventObject[];
}
let started: Started[] = [];
/** What has been started since the last call. */
export const takeStarted = (): readonly Started[] => {
  const all = started;
  started = [];
  return all;
};

const subscription = { unsubscribe: () => undefined };
export const createActor = (machine: unknown, options?: { readonly input?: unknown }): unknown => {
  const sent: AnyEventObject[] = [];
  if (machine instanceof StateMachine) started.push({ machine, input: options?.input, sent });
  const actor = {
    start: () => actor,
    stop: () => actor,
    send: (event: AnyEventObject) => sent.push(event),
    on: () => subscription,
    subscribe: () => subscription,
    getSnapshot: () => ({}),
    getPersistedSnapshot: () => ({}),
  };
  return actor;
};

/** The instance in which a promise runs, and its own random numbers: each try gets the same. */
export interface Place {
  readonly instance: string;
  random?: () => number;
}
export const place = new AsyncLocalStorage<Place>();

let note: ((instance: string, answer: unknown) => Promise<void>) | undefined;
export const noteAnswers = (to: typeof note): void => {
  note = to;
};

const randomOf = (text: string): (() => number) => {
  let state = 1;
  for (const each of text) state = (state * 31 + each.charCodeAt(0)) % 2_147_483_647 || 1;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

const fromPromisePlain = xstate.fromPromise as unknown as (create: unknown) => unknown;
interface Given {
  readonly input: unknown;
  readonly signal: AbortSignal;
}
type Create = (given: Given) => PromiseLike<unknown>;
const messageOf = (error: unknown): string =>
  String((Object(error) as { readonly message?: unknown }).message ?? JSON.stringify(error));

export const fromPromise = (create: Create): unknown =>
  fromPromisePlain(async (given: Given) => {
    const tell = async (answer: object): Promise<void> => {
      // One whose state was left answers nobody.
      if (!given.signal.aborted) await note?.(instance, { input, ...answer });
    };
    const instance = place.getStore()?.instance ?? '';
    const input = JSON.stringify(given.input);
    const random = randomOf(`${instance} ${create} ${input}`);
    return place.run({ instance, random }, async () => {
      try {
        const output = await create(given);
        await tell({ output });
        return output;
      } catch (error) {
        await tell({ error: messageOf(error) });
        throw error;
      }
    });
  });
