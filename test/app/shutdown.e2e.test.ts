/**
 * A stop under load. Clients on keep-alive connections send one request after the other while the
 * process is told to end. Each request is answered in full or was never looked at: a client may
 * send it again elsewhere without asking.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { post } from '../http/socket.ts';
import { killProcesses, startProcess } from '../support/process.ts';
import type { Json } from '../support/product.ts';
import { signRequest } from '../support/requests.ts';

const thinking = {
  msisdn: '41790000000',
  through: '41790000099',
  sim: { device: { kind: 'robot', thinkSeconds: 0.3 } },
};
const pondering = { msisdn: '41790002000', sim: { device: { kind: 'robot', thinkSeconds: 3 } } };
const silent = {
  msisdn: '41790001000',
  through: '41790001009',
  sim: { device: { kind: 'simulated', sign: 'never-answers' } },
};

let data = '';

const configure = (http: object): void => {
  const configuration = { sandbox: true, subscribers: [thinking, pondering, silent], http };
  writeFileSync(join(data, 'paraph.json'), JSON.stringify(configuration));
};

const drainSeconds = 2;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'paraph-shutdown-'));
  configure({ drainSeconds });
});

afterEach(async () => {
  await killProcesses();
  // The private Redis ends by itself, a moment later.
  rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const start = () =>
  startProcess({
    PARAPH_DATA: data,
    PARAPH_CONFIG: join(data, 'paraph.json'),
    PARAPH_LOG_LEVEL: 'error',
  });

interface Sent {
  readonly apTransId: string;
  readonly msisdn: string;
  readonly sentAt: number;
  /** Undefined when the connection ended without a byte of an answer. */
  answer?: { readonly body: Json; readonly closes: boolean; readonly at: number };
}

type Received = { readonly head: string; readonly text: string } | undefined;

/** @throws When the connection ends within an answer. */
const exchangeOn = (socket: ReturnType<typeof connect>, bytes: string): Promise<Received> =>
  new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const settle = (result: Received): void => {
      socket.off('data', read);
      socket.off('close', closed);
      resolve(result);
    };
    const read = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.subarray(0, end).toString('latin1');
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
      if (received.length < end + 4 + length) return;
      settle({ head, text: received.subarray(end + 4, end + 4 + length).toString() });
    };
    const closed = (): void => {
      if (received.length > 0) reject(new Error(`An answer was cut: ${received.toString()}`));
      else settle(undefined);
    };
    socket.on('data', read);
    socket.once('close', closed);
    if (socket.destroyed) closed();
    else socket.write(bytes);
  });

/**
 * One client: the next request when the one before is answered, on the same connection for as long
 * as it lasts.
 */
const useUntilGone = async (url: string, request: () => Json, log: Sent[]): Promise<void> => {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('close', () => resolve(false));
    });
    if (!isOpen) return;
    let closes = false;
    while (!closes && !socket.destroyed) {
      const body = request();
      const { AP_Info, MobileUser } = body.MSS_SignatureReq;
      const sent: Sent = {
        apTransId: AP_Info.AP_TransID,
        msisdn: MobileUser.MSISDN,
        sentAt: Date.now(),
      };
      log.push(sent);
      const received = await exchangeOn(socket, post('/rest/service/sign', body));
      if (received === undefined) break;
      closes = /^connection: close$/im.test(received.head);
      sent.answer = { body: JSON.parse(received.text), closes, at: Date.now() };
    }
    socket.destroy();
  }
};

/** AP_TransID of everything that is in the queue, finished or not. */
const acceptedByQueue = async (): Promise<ReadonlySet<string>> => {
  const client = new Redis({ path: join(data, 'redis', 'redis.sock') });
  const found = new Set<string>();
  for await (const keys of client.scanStream({
    match: '{paraph-0}:signatures:H*',
    type: 'hash',
    count: 1000,
  })) {
    for (const key of keys as string[]) {
      const job = await client.hget(key, 'data');
      if (job !== null) found.add(JSON.parse(job).MSS_SignatureReq.AP_Info.AP_TransID);
    }
  }
  client.disconnect();
  return found;
};

const endOf = async (child: ChildProcess): Promise<number | null> =>
  child.exitCode ?? ((await once(child, 'exit'))[0] as number | null);

