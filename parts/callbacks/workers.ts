/** Callbacks in a process with workers. */
import { createPosts } from '../../src/http/outgoing/post.ts';
import type { Tellers } from '../../src/http/outgoing/tellers.ts';
import type { Running } from '../../src/part/opened.ts';
import type { WorkerRooms } from '../../src/part/rooms.ts';
import { observed } from '../../src/telemetry/observed.ts';
import { type callbackConfiguration, subscribersIn } from './configuration.ts';
import { createCallWebhook } from './deliver.ts';
import { createCallbackCounter, createCallbackLog } from './log.ts';
import { startCallbacks } from './start.ts';
import { createTellWorkflow } from './workflow-messages.ts';

type Rooms = WorkerRooms<(typeof callbackConfiguration)['shapes']>;

export const startCallbackSide = (rooms: Rooms): Promise<Running> => {
  const { settings, log, registry } = rooms;
  return startCallbacks({
    ...rooms,
    providers: settings.applicationProviders,
    allowedHosts: settings.operations.callbackHosts,
    sandbox: settings.sandbox,
    log: observed(createCallbackLog(log), createCallbackCounter(registry)),
  });
};

export const openCallbackTellers = async (rooms: Rooms): Promise<Tellers> => {
  const { settings, serviceKey, now } = rooms;
  const { applicationProviders: providers, operations, sandbox } = settings;
  return {
    tell: createTellWorkflow({ ...rooms, apIds: subscribersIn(providers) }),
    callWebhook: createCallWebhook({
      providers,
      serviceKey,
      now,
      ...createPosts({ allowedHosts: operations.callbackHosts, sandbox, now, readsAnswers: true }),
    }),
  };
};
