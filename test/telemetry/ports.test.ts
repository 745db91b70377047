/** What the wrappers of the ports count, beside passing everything on. */
import { EventEmitter } from 'node:events';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Command } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { CallbackLog } from '../../parts/callbacks/callback.worker.ts';
import { createCallbackCounter } from '../../parts/callbacks/log.ts';
import { createTelemetry } from '../../src/app/telemetry.ts';
import type { AnsweredEntry } from '../../src/http/log.ts';
import type { Fetch } from '../../src/http/metrics.ts';
import { createRouteOf } from '../../src/http/route-label.ts';
import type { OauthEntry } from '../../src/oauth/log.ts';
import type { PromptResult, SigningDevice } from '../../src/sscd/device.ts';
import { createLabel } from '../../src/telemetry/labels.ts';
import { observed } from '../../src/telemetry/observed.ts';
import type { Watched } from '../../src/telemetry/redis-metrics.ts';
import { readExposition } from './exposition.ts';

const open = (now: () => number = Date.now) => {
  const telemetry = createTelemetry({
    version: '1',
    apIds: [],
    areas: [],
    oauth: [{ endpoints: ['/counter'], grantTypes: ['urn:grant:of-a-part'] }],
    access: { open: true },
    tracing: { enabled: false, serviceName: 'paraph' },
    processMetrics: false,
    now,
  });
  const scrape = async () => readExposition(await telemetry.registry.metrics());
  return { telemetry, scrape };
};

describe('the OpenID provider', () => {
  it('is counted by what becomes of requests, logins and tokens', async () => {
    const { telemetry, scrape } = open();
    const told: OauthEntry[] = [];
    const log = telemetry.oauthLog({
      audit: (entry) => void told.push(entry),
      trouble: () => undefined,
    });
    const entries: Omit<OauthEntry, 'tenant'>[] = [
      { event: 'request pushed' },
      { event: 'request refused', error: 'invalid_request' },
      { event: 'login begun' },
      { event: 'login ended' },
      { event: 'login ended', fault: 401, error: 'access_denied' },
      { event: 'login ended', error: 'access_denied', code: 'x' },
      { event: 'login limited' },
      { event: 'tokens issued', grantType: 'authorization_code' },
      { event: 'tokens issued', grantType: 'urn:grant:of-a-part' },
      { event: 'tokens issued', grantType: 'urn:anything:a-caller-makes-up' },
      { event: 'token refused', error: 'invalid_grant' },
      { event: 'logged out' },
    ];
    for (const entry of entries) log.audit({ tenant: 't', ...entry });
    expect(told).toHaveLength(entries.length);
    const seen = await scrape();
    const logins = (labels: Record<string, string>) =>
      seen.valueOf('paraph_oidc_logins_total', labels);
    expect(seen.valueOf('paraph_oidc_requests_total', { result: 'pushed' })).toBe(1);
    expect(seen.valueOf('paraph_oidc_requests_total', { result: 'refused' })).toBe(1);
    expect([
      logins({ result: 'begun' }),
      logins({ result: 'signed' }),
      logins({ result: 'limited' }),
    ]).toEqual([1, 1, 1]);
    expect(logins({ result: 'failed', fault: '401' })).toBe(1);
    expect(seen.samples.filter(({ labels }) => labels.result === 'failed')).toHaveLength(2);
    expect(seen.valueOf('paraph_oidc_tokens_total', { grant_type: 'authorization_code' })).toBe(1);
    expect(seen.valueOf('paraph_oidc_tokens_total', { grant_type: 'urn:grant:of-a-part' })).toBe(1);
    expect(seen.valueOf('paraph_oidc_tokens_total', { grant_type: 'other' })).toBe(1);
    expect(seen.valueOf('paraph_oidc_refusals_total', { what: 'token' })).toBe(1);
  });
});

describe('an upstream', () => {
  it('is down from when its circuit breaker opens until it closes', async () => {
    const { telemetry, scrape } = open();
    const told: string[] = [];
    const log = telemetry.upstreamLog({
      down: (upstream) => void told.push(`${upstream} down`),
      back: (upstream) => void told.push(`${upstream} back`),
    });
    const upstream = 'https://texts.example';
    const isDown = async () => (await scrape()).valueOf('paraph_upstream_down', { upstream });
    expect(await isDown()).toBeUndefined();
    log.down(upstream);
    expect(await isDown()).toBe(1);
    log.back(upstream);
    expect(await isDown()).toBe(0);
    expect(told).toEqual([`${upstream} down`, `${upstream} back`]);
  });
});

