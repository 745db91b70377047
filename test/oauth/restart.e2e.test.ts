/**
 * A process that is killed in the middle of a login, again and again: the person goes on with the
 * same cookies at the next one and does not notice.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { killProcesses, startProcess } from '../support/process.ts';
import { testRedis } from '../support/redis.ts';
import { createBrowser, formIn, isWaiting } from './browser-client.ts';
import {
  claimsIn,
  clientEntry,
  hintFor,
  offline,
  type RelyingParty,
  relyingParty,
  roomyLimits,
  secret,
  sleeper,
} from './interoperability/stage.ts';

const redis = testRedis();
const serviceKey = randomBytes(32).toString('base64url');
const publicUrl = 'https://sign.example.com';
/** They sign after some seconds: long enough to be killed meanwhile. Each login has its own. */
const thinkers = ['41790000001', '41790000002', '41790000003'] as const;
let folder = '';
let configurationPath = '';
let url = '';

const start = async (): Promise<void> => {
  ({ url } = await startProcess({
    REDIS_URL: redis.url,
    PARAPH_CONFIG: configurationPath,
    PARAPH_DATA: folder,
    PARAPH_MASTER_KEY: serviceKey,
    PARAPH_LOG_LEVEL: 'warn',
  }));
};

/** How many of the tests below are under way, and those of them that wait for a death. */
let underWay = 0;
const waiting: (() => void)[] = [];
const restartIfAllWait = async (): Promise<void> => {
  if (waiting.length < underWay) return;
  const woken = waiting.splice(0);
  await killProcesses();
  await start();
  for (const wake of woken) wake();
};
/**
 * Kills the process as soon as all tests that are under way want it: a start costs seconds of a
 * core.
 */
const restart = (): Promise<void> =>
  new Promise((resolve, reject) => {
    waiting.push(resolve);
    restartIfAllWait().catch(reject);
  });
const withOthers = (test: () => Promise<void>) => async (): Promise<void> => {
  underWay += 1;
  try {
    await test();
  } finally {
    underWay -= 1;
    if (waiting.length > 0) await restartIfAllWait();
  }
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paraph-restart-'));
  configurationPath = join(folder, 'paraph.json');
  writeFileSync(
    configurationPath,
    JSON.stringify({
      sandbox: true,
      publicUrl,
      queue: { prefix: redis.prefix.slice(-32) },
      protocol: { minTimeoutSeconds: 1 },
      subscribers: thinkers.map((msisdn) => ({
        msisdn,
        sim: { device: { kind: 'robot', thinkSeconds: 3 } },
      })),
      oidc: {
        promptSeconds: 120,
        limits: roomyLimits,
        tenants: [
          { id: 'main', name: 'Main', clients: [clientEntry('shop', { numberMatching: true })] },
        ],
      },
    }),
  );
  await start();
});

afterAll(async () => {
  await killProcesses();
  rmSync(folder, { recursive: true, force: true });
});

/** The product of the moment: its port is another one after each start. */
const product = {
  get url() {
    return url;
  },
};
const shop = (): RelyingParty => relyingParty(product, { id: 'shop', secret, origin: publicUrl });
const newBrowser = () => createBrowser({ origin: publicUrl, server: () => url });