it('a stop under load loses nothing and cuts nobody off; one with a lame-duck time leaves when it is over', async () => {
  const first = await start();
  const log: Sent[] = [];
  const silent = Array.from({ length: 3 }, (_, index) => `4179000100${index}`);
  const requests: (() => Json)[] = [
    ...Array.from({ length: 10 }, () => () => signRequest({ mode: 'asynch' })),
    ...Array.from({ length: 10 }, () => () => signRequest()),
    ...Array.from(
      { length: 10 },
      (_, index) => () => signRequest({ msisdn: `417900000${10 + index}` }),
    ),
    // These wait for somebody until they are told that we leave.
    ...silent.map((msisdn) => () => signRequest({ msisdn })),
  ];
  const clients = requests.map((request) => useUntilGone(first.url, request, log));
  const answered = () => log.filter(({ answer }) => answer !== undefined);
  await vi.waitFor(() => expect(answered().length).toBeGreaterThan(300), { timeout: 60_000 });

  const stoppedAt = Date.now();
  first.child.kill('SIGTERM');
  // Rejects when an answer was cut.
  await Promise.all(clients);
  expect(await endOf(first.child)).toBe(0);

  const inHand = answered().filter(
    ({ sentAt, answer }) => sentAt < stoppedAt && (answer?.at ?? 0) > stoppedAt,
  );
  expect(inHand.length).toBeGreaterThan(0);
  // Whoever is answered while we leave is told not to come back on this connection.
  const told = inHand.filter(({ msisdn }) => silent.includes(msisdn));
  expect(told.map(({ answer }) => answer?.closes)).toEqual(silent.map(() => true));

  configure({ lameDuckSeconds: 1.5 });
  const second = await start();
  const accepted = await acceptedByQueue();
  const lost = log.filter(({ answer }) => answer === undefined);
  expect(lost.filter(({ apTransId }) => accepted.has(apTransId))).toEqual([]);

  const acknowledged = answered().flatMap(
    ({ answer }) => answer?.body.MSS_SignatureResp?.MSSP_TransID ?? [],
  );
  expect(acknowledged.length).toBeGreaterThan(300);
  await vi.waitFor(
    async () => {
      const statuses = await Promise.all(acknowledged.map(second.statusOf));
      expect(new Set(statuses)).toEqual(new Set(['500']));
    },
    { timeout: 20_000, interval: 200 },
  );
  // Only those who waited for somebody got a Fault: they were told to wait no longer, when the time
  // for that was over. On a machine that is too slow others still wait then, too, and some are
  // refused before.
  const refused = answered().filter(({ answer }) =>
    answer?.body.Fault?.Detail.includes('not accepted'),
  );
  expect(refused.filter(({ apTransId }) => accepted.has(apTransId))).toEqual([]);
  const faults = answered().filter(
    (each) => each.answer?.body.Fault !== undefined && !refused.includes(each),
  );
  expect(new Set(faults.map(({ answer }) => answer?.body.Fault.Code.SubCode.Value))).toEqual(
    new Set(['_900']),
  );
  expect(faults.map(({ msisdn }) => msisdn)).toEqual(expect.arrayContaining(silent));
  const earlyFaults = faults.filter(
    ({ answer }) => (answer?.at ?? 0) < stoppedAt + drainSeconds * 1000 - 100,
  );
  expect(earlyFaults).toEqual([]);

  const secondStoppedAt = Date.now();
  second.child.kill('SIGTERM');
  expect(await endOf(second.child)).toBe(0);
  expect(Date.now() - secondStoppedAt).toBeGreaterThan(1400);
}, 180_000);

describe('a process with a lame-duck time', () => {
  /** A GET on a connection of its own. @returns Undefined when nobody listens. */
  const look = async (url: string, path: string) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const received = await exchangeOn(socket, `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    socket.destroy();
    if (received === undefined) return undefined;
    const { head, text } = received;
    const isClosing = /^connection: close$/im.test(head);
    return { status: Number(head.split(' ')[1]), isClosing, body: JSON.parse(text) as Json };
  };
  const expectLameDuck = (url: string) =>
    vi.waitFor(
      async () => {
        const ready = await look(url, '/readyz');
        expect(ready).toMatchObject({ status: 503, isClosing: true });
        expect(ready?.body.reasons).toContain('The process is stopping');
      },
      { timeout: 60_000, interval: 50 },
    );
  /** Two signals that come together are one wish; the process has seen the one before by now. */
  const impatience = async () => {
    const since = Date.now();
    await vi.waitFor(() => expect(Date.now() - since).toBeGreaterThan(1100), { timeout: 20_000 });
  };
  const open = (url: string) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    return socket;
  };

  it('says that it is not ready, and serves new requests, until a second signal', async () => {
    configure({ drainSeconds: 100, lameDuckSeconds: 600 });
    const { child, url } = await start();
    expect(await look(url, '/readyz')).toMatchObject({ status: 200, isClosing: false });
    const kept = open(url);
    const sign = () => post('/rest/service/sign', signRequest());
    expect((await exchangeOn(kept, sign()))?.head).not.toMatch(/^connection: close$/im);
    child.kill('SIGTERM');
    await expectLameDuck(url);
    expect(await look(url, '/livez')).toMatchObject({ status: 200, isClosing: true });
    for (const socket of [kept, open(url)]) {
      const answer = await exchangeOn(socket, sign());
      expect(answer?.head).toMatch(/^connection: close$/im);
      expect(JSON.parse(answer?.text ?? '{}')).toHaveProperty('MSS_SignatureResp');
    }
    const slow = signRequest({ msisdn: pondering.msisdn });
    const answered = exchangeOn(open(url), post('/rest/service/sign', slow));
    await vi.waitFor(
      async () =>
        expect([...(await acceptedByQueue())]).toContain(slow.MSS_SignatureReq.AP_Info.AP_TransID),
      { timeout: 60_000 },
    );
    await impatience();
    child.kill('SIGINT');
    expect(JSON.parse((await answered)?.text ?? '{}')).toHaveProperty('MSS_SignatureResp');
    expect(await endOf(child)).toBe(0);
    expect(await look(url, '/readyz')).toBeUndefined();
  }, 180_000);

  it('waits for nothing at a third signal', async () => {
    configure({ drainSeconds: 600, lameDuckSeconds: 600 });
    const { child, url } = await start();
    const silentRequest = signRequest({ msisdn: silent.msisdn });
    const sent = exchangeOn(open(url), post('/rest/service/sign', silentRequest));
    child.kill('SIGTERM');
    await expectLameDuck(url);
    await impatience();
    child.kill('SIGTERM');
    await vi.waitFor(async () => expect(await look(url, '/livez')).toBeUndefined(), {
      timeout: 60_000,
    });
    await impatience();
    child.kill('SIGTERM');
    expect(await endOf(child)).toBe(1);
    expect(await sent).toBeUndefined();
  }, 180_000);
});
