/** Processes in the console: their people, and the order to ask one of them once more. */
import type { HostedConsole } from '../../workflows/index.ts';
import { againNotices, createAgainRoutes } from './again.route.ts';
import { detailOf, keptBy } from './detail.ts';

export const processConsole: HostedConsole = {
  routes: createAgainRoutes,
  notices: againNotices,
  actions: { 'workflow-again': { target: 'workflows' } },
  words: { 'POST /workflows/:id/again': 'Ask a signer of a process once more' },
  detailOf,
  keptBy,
};