describe('callbacks', () => {
  it('are counted by how their tries went, from zero on, and told to the log', async () => {
    const { telemetry, scrape } = open();
    const told: unknown[][] = [];
    const tell =
      (what: string) =>
      (...given: readonly unknown[]) =>
        void told.push([what, ...given]);
    const log = observed<CallbackLog>(
      { delivered: tell('delivered'), undelivered: tell('undelivered'), gaveUp: tell('gaveUp') },
      createCallbackCounter(telemetry.registry),
    );
    const counted = async () => {
      const seen = await scrape();
      return ['delivered', 'undelivered', 'dead', 'failing'].map((outcome) =>
        seen.valueOf('paraph_callbacks_total', { outcome }),
      );
    };
    expect(await counted()).toEqual([0, 0, 0, 0]);
    log.undelivered('a', 1, 'HTTP 500');
    log.undelivered('a', 2, 'HTTP 500');
    log.gaveUp('a', 3, 'HTTP 500');
    log.delivered('b', 1, '204');
    expect(await counted()).toEqual([1, 2, 1, 0]);
    expect(told.at(2)).toEqual(['gaveUp', 'a', 3, 'HTTP 500']);
    expect(told.map(([what]) => what)).toEqual([
      'undelivered',
      'undelivered',
      'gaveUp',
      'delivered',
    ]);
    // The pauses before the fifth try make twelve minutes: its receiver is in trouble.
    for (const tries of [4, 5, 6]) log.undelivered('c', tries, 'HTTP 500');
    expect(await counted()).toEqual([1, 3, 1, 2]);
  });
});

describe('HTTP', () => {
  it('is heard through its log, with the fault', async () => {
    const { telemetry, scrape } = open();
    const told: AnsweredEntry[] = [];
    const log = telemetry.httpLog({
      answered: (entry) => void told.push(entry),
      trouble: () => undefined,
    });
    log.answered({ path: '/rest/service/sign', status: 500, durationMs: 1500, fault: 900 });
    expect(told).toHaveLength(1);
    const seen = await scrape();
    const route = '/rest/service/sign';
    expect(seen.valueOf('paraph_http_requests_total', { route, status: '500' })).toBe(1);
    expect(seen.valueOf('paraph_http_faults_total', { route, fault: '900' })).toBe(1);
    expect(seen.valueOf('paraph_http_request_duration_seconds_sum', { route })).toBe(1.5);
  });

  it('counts the signature interface once, though the application is wrapped as well', async () => {
    const { telemetry, scrape } = open();
    const fetch = telemetry.fetch(() => new Response());
    await fetch(new Request('http://test/rest/service/sign'));
    await fetch(new Request('http://test/docs'));
    const seen = await scrape();
    expect(
      seen.samples.flatMap(({ name, labels }) =>
        name.endsWith('requests_total') ? [labels.route] : [],
      ),
    ).toEqual(['/docs']);
  });

  it('tells the status that the OpenID library has written to the socket', async () => {
    const { telemetry, scrape } = open();
    const outgoing = { statusCode: 200, headersSent: false } as NonNullable<
      Parameters<Fetch>[1]
    >['outgoing'];
    const inner: Fetch = async () => {
      Object.assign(outgoing ?? {}, { statusCode: 400, headersSent: true });
      return RESPONSE_ALREADY_SENT;
    };
    await telemetry.fetch(inner)(new Request('http://test/oidc/token'), outgoing && { outgoing });
    expect(
      (await scrape()).valueOf('paraph_http_requests_total', {
        route: '/oidc/token',
        status: '400',
      }),
    ).toBe(1);
  });

  it('counts refusals by what was short', async () => {
    const { telemetry, scrape } = open();
    telemetry.refused(17, 'callers waiting');
    expect(
      (await scrape()).valueOf('paraph_http_refused_total', { shortage: 'callers waiting' }),
    ).toBe(17);
  });
});

describe('devices', () => {
  const device = (result: () => Promise<PromptResult>): SigningDevice => ({
    kind: 'robot',
    screen: false,
    upstream: undefined,
    prompt: result,
    receipt: async () => ({ kind: 'answered', receipt: 'accepted' }),
  });
  it('are timed by kind and outcome, and pass on what they say and throw', async () => {
    let time = 0;
    const { telemetry, scrape } = open(() => time);
    const slow = telemetry.devices({
      deviceFor: () =>
        device(async () => {
          time += 250;
          return { kind: 'unreachable', cause: 'no way' };
        }),
    });
    const target = { method: 'otp-text' } as const;
    const prompt = {} as Parameters<SigningDevice['prompt']>[0];
    expect(await slow.deviceFor(target).prompt(prompt)).toEqual({
      kind: 'unreachable',
      cause: 'no way',
    });
    const broken = telemetry.devices({
      deviceFor: () => device(() => Promise.reject(new Error('broken'))),
    });
    await expect(broken.deviceFor(target).prompt(prompt)).rejects.toThrow('broken');
    const seen = await scrape();
    const name = 'paraph_device_duration_seconds';
    expect(
      seen.valueOf(`${name}_sum`, { kind: 'robot', purpose: 'signature', outcome: 'unreachable' }),
    ).toBe(0.25);
    expect(seen.valueOf(`${name}_count`, { outcome: 'error' })).toBe(1);
  });
});

