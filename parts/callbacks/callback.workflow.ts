/** The workflow of callbacks, for the workers that run it and for orders to it. */
import { z } from 'zod';
import { defineWorkflow } from '../../packages/engine/src/define.ts';
import {
  type CallbackContext,
  type CallbackInput,
  type CallbackMessage,
  type callbackMachine,
  callbackVersion,
  messageSchema,
  trySchema,
} from './callback.machine.ts';

export const callbackJobName = 'callback';

/** An id that can be sent in a header. */
const sendableId = z.string().regex(/^[\w-]+$/);

/** @param chart With its activity, where workers run it. */
export const defineCallbacks = (chart: typeof callbackMachine) =>
  defineWorkflow({
    name: callbackJobName,
    version: callbackVersion,
    // The callback has a page of its own.
    journal: false,
    chart,
    input: messageSchema,
    events: trySchema,
    begin: (data: CallbackMessage, { id, at, attempts }): CallbackInput => ({
      id: sendableId.parse(id),
      data,
      most: attempts,
      pauseMs: 'notBefore' in data ? Math.max((data.notBefore ?? 0) - at, 0) : 0,
    }),
    observe: ['tell'],
    reasonOf: ({ problem }: CallbackContext) => problem ?? '',
  });
