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
const masterKey = randomBytes(32).toString('base64url');
const publicUrl = 'https://sign.example.com';
/** Signs after some seconds: long enough to be killed meanwhile. */
const thinker = '41790000001';
let folder = '';
let configurationPath = '';
let url = '';

const start = async (): Promise<void> => {
  ({ url } = await startProcess({
    REDIS_URL: redis.url,
    PARAPH_CONFIG: configurationPath,
    PARAPH_DATA: folder,
    PARAPH_MASTER_KEY: masterKey,
    PARAPH_LOG_LEVEL: 'warn',
  }));
};

const restart = async (): Promise<void> => {
  await killProcesses();
  await start();
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
      subscribers: [{ msisdn: thinker, sim: { device: { kind: 'robot', thinkSeconds: 3 } } }],
      oidc: {
        promptSeconds: 20,
        limits: roomyLimits,
        tenants: [{ id: 'main', name: 'Main', clients: [clientEntry('shop', { numberMatching: true })] }],
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

describe('a process that is killed with -9', () => {
  it('at every step of a login leaves the rest of it to the next one', async () => {
    const browser = newBrowser();
    const fields = { ...offline, login_hint: hintFor(thinker) };

    // The client holds a handle.
    const request = await shop().request(fields);
    await restart();
    const { page } = await shop().follow(request, browser);
    expect(formIn(page.html, 'number')).toBeDefined();

    // The person sees the page, and sends the form of the process before.
    await restart();
    const waiting = await browser.submit(page, 'number', { msisdn: `+${thinker}` });
    expect(isWaiting(waiting.html)).toBe(true);

    // The phone is asked.
    await restart();
    const again = await browser.open(waiting.url);
    const end = await browser.settle(again);
    const code = end.left?.searchParams.get('code') ?? '';
    expect(end.left?.searchParams.get('state')).toBe(request.state);
    expect(code).not.toBe('');

    // The client has a code.
    await restart();
    const { status, body } = await shop().redeem({ ...request, code });
    expect(status).toBe(200);
    expect(claimsIn(body.id_token)).toMatchObject({
      iss: `${publicUrl}/oidc`,
      aud: 'shop',
      nonce: request.nonce,
      amr: ['mid_sim'],
    });

    // The client has tokens.
    await restart();
    expect((await shop().userinfo(body.access_token)).body.phone_number).toBe(`+${thinker}`);
    expect((await shop().redeem({ ...request, code })).body.error).toBe('invalid_grant');
  }, 90_000);

  it('while the phone is asked asks it once, however often the person reloads', async () => {
    const browser = newBrowser();
    const { page } = await shop().visit({ login_hint: hintFor(sleeper) }, browser);
    const waiting = await browser.submit(page, 'number', { msisdn: `+${sleeper}` });
    expect(isWaiting(waiting.html)).toBe(true);
    await restart();
    const reloaded = await Promise.all(Array.from({ length: 4 }, () => browser.clone().open(waiting.url)));
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
  });

  it('while its pages wait is missed by nobody: they load again at the next one', async () => {
    const browser = newBrowser();
    const { page } = await shop().visit({ login_hint: hintFor(thinker) }, browser);
    const waiting = await browser.submit(page, 'number', { msisdn: `+${thinker}` });
    const events = browser.request(`${new URL(waiting.url).pathname}/events`, {
      headers: { accept: 'text/event-stream' },
    });
    const stream = await events;
    await killProcesses();
    // The stream breaks off, as it does for a browser, which then asks for it again.
    await expect(stream.text()).rejects.toThrow();
    await start();
    const end = await browser.settle(await browser.open(waiting.url));
    expect(end.left?.searchParams.has('code')).toBe(true);
  });
});
