/** Processes in the console: their people, and the order to ask one of them once more. */
import type { HostedConsole } from '../../workflows/index.ts';
import type { AdditionConsole } from '../addition.ts';
import { againNotices, createAgainRoutes } from './again.route.ts';
import { createDetailOf, keptBy } from './detail.ts';

/** @param addition What another part shows of a process. */
export const createProcessConsole = (addition?: AdditionConsole): HostedConsole => ({
  routes: createAgainRoutes,
  notices: againNotices,
  actions: { 'workflow-again': { target: 'workflows' } },
  words: { 'POST /workflows/:id/again': 'Ask a signer of a process once more' },
  detailOf: createDetailOf(addition),
  keptBy,
});
