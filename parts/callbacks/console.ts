/**
 * Callbacks in the console: their pages, the section of a transaction, a tile, and their secrets.
 */
import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import { answer, refuse } from '../../src/console/answers.ts';
import { transactionPageOf } from '../../src/console/board/board-part.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../../src/console/deps.ts';
import { json, text } from '../../src/console/input.ts';
import { doneBy } from '../../src/console/operators/audit.ts';
import { count, counted } from '../../src/console/pages/markup.ts';
import type { ConsolePart } from '../../src/console/part.ts';
import { needs } from '../../src/console/session/session.ts';
import type { OperatorRooms } from '../../src/part/rooms.ts';
import { createCallbacks } from './callbacks.ts';
import type { CallbackProvider, callbackConfiguration } from './configuration.ts';
import { createCallbackRoutes } from './console.route.ts';
import { createCallbackHosts } from './hosts.ts';
import { callbackNotices } from './notices.ts';
import { callbacksSection } from './page.ts';
import { callbackQueueName } from './queue.ts';
import { createCallbackReplays } from './replays.ts';
import { callbackSecret } from './secret.ts';

const createSecretRoutes = (
  providers: readonly CallbackProvider[],
  serviceKey: Uint8Array,
  { audit }: Pick<AdminApiDeps, 'audit'>,
): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const receiver = z.strictObject({ apId: text(256) });
  routes.post('/admin/api/callback-secret', needs('admin'), json(receiver), async (c) => {
    const { apId } = c.req.valid('json');
    const application = providers.find(({ id }) => id === apId);
    if (application === undefined) return refuse(404, 'unknown', 'No application has that id');
    // Without a callback an application may get messages of processes and charts, under version 1.
    const { secretVersion } = application.callback ?? { secretVersion: 1 };
    // Recorded first: without a record nothing is shown.
    await audit.record({
      ...doneBy(c.get('session').operator),
      action: 'callback-secret',
      target: apId,
    });
    return answer({ secretVersion, secret: callbackSecret(serviceKey, apId, secretVersion) });
  });
  return routes;
};

export const openCallbackConsole = (
  rooms: OperatorRooms<(typeof callbackConfiguration)['shapes']>,
): ConsolePart => {
  const { redis, shards, audit, now, settings } = rooms;
  const { applicationProviders: providers } = settings;
  const callbacks = createCallbackReplays({
    callbacks: createCallbacks({ redis, shards, now }),
    audit,
    now,
  });
  const hosts = createCallbackHosts(providers);
  return {
    routes: (deps) => createCallbackRoutes(callbacks, hosts, deps),
    openSecrets: ({ serviceKey }) => ({
      routes: (deps) => createSecretRoutes(providers, serviceKey, deps),
    }),
    sections: [['callbacks', '/admin/callbacks', 'Callbacks', 'viewer', 'Transactions']],
    notices: callbackNotices,
    actions: {
      'callback-replay': { words: 'Callback sent again', target: 'transactions' },
      'callback-try': { words: 'Callback tried at once', target: 'transactions' },
    },
    words: {
      'GET /transactions/:id/callbacks': 'List the callbacks of a transaction',
      'GET /callbacks': 'List dead callbacks, or those that are tried again',
      'GET /callbacks/receivers': 'Count failing callbacks by receiver',
      'POST /callbacks/plan': 'Count the callbacks that would be replayed or tried at once',
      'POST /callbacks/try': 'Try callbacks at once that wait for their next try',
      'POST /callbacks/:id/try': 'Try a callback at once that waits for its next try',
      'POST /callbacks/replay': 'Replay dead callbacks',
      'POST /callbacks/:id/replay': 'Replay a dead callback',
      'POST /callback-secret': 'Show the secret of the callbacks of an application',
    },
    board: {
      [callbackQueueName]: {
        // One of a workflow is named after what has happened in it.
        pageOf: (id) => (id.startsWith('process-') ? '/admin/workflows' : transactionPageOf(id)),
      },
    },
    overview: async () => {
      const counts = await callbacks.counts();
      return {
        told: { callbacks: counts },
        tile: [
          'Callbacks tried again',
          html`<a href="/admin/callbacks?state=retried">${count(counts.retried)}</a>`,
          html`<a href="/admin/callbacks">${count(counts.dead)} dead</a>`,
        ],
      };
    },
    needs: async () => {
      const { dead, retried } = await callbacks.counts();
      const page = '/admin/callbacks';
      return [
        {
          kind: 'callbacks-dead',
          count: dead,
          text: `${counted(dead, 'callback')} ${dead === 1 ? 'is' : 'are'} dead: not delivered, and not tried again by themselves`,
          page,
        },
        {
          kind: 'callbacks-failing',
          count: retried,
          text: `${counted(retried, 'callback')} ${retried === 1 ? 'has' : 'have'} failed and will be tried again`,
          page: `${page}?state=retried`,
        },
      ].filter((need) => need.count > 0);
    },
    ofTransaction: async (session, { msspTransId, apId, attempt }) => ({
      name: 'callbacks',
      html: callbacksSection(
        session,
        hosts.shown(await callbacks.of(msspTransId, attempt)),
        hosts.of(apId),
      ),
    }),
    ofProvider: (apId) => ({ callbackHost: hosts.of(apId) }),
  };
};
