/** What the engine gives an action of a chart that it carries out. */
import type { AnyEventObject, AnyStateMachine, EventFromLogic } from 'xstate';
import type { InstanceInHand, Workflow } from './define.ts';
import type { SendResult } from './engine.ts';
import type { ToChild } from './instances.ts';

export interface EffectInHand {
  /** Unique, and the same when the effect is carried out again. */
  readonly id: string;
  /** The address of the instance, or of the child chart that has the action (`addressOf`). */
  readonly address: string;
  readonly instance: InstanceInHand;
  /**
   * Sends an event to an instance. The key follows from the effect and from how many events it has
   * sent before, so an effect that is carried out again sends the same ones, and they are applied
   * once.
   *
   * @throws SchemaError when the workflow takes no such event from outside; UnstorableError.
   */
  send<Machine extends AnyStateMachine, Input>(
    workflow: Workflow<Machine, Input>,
    id: string,
    event: EventFromLogic<Machine>,
  ): Promise<SendResult>;
  send(
    workflow: Workflow,
    id: string,
    event: AnyEventObject,
    options: ToChild,
  ): Promise<SendResult>;
}

/**
 * The effect that an action is, from what the action gets.
 *
 * ```ts
 * actions: { tellStock: (given) => effectOf(given).send(stock, 'main', { type: 'ORDERED' }) }
 * ```
 *
 * @throws Error where XState itself runs the action.
 */
export const effectOf = (given: object): EffectInHand => {
  const { instance, effect } = given as {
    readonly instance?: InstanceInHand;
    readonly effect?: object;
  };
  if (instance === undefined || effect === undefined)
    throw new Error('Only the engine carries out effects');
  return { ...effect, instance } as EffectInHand;
};

/** Marks actions of `effect`. All copies of this package share it. */
const byParams = Symbol.for('paraph.effect');

/**
 * Makes an action that reads its parameters only. The record then keeps neither the event nor the
 * context, which may be large.
 *
 * ```ts
 * actions: { tellStock: effect((item: string, { send }) => send(stock, 'main', { type: 'ORDERED',
 * item })) }
 * ```
 */
export const effect = <Params>(run: (params: Params, effect: EffectInHand) => unknown) => {
  const action = (given: object, params: Params): void => run(params, effectOf(given)) as never;
  return Object.assign(action, { [byParams]: true });
};

/** Whether an action was made by {@link effect}. */
export const readsParamsOnly = (action: unknown): boolean =>
  typeof action === 'function' && byParams in action;
