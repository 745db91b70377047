/** Callbacks in a process with workers. */
import { createPosts } from '../../src/outgoing/post.ts';
import type { Running, WorkerRooms } from '../../src/part.ts';
import { observed } from '../../src/telemetry/observed.ts';
import type { WorkflowTellers } from '../processes/activities/workflow-work.ts';
import { type callbackConfiguration, subscribersIn } from './configuration.ts';
import { createCallWebhook } from './deliver.ts';
import { createCallbackCounter, createCallbackLog } from './log.ts';
import { createProcessNotices } from './process-notices.ts';
import { startCallbacks } from './start.ts';

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

export const openCallbackTellers = async (rooms: Rooms): Promise<WorkflowTellers> => {
  const { settings, serviceKey, now } = rooms;
  const { applicationProviders: providers, operations, sandbox } = settings;
  const { notifyEnd, ...effects } = createProcessNotices({
    ...rooms,
    apIds: subscribersIn(providers),
  });
  return {
    effects,
    notifyEnd,
    callWebhook: createCallWebhook({
      providers,
      serviceKey,
      now,
      ...createPosts({ allowedHosts: operations.callbackHosts, sandbox, now, readsAnswers: true }),
    }),
  };
};
