/**
 * What examples and tests of `@restatedev/xstate` ask of it, by plain XState: here the charts are
 * wanted, not their runtime.
 */
import { fromPromise as plainPromise } from 'xstate';
import { createActor } from './xstate-recorded.ts';

export class TerminalError extends Error {}
export const serve = (): void => undefined;

export const xstate = (_name: string, machine: unknown): unknown => ({ machine });

/** The member `ctx` is Restate's; its steps are run at once. */
export const fromPromise = (create: (given: object) => Promise<unknown>): unknown => {
  const ctx = { run: (_step: string, step: () => unknown) => step(), rand: Math, console };
  return plainPromise(async (given) => create({ ...given, ctx }));
};

interface Running {
  start(): unknown;
  send(event: unknown): void;
  getSnapshot(): { readonly status: string };
}

/** Answers in a later turn of the event loop, as a service does. */
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

export const createRestateTestActor = async (given: {
  readonly machine: { readonly machine: unknown };
  readonly input?: unknown;
}): Promise<unknown> => {
  const actor = createActor(given.machine.machine, { input: given.input ?? {} }) as Running;
  actor.start();
  await later();
  const snapshot = async (): Promise<unknown> => {
    await later();
    return actor.getSnapshot();
  };
  return {
    snapshot,
    send: async (event: unknown) => {
      actor.send(event);
      return snapshot();
    },
    waitFor: async (_condition: string, event?: unknown) => {
      if (event !== undefined) actor.send(event);
      while (actor.getSnapshot().status === 'active') await later();
      return actor.getSnapshot();
    },
    [Symbol.dispose]: () => undefined,
  };
};