/** What a person reads. */
const textOf = (html: string): string =>
  html
    .slice(html.indexOf('<body'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

/** By which the person knows that page and phone mean the same. */
const sessionCodeOf = (html: string): string | undefined =>
  /\b[BCDFGHJKLMNPQRSTVWXZ2-9]{4}\b/.exec(textOf(html))?.[0];

/**
 * What the next one finds: the client holds a handle, the person sees the page, the phone is asked,
 * and so on.
 */
type Step = 'handle' | 'page' | 'phone' | 'code' | 'tokens';

describe('a process that is killed with -9', () => {
  /** Each is killed at every second step. */
  const login = (thinker: string, kills: readonly Step[]) =>
    withOthers(async () => {
      const maybeRestart = async (step: Step): Promise<void> => {
        if (kills.includes(step)) await restart();
      };
      const browser = newBrowser();
      const fields = { ...offline, login_hint: hintFor(thinker) };

      // The client holds a handle.
      const request = await shop().request(fields);
      await maybeRestart('handle');
      const { page } = await shop().follow(request, browser);
      expect(formIn(page.html, 'number')).toBeDefined();

      // The person sees the page, and sends the form of the process before.
      await maybeRestart('page');
      const asking = await browser.submit(page, 'number', { msisdn: `+${thinker}` });
      expect(isWaiting(asking.html)).toBe(true);

      // The phone is asked.
      await maybeRestart('phone');
      const again = await browser.open(asking.url);
      const end = await browser.settle(again);
      const code = end.left?.searchParams.get('code') ?? '';
      expect(end.left?.searchParams.get('state')).toBe(request.state);
      expect(code).not.toBe('');

      // The client has a code.
      await maybeRestart('code');
      const { status, body } = await shop().redeem({ ...request, code });
      expect(status).toBe(200);
      expect(claimsIn(body.id_token)).toMatchObject({
        iss: `${publicUrl}/oidc`,
        aud: 'shop',
        nonce: request.nonce,
        amr: ['mid_sim'],
      });

      // The client has tokens.
      await maybeRestart('tokens');
      expect((await shop().userinfo(body.access_token)).body.phone_number).toBe(`+${thinker}`);
      expect((await shop().redeem({ ...request, code })).body.error).toBe('invalid_grant');
    });
  it.concurrent(
    'when the client holds a handle, the phone is asked, and the client has tokens leaves the rest of a login to the next one',
    login(thinkers[0], ['handle', 'phone', 'tokens']),
    90_000,
  );
  it.concurrent(
    'when the person sees the page, and the client has a code leaves the rest of a login to the next one',
    login(thinkers[1], ['page', 'code']),
    90_000,
  );

  it.concurrent(
    'while the phone is asked asks it once, however often the person reloads',
    withOthers(async () => {
      const browser = newBrowser();
      const { page } = await shop().visit({ login_hint: hintFor(sleeper) }, browser);
      const waiting = await browser.submit(page, 'number', { msisdn: `+${sleeper}` });
      expect(isWaiting(waiting.html)).toBe(true);
      await restart();
      const reloaded = await Promise.all(
        Array.from({ length: 4 }, () => browser.clone().open(waiting.url)),
      );
      // A second prompt would have another code, and the SIM with its one screen would refuse it as
      // busy.
      for (const { html } of reloaded) expect(isWaiting(html)).toBe(true);
      const code = sessionCodeOf(waiting.html);
      expect(code).toBeDefined();
      for (const { html } of reloaded) expect(sessionCodeOf(html)).toBe(code);
      // The form of before the restart still cancels.
      const end = await browser.settle(await browser.submit(waiting, 'cancel'));
      expect(end.left?.searchParams.get('error')).toBe('access_denied');
      // And the phone is free, as soon as a worker has looked after the cancelled prompt.
      await vi.waitFor(
        async () => {
          const next = await shop().visit({ login_hint: hintFor(sleeper) });
          const free = await next.browser.submit(next.page, 'number', { msisdn: `+${sleeper}` });
          expect(isWaiting(free.html), textOf(free.html)).toBe(true);
        },
        { timeout: 20_000, interval: 200 },
      );
    }),
    90_000,
  );

  it.concurrent(
    'while its pages wait is missed by nobody: they load again at the next one',
    withOthers(async () => {
      const browser = newBrowser();
      const { page } = await shop().visit({ login_hint: hintFor(thinkers[2]) }, browser);
      const waiting = await browser.submit(page, 'number', { msisdn: `+${thinkers[2]}` });
      const events = browser.request(`${new URL(waiting.url).pathname}/events`, {
        headers: { accept: 'text/event-stream' },
      });
      // The stream breaks off, as it does for a browser, which then asks for it again.
      const broken = expect((await events).text()).rejects.toThrow();
      await restart();
      await broken;
      const end = await browser.settle(await browser.open(waiting.url));
      expect(end.left?.searchParams.has('code')).toBe(true);
    }),
    90_000,
  );
});
