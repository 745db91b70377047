/**
 * Signers' pages as people reach them: through the whole product, by a link from a mail or from a
 * callback.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { startMailServer, type TestMailServer } from '../../../../test/support/smtp.ts';
import { defineWorkflow, service } from '../../../workflows/charts/index.ts';

const redis = testRedis();

/** A chart of an operator that sends a mail. */
const letter = defineWorkflow({
  name: 'letter',
  version: 1,
  chart: setup({
    types: { input: {} as { to: string }, context: {} as { to: string; result?: unknown } },
    actors: { sendMail: service.sendMail },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'sending',
    output: ({ context }) => context.result,
    states: {
      sending: {
        invoke: {
          src: 'sendMail',
          input: ({ context: { to } }) => ({ to, subject: 'Your contract', text: 'It is signed.' }),
          onDone: { target: 'sent', actions: assign({ result: ({ event }) => event.output }) },
        },
      },
      sent: { type: 'final' },
    },
  }),
});
const apId = 'mid://signers.example';
const silent = '41790000301';

let product: TestProduct;
let mailServer: TestMailServer;
let receiver: Server;
const told: Json[] = [];

beforeAll(async () => {
  mailServer = await startMailServer();
  receiver = createServer(async (incoming, outgoing) => {
    told.push(JSON.parse(await textOf(incoming)));
    outgoing.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  product = await startTestProduct(redis, {
    charts: [letter],
    operations: true,
    configuration: {
      publicUrl: 'http://test',
      mail: { url: mailServer.url, from: 'Example Insurance <sign@insurance.example>' },
      subscribers: [
        {
          msisdn: silent,
          sim: { device: { kind: 'simulated', sign: 'never-answers', receipt: 'accepts' } },
        },
      ],
      applicationProviders: [
        { id: apId, name: 'Example Insurance', callback: { url: `http://127.0.0.1:${port}/hook` } },
      ],
    },
  });
});
afterAll(async () => {
  await product?.stop();
  await mailServer?.close();
  receiver?.closeAllConnections();
  receiver?.close();
});

const { call, until } = callerOf(() => product);

const start = async (id: string, own: object = {}, step: object = {}): Promise<void> => {
  const anna = { name: 'Anna Muster', msisdn: '+41700092501', email: 'anna@example.com', ...own };
  const input = {
    title: 'Contract 4711',
    text: 'Contract 4711: I agree',
    steps: [{ name: 'board', ask: 'page', signers: [anna], ...step }],
  };
  const { status, body } = await call('POST', 'process', { apId, body: { id, input } });
  expect({ status, body }).toMatchObject({ status: 201 });
};

const get = (url: string): Promise<Response> =>
  Promise.resolve(product.api.fetch(new Request(url)));
const pageAt = async (url: string): Promise<string> => (await get(url)).text();
const press = async (
  url: string,
  name: string,
  fields: Record<string, string> = {},
): Promise<Response> => {
  const csrf = /name="csrf" value="([^"]+)"/.exec(await pageAt(url))?.[1] ?? '';
  return product.api.fetch(
    new Request(`${url}/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://test' },
      body: new URLSearchParams({ csrf, ...fields }).toString(),
    }),
  );
};

/** The link in the first mail that this process has caused. */
const mailedLink = async (before: number): Promise<string> => {
  await expect.poll(() => mailServer.mails.length).toBeGreaterThan(before);
  const raw = mailServer.mails[before]?.raw.replaceAll('=\r\n', '') ?? '';
  return /http:\/\/test\/tasks\/[\w-]+/.exec(raw)?.[0] ?? '';
};
const heard = (id: string, type: string) =>
  told.find((message) => message.data.process === id && message.type === type);

describe('a signer', () => {
  it('opens the link from a mail, presses Sign, confirms on the phone, and has signed', async () => {
    const before = mailServer.mails.length;
    await start('by-mail');
    const url = await mailedLink(before);
    const page = await pageAt(url);
    expect(page).toContain('Example Insurance');
    expect(page).toContain('Contract 4711: I agree');
    expect(page).toContain('/oidc/assets/login.css');
    expect((await call('GET', 'process/by-mail', { apId })).body.status).toBe('open');
    expect((await press(url, 'sign')).status).toBe(303);
    const view = await until('process/by-mail', ({ status }) => status !== 'open', apId);
    expect(view).toMatchObject({
      status: 'completed',
      context: { steps: [{ signers: [{ state: 'signed' }] }] },
    });
    expect(await pageAt(url)).toContain('You have signed');
  });

  it('opens the link that the application got by a callback, and declines with a reason', async () => {
    await start('by-callback', { email: undefined });
    await expect
      .poll(() => heard('by-callback', 'process.invited')?.data.link)
      .toMatch(/^http:\/\/test\/tasks\//);
    const { link: url } = heard('by-callback', 'process.invited').data;
    expect((await press(url, 'decline', { reason: 'The price is wrong' })).status).toBe(303);
    expect(await pageAt(url)).toContain('You have declined');
    const { key } = heard('by-callback', 'process.invited').data;
    const refusals = [{ key, name: 'Anna Muster', reason: 'The price is wrong' }];
    for (const type of ['process.step', 'process.end'])
      await expect.poll(() => heard('by-callback', type)?.data).toMatchObject({ refusals });
    const view = await until('process/by-callback', ({ status }) => status !== 'open', apId);
    expect(view).toMatchObject({
      status: 'failed',
      context: { steps: [{ signers: [{ state: 'refused', reason: 'The price is wrong' }] }] },
    });
  });

  it('sees the prompt that is open, and that it was withdrawn when the process is cancelled', async () => {
    const before = mailServer.mails.length;
    await start('cancelled', { msisdn: `+${silent}` });
    const url = await mailedLink(before);
    await press(url, 'sign');
    expect(await pageAt(url)).toContain('Check your phone');
    await call('DELETE', 'process/cancelled', { apId });
    await expect.poll(() => pageAt(url)).toContain('no longer needed');
  });
});

describe('a mail that the server refuses', () => {
  it('is told to the application with the link, and shown with the signer, who may still sign', async () => {
    mailServer.refuse.rcpt.push(550);
    await start('refused');
    await expect
      .poll(() => heard('refused', 'process.undelivered')?.data, { timeout: 10_000 })
      .toEqual({
        AP_ID: apId,
        process: 'refused',
        title: 'Contract 4711',
        step: 'board',
        key: '1',
        name: 'Anna Muster',
        code: 550,
        link: expect.stringMatching(/^http:\/\/test\/tasks\//),
      });
    const signerIn = ({ context }: Json): Json => context?.steps[0].signers[0];
    const view = await until(
      'process/refused',
      (each) => signerIn(each)?.undelivered !== undefined,
      apId,
    );
    expect(signerIn(view)).toMatchObject({
      state: 'open',
      undelivered: { at: expect.stringMatching(/^\d{4}-.*Z$/), code: 550 },
    });
    expect((await press(signerIn(view).link, 'sign')).status).toBe(303);
    const ended = await until('process/refused', ({ status }) => status !== 'open', apId);
    expect(signerIn(ended)).toMatchObject({ state: 'signed', undelivered: { code: 550 } });
    expect(product.logged.join('')).not.toContain('anna@example.com');
  });
});

describe('the workflow of a mail', () => {
  it('is in no list, and unknown to applications', async () => {
    const before = mailServer.mails.length;
    await start('listed');
    await mailedLink(before);
    const page = await product.workflows.list({ apId }, { limit: 200 });
    const ids = page?.rows.map(({ id }) => id) ?? [];
    expect(ids.filter((id) => id.endsWith('-process--listed'))).toHaveLength(1);
    expect(ids.filter((id) => id.includes('-mail--'))).toEqual([]);
    const stored: string[] = [];
    const match = `*${product.configuration.queue.prefix}*-mail--*`;
    for await (const keys of redis.client().scanStream({ match })) stored.push(...keys);
    const [, id = ''] =
      /-mail--([\w-]+)$/.exec(stored.find((key) => /-mail--[\w-]+$/.test(key)) ?? '') ?? [];
    expect(id).toHaveLength(22);
    expect(await call('GET', `mail/${id}`, { apId })).toMatchObject({ status: 404 });
    expect(await call('DELETE', `mail/${id}`, { apId })).toMatchObject({ status: 404 });
    expect(await call('POST', 'mail', { apId, body: { input: {} } })).toMatchObject({
      status: 404,
    });
    await call('DELETE', 'process/listed', { apId });
  });
});

describe('a link', () => {
  it('is in the answer to the application, while the signer is open', async () => {
    // Without callback and mail.
    const other = 'mid://other.example';
    const input = {
      text: 'I agree',
      steps: [
        { name: 'board', ask: 'page', signers: [{ name: 'Anna', msisdn: '+41700092501' }] },
        { name: 'later', signers: [{ name: 'Beat', msisdn: '+41700092502' }] },
      ],
    };
    await call('POST', 'process', { apId: other, body: { id: 'asked', input } });
    const linksOf = ({ context }: Json): readonly (string | undefined)[] =>
      context?.steps.map(({ signers }: Json) => signers[0].link) ?? [];
    const view = await until('process/asked', (each) => linksOf(each)[0] !== undefined, other);
    const [url = '', later] = linksOf(view);
    expect(later).toBeUndefined();
    expect(await pageAt(url)).toContain('I agree');
    const revoke = { type: 'REVOKE_LINK', step: 'board', key: '1' };
    await call('POST', 'process/asked/events', { apId: other, body: revoke });
    await expect.poll(async () => (await get(url)).status).toBe(404);
    const [next = ''] = linksOf((await call('GET', 'process/asked', { apId: other })).body);
    expect((await press(next, 'decline', { reason: 'No' })).status).toBe(303);
    const ended = await until('process/asked', ({ status }) => status !== 'open', other);
    expect(linksOf(ended)).toEqual([undefined, undefined]);
    expect(product.logged.join('')).not.toContain(next.slice('http://test/tasks/'.length));
  });

  it('is ended by the application', async () => {
    const before = mailServer.mails.length;
    await start('revoked');
    const url = await mailedLink(before);
    const revoke = (key: string) =>
      call('POST', 'process/revoked/events', {
        apId,
        body: { type: 'REVOKE_LINK', step: 'board', key },
      });
    expect((await revoke('2')).status).toBe(409);
    expect((await revoke('1')).status).toBeLessThan(300);
    await expect.poll(async () => (await get(url)).status).toBe(404);
    await call('DELETE', 'process/revoked', { apId });
  });

  it('is in no line of the log and in no key or value of Redis, nor is the address of the person', async () => {
    const before = mailServer.mails.length;
    await start('secret', { email: 'very.private@example.com' });
    const url = await mailedLink(before);
    await expect.poll(() => heard('secret', 'process.invited')?.data.link).toMatch(/^http/);
    const callbackUrl: string = heard('secret', 'process.invited').data.link;
    await press(url, 'sign');
    await until('process/secret', ({ status }) => status !== 'open', apId);
    await get(`${url}x`);
    await expect.poll(() => product.logged.join('')).toContain('mail sent');
    const tokens = [url, callbackUrl].map((link) => link.slice('http://test/tasks/'.length));
    const log = product.logged.join('');
    const client = redis.client();
    const stored: string[] = [];
    for await (const keys of client.scanStream({
      match: `*${product.configuration.queue.prefix}*`,
    })) {
      for (const key of keys as string[]) {
        stored.push(key);
        const type = await client.type(key);
        if (type === 'hash') stored.push(JSON.stringify(await client.hgetall(key)));
        if (type === 'stream') stored.push(JSON.stringify(await client.xrange(key, '-', '+')));
        if (type === 'string') stored.push((await client.get(key)) ?? '');
      }
    }
    const all = stored.join('\n');
    expect(all).toContain('secret');
    for (const token of tokens) {
      expect(token.length).toBeGreaterThan(60);
      expect(log).not.toContain(token);
      expect(all).not.toContain(token);
    }
    expect(log).not.toContain('very.private');
  });
});

describe('service.sendMail', () => {
  const send = async (id: string, to: string): Promise<Json> => {
    const { status } = await call('POST', 'letter', { apId, body: { id, input: { to } } });
    expect(status).toBe(201);
    return (await until(`letter/${id}`, (view) => view.status !== 'open', apId)).output;
  };

  it('sends the mail of an operator’s chart through the configured server', async () => {
    const before = mailServer.mails.length;
    expect(await send('one', 'beat@example.com')).toMatchObject({ kind: 'sent' });
    expect(mailServer.mails[before]).toMatchObject({ to: ['beat@example.com'] });
    expect(mailServer.mails[before]?.raw).toContain('It is signed.');
  });

  it('answers that an address is refused, by the server or because it is none', async () => {
    mailServer.refuse.rcpt.push(553);
    expect(await send('two', 'nobody@example.com')).toEqual({ kind: 'refused', code: 553 });
    expect(await send('three', 'nobody')).toEqual({ kind: 'refused' });
  });
});
