/** The console over a running product, listening on a port of its own. */
import { createConsole } from '../../../src/console/console.ts';
import { listen } from '../../../src/http/server.ts';
import type { Operators } from '../../../src/operators/operators.ts';
import { type ReplayStage, startReplayStage } from '../../operators/replay-stage.ts';
import { startStage } from '../../operators/stage.ts';
import type { TestRedis } from '../../support/redis.ts';

export interface ConsoleStage extends ReplayStage {
  readonly url: string;
  readonly operators: Operators;
  /** What went wrong inside. */
  readonly troubles: readonly Error[];
  /** Path and query of a login link. */
  newLink(): Promise<string>;
  /** Value of the cookie of somebody who is logged in: `the-viewer`, `the-operator`, `the-admin`. */
  logIn(role: 'viewer' | 'operator' | 'admin'): Promise<string>;
}

const password = 'correct horse battery';

export const startConsoleStage = async (redis: TestRedis): Promise<ConsoleStage> => {
  const stage = await startReplayStage(redis);
  stage.runner();
  const { operators } = startStage(redis.client(), stage.prefix);
  const troubles: Error[] = [];
  let url = '';
  const mounted = createConsole({
    operators,
    audit: stage.audit,
    replays: stage.replays,
    callbacks: stage.callbacks,
    history: stage.history,
    transactions: stage.product.api.transactions,
    shards: stage.shards,
    redis: stage.product.core.blocking,
    providers: () => [],
    publicUrl: () => url,
    sandbox: true,
    addressOf: () => ({ caller: '192.0.2.1' }),
    now: Date.now,
    log: { trouble: (error) => void troubles.push(error) },
  });
  const server = await listen({
    fetch: async (request, bindings) => mounted.routes.fetch(request, bindings ?? {}),
    refusal: stage.product.api.refusal,
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 30_000,
    headersTimeoutMs: 30_000,
    tls: undefined,
  });
  url = server.url;
  return {
    ...stage,
    url,
    operators,
    troubles,
    newLink: async () => `/admin/login/link?token=${(await operators.issueLink()).secret}`,
    logIn: async (role) => {
      const by = { name: 'test', role: 'admin', via: 'cli' } as const;
      const name = `the-${role}`;
      await operators.users.add(by, { name, role, password });
      const login = await operators.logInByPassword({ name, password, address: { caller: role } });
      if (login.kind !== 'in') throw new Error(login.kind);
      return login.cookie;
    },
    close: async () => {
      mounted.endWaiting();
      server.cut();
      await server.drain();
      await stage.close();
    },
  };
};
