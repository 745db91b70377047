/** Callbacks tell applications about ends of transactions and events of processes and charts. */
import { definePart } from '../../src/part/part.ts';
import { callbackCommands } from './command.ts';
import { callbackConfiguration } from './configuration.ts';
import { callbackQueueName } from './queue.ts';

export const callbacks = definePart({
  name: 'callbacks',
  configuration: callbackConfiguration,
  queues: [callbackQueueName],
  slots: ['callbacks'],
  auditActions: ['callback-replay', 'callback-try', 'callback-secret'],
  startWorkers: async (rooms) => (await import('./workers.ts')).startCallbackSide(rooms),
  openTellers: async (rooms) => (await import('./workers.ts')).openCallbackTellers(rooms),
  openConsole: async (rooms) => (await import('./console.ts')).openCallbackConsole(rooms),
  commands: callbackCommands,
});
