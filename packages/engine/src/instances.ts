/**
 * The instances of one workflow, typed by its machine.
 *
 * ```ts
 * const orders = engine.of(order);
 * await orders.start('order-4711', input);                               // 'started' | 'exists'
 * await orders.send('order-4711', { type: 'PAID' }, { key: 'mail-1' });  // 'taken' | 'refused' | …
 * const snapshot = await orders.waitFor('order-4711', (each) => each.hasTag('paid'));
 * ```
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  AnyEventObject,
  AnyStateMachine,
  EventFromLogic,
  EventObject,
  OutputFrom,
  SnapshotFrom,
} from 'xstate';
import type { Workflow } from './define.ts';
import type { Engine, Foresight, Instance, SendResult } from './engine.ts';
import { addressOf } from './record.ts';

export interface SendOptions {
  /**
   * Unique for the event, up to 1000 characters. Sent again under its key it is applied once, until
   * two hundred others have come. Default: a new one, so that a repetition is another event.
   */
  readonly key?: string;
  /** Waits until the chart has taken or refused the event. Default: false. */
  readonly judged?: boolean;
}

/** An event for a child chart. */
export interface ToChild {
  /**
   * Names of the children from the root, each percent-encoded, with slashes between: `step-2/anna`.
   */
  readonly path: string;
}

/** An instance, as its machine types it. */
export interface InstanceOf<Machine extends AnyStateMachine> {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; undefined while the instance is open. */
  readonly endedAt: number | undefined;
  /** Undefined before its first turn, and for an instance of another version of the workflow. */
  readonly snapshot: SnapshotFrom<Machine> | undefined;
  readonly ended: 'no' | 'completed' | 'failed';
  /** The output of an instance that has completed in a final state; undefined for others. */
  readonly output: OutputFrom<Machine> | undefined;
  /** Why it has failed, or was stopped. */
  readonly reason: string | undefined;
}

type StartOptions = { readonly delayMs?: number };

/** The arguments after the id. A machine without input needs none. */
type StartArguments<Input> = undefined extends Input
  ? [input?: Input, options?: StartOptions]
  : [input: Input, options?: StartOptions];

export interface Instances<Machine extends AnyStateMachine, Input> {
  /**
   * Makes an instance durable. One that exists under the id stays as it is.
   *
   * @param id Letters, digits, `-` and `_`, not digits alone.
   * @throws SchemaError when the input is not what the workflow takes; UnstorableError.
   */
  start(id: string, ...given: StartArguments<Input>): Promise<'started' | 'exists'>;
  /** @throws SchemaError when the workflow takes no such event from outside; UnstorableError. */
  send(id: string, event: EventFromLogic<Machine>, options?: SendOptions): Promise<SendResult>;
  send(id: string, event: AnyEventObject, options: SendOptions & ToChild): Promise<SendResult>;
  /**
   * Starts an instance with an event, or sends the event to the one that exists. Start and event
   * are stored in one step: the event lies in the job that is added, and the first turn applies it
   * before all others.
   *
   * @param options.key Required, so that a repetition after a crash sends the same event.
   * @returns `started`, or what the send has given.
   * @throws The errors of `start` and `send`.
   */
  sendOrStart(
    id: string,
    input: Input,
    event: EventFromLogic<Machine>,
    options: SendOptions & { readonly key: string },
  ): Promise<'started' | SendResult>;
  /** Computes with the chart what a send would do now. Changes nothing. @throws As `send`. */
  can(id: string, event: EventFromLogic<Machine>): Promise<Foresight>;
  can(id: string, event: AnyEventObject, options: ToChild): Promise<Foresight>;
  find(id: string): Promise<InstanceOf<Machine> | undefined>;
  /**
   * Resolves with the first stored snapshot that satisfies the predicate. It polls, so it is for
   * few instances, and may miss a state that lasts for one turn.
   *
   * @throws When the instance ends before, is unknown, or the signal aborts.
   */
  waitFor(
    id: string,
    predicate: (snapshot: SnapshotFrom<Machine>) => boolean,
    options?: { readonly signal?: AbortSignal },
  ): Promise<SnapshotFrom<Machine>>;
  /**
   * Resolves when the instance has ended. It polls.
   * @throws When it is unknown, or the signal aborts.
   */
  ended(id: string, options?: { readonly signal?: AbortSignal }): Promise<InstanceOf<Machine>>;
  /** Ends the instance without asking its chart. One that has ended stays as it is. */
  stop(id: string, reason?: string): Promise<SendResult>;
}

const maxPollMs = 1000;

export const createInstances = <Machine extends AnyStateMachine, Input>(
  engine: Engine,
  workflow: Workflow<Machine, Input>,
): Instances<Machine, Input> => {
  const snapshotOf = (instance: Instance): SnapshotFrom<Machine> | undefined =>
    engine.snapshot(workflow, instance) as SnapshotFrom<Machine> | undefined;

  const viewOf = (instance: Instance): InstanceOf<Machine> => {
    const { id, createdAt, endedAt, ended, record, failedReason } = instance;
    const snapshot = snapshotOf(instance);
    const { output } = (snapshot ?? {}) as { readonly output?: OutputFrom<Machine> };
    const reason = failedReason ?? record?.reason;
    return { id, createdAt, endedAt, snapshot, ended, output, reason };
  };

  const send = (
    id: string,
    event: EventObject,
    { key, path = '', judged }: SendOptions & Partial<ToChild> = {},
  ): Promise<SendResult> =>
    engine.send(workflow, addressOf(id, path), key ?? randomUUID(), event, {
      ...(judged !== undefined && { judged }),
      sentOnce: key === undefined,
    });

  return {
    start: (id, ...[input, options]) => engine.start(workflow, id, input, options),

    send,

    sendOrStart: async (id, input, event, options) => {
      const { key } = options;
      const started = await engine.start(workflow, id, input, { first: { key, event } });
      return started === 'started' ? started : send(id, event, options);
    },

    can: (id: string, event: EventObject, { path = '' }: Partial<ToChild> = {}) =>
      engine.can(workflow, addressOf(id, path), event),

    find: async (id) => {
      const instance = await engine.find(id);
      return instance && viewOf(instance);
    },

    waitFor: async (id, predicate, { signal } = {}) => {
      for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, maxPollMs)) {
        const instance = await engine.find(id);
        if (instance === undefined) throw new Error('There is no such instance');
        const snapshot = snapshotOf(instance);
        if (snapshot !== undefined && predicate(snapshot)) return snapshot;
        if (instance.ended !== 'no')
          throw new Error('The instance has ended before it was as wanted');
        await delay(pauseMs, undefined, { signal });
      }
    },

    ended: async (id, { signal } = {}) => viewOf(await engine.ended(id, signal)),

    stop: (id, reason) => engine.stop(id, reason),
  };
};
