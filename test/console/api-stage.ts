/**
 * The console over a running product, with somebody of each role logged in. Nothing listens:
 * requests are made by `fetch`.
 */
import { createConsole } from '../../src/console/console.ts';
import type { ConsoleDeps } from '../../src/console/deps.ts';
import type { Json, TestProductOptions } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';
import { startReplayStage } from './operators/replay-stage.ts';
import { logInAs, startStage } from './operators/stage.ts';

export const roles = ['viewer', 'operator', 'admin'] as const;
export type Somebody = (typeof roles)[number];

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly body: Json;
}

export type ApiStage = Awaited<ReturnType<typeof startApiStage>>;

export const startApiStage = async (
  redis: TestRedis,
  charts: TestProductOptions['charts'] = [],
) => {
  const stage = await startReplayStage(redis, charts);
  const { operators } = startStage(redis.client(), stage.prefix);
  const by = { name: 'test', role: 'admin', via: 'cli' } as const;
  const troubles: Error[] = [];
  const deps: ConsoleDeps = {
    ...stage.secretsWith({
      serviceKey: stage.product.core.serviceKey,
      custody: stage.product.core.custodyOver(stage.product.core.commands),
      vault: stage.product.core.vaultOver(stage.product.core.commands),
      publicUrl: () => 'http://test',
    }),
    operators,
    audit: stage.audit,
    replays: stage.replays,
    parts: stage.parts,
    frame: stage.frame,
    auditActions: stage.auditActions,
    history: stage.history,
    indexed: true,
    transactions: stage.product.api.transactions,
    shards: stage.shards,
    redis: stage.product.core.blocking,
    providers: () => [
      {
        id: 'http://bank.example',
        password: true,
        clientCertificateFingerprints: undefined,
        profiles: undefined,
        services: undefined,
        dtbsPrefix: 'Bank: ',
        rateLimit: undefined,
        more: {},
      },
    ],
    links: {
      log: 'https://logs.example/?q={msspTransId}',
      trace: 'https://traces.example/{traceId}',
    },
    publicUrl: () => 'http://test',
    sandbox: true,
    addressOf: () => ({ caller: '192.0.2.1' }),
    now: Date.now,
    log: { trouble: (error) => void troubles.push(error) },
  };
  const mounted = createConsole(deps);
  const fetch = async (path: string, init: RequestInit = {}): Promise<Response> =>
    mounted.routes.fetch(new Request(`http://test${path}`, init), {});

  const cookies: Partial<Record<Somebody, string>> = {};
  const csrf: Partial<Record<Somebody, string>> = {};
  for (const role of roles) {
    await operators.users.add(by, { name: `the-${role}`, role });
    const login = await logInAs(operators, `the-${role}`);
    cookies[role] = `paraph_admin=${login.cookie}`;
    csrf[role] = operators.csrfTokenOf(login.session);
  }

  return {
    ...stage,
    console: mounted,
    operators,
    troubles,
    cookies: cookies as Record<Somebody, string>,
    csrf: csrf as Record<Somebody, string>,
    fetch,
    /** Sends a form of a page. */
    post: (
      who: Somebody,
      path: string,
      fields: Record<string, string>,
      headers: Record<string, string> = {},
    ): Promise<Response> =>
      fetch(path, {
        method: 'POST',
        headers: { host: 'test', origin: 'http://test', cookie: cookies[who] ?? '', ...headers },
        body: new URLSearchParams({ csrf: csrf[who] ?? '', ...fields }),
      }),
    /** As somebody who is logged in, with the token against forged requests. */
    ask: async (
      who: Somebody | 'nobody',
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Answered> => {
      const response = await fetch(path, {
        method,
        headers: {
          host: 'test',
          ...(who !== 'nobody' && { cookie: cookies[who] ?? '' }),
          ...(method !== 'GET' && who !== 'nobody' && { 'x-csrf-token': csrf[who] ?? '' }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      let parsed: Json;
      try {
        parsed = JSON.parse(text);
      } catch {}
      return { status: response.status, text, headers: response.headers, body: parsed };
    },
    close: async (): Promise<void> => {
      mounted.endWaiting();
      await stage.close();
    },
  };
};