describe('troubles', () => {
  it('are counted by kind before the log makes them quiet', async () => {
    const { telemetry, scrape } = open();
    const told: string[] = [];
    const trouble = telemetry.trouble('product', ({ message }) => void told.push(message));
    trouble(new Error('Command timed out'));
    trouble(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    trouble(new Error('http://ap.example is not a kind'));
    const seen = await scrape();
    const kinds = seen.samples.flatMap(({ name, labels }) =>
      name === 'paraph_troubles_total' ? [labels.kind] : [],
    );
    expect(kinds).toEqual(['redis-timeout', 'redis-away', 'other']);
    expect(told).toHaveLength(3);
  });
});

describe('a connection to Redis', () => {
  const connection = () => {
    const emitter = new EventEmitter();
    const sent: unknown[] = [];
    const client = Object.assign(emitter, {
      status: 'ready',
      sendCommand: (command: Command) => {
        sent.push(command);
        return command.promise;
      },
    }) satisfies Watched;
    return { client, sent };
  };
  const command = () => ({ promise: Promise.resolve() }) as unknown as Command;

  it('is up or not, and counts how often it comes back', async () => {
    const { telemetry, scrape } = open();
    const { client } = connection();
    telemetry.watchRedis('commands', client);
    expect((await scrape()).valueOf('paraph_redis_up')).toBe(1);
    client.status = 'reconnecting';
    client.emit('reconnecting');
    const seen = await scrape();
    expect(seen.valueOf('paraph_redis_up')).toBe(0);
    expect(seen.valueOf('paraph_redis_reconnects_total')).toBe(1);
  });

  it('times one command in 64 and passes on all', async () => {
    const { telemetry, scrape } = open();
    const { client, sent } = connection();
    telemetry.watchRedis('commands', client);
    for (let index = 0; index < 129; index += 1) await client.sendCommand(command());
    expect(sent).toHaveLength(129);
    expect((await scrape()).valueOf('paraph_redis_command_duration_seconds_count')).toBe(3);
  });
});

describe('a record whose times are none', () => {
  it('is counted and fails nobody', async () => {
    const { telemetry, scrape } = open();
    telemetry.transactionLog.signed('x', {
      version: 1,
      state: 'signed',
      attempt: 1,
      deadline: Number.NaN,
      outcome: { kind: 'delivered' },
      history: [
        { state: 'submitted', attempt: 1, at: Number.NaN },
        { state: 'signed', attempt: 1, at: 2 },
      ],
    });
    const seen = await scrape();
    expect(seen.valueOf('paraph_transactions_total', { state: 'signed' })).toBe(1);
    expect(seen.valueOf('paraph_time_to_sign_seconds_count')).toBeUndefined();
  });
});

describe('labels', () => {
  it('name the first 200, and nobody beyond them', () => {
    const label = createLabel(Array.from({ length: 1000 }, (_, index) => `ap-${index}`));
    expect([label('ap-199'), label('ap-200'), label(undefined), label('')]).toEqual([
      'ap-199',
      'other',
      'other',
      'other',
    ]);
  });

  it.each([
    ['/rest/service/sign', '/rest/service/sign'],
    ['/rest/service/signs', 'other'],
    ['/oidc/par', '/oidc/par'],
    ['/oidc/t/bank/par', '/oidc/par'],
    ['/oidc/t/par/anything', '/oidc/*'],
    ['/oidc/token/revocation', '/oidc/token'],
    ['/oidc/interaction/abcdef/number', '/oidc/interaction'],
    ['/oidc/counter', '/oidc/counter'],
    ['/oidc/t/bank/counter', '/oidc/counter'],
    ['/oidc', '/oidc/*'],
    ['/admin/api/transactions/H00', '/admin/*'],
    ['/stand', '/stand/*'],
    ['/stand/a/b', '/stand/*'],
    ['/__proto__', 'other'],
    ['/', 'other'],
    ['', 'other'],
  ])('takes the path %s for %s', (path, route) => {
    expect(createRouteOf(['stand'], ['/counter'])(path)).toBe(route);
  });
});
