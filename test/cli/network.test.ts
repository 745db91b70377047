import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Fetch, fetchWithoutTimeout } from '../../packages/client/src/fetch.ts';
import { pollPauseMs, pollUntilEnded } from '../../packages/client/src/polling.ts';
import type { Reply, Standing } from '../../packages/client/src/reply.ts';
import { run } from './terminal.ts';

/** A server that is no signature service. */
const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const nobody = async (): Promise<string> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
};

const profile = ['profile', '+41700092501', '--url'];

describe('a service that cannot be talked to', () => {
  it('is one where nobody listens', async () => {
    const url = await nobody();
    const { exitCode, stderr } = await run([...profile, url]);
    expect(exitCode).toBe(5);
    expect(stderr).toBe(`paraph: No signature service at ${url}: no service listens there.\n`);
    const { json } = await run(['sign', '+41700092501', 'Hi', '--url', url, '--json']);
    expect(json()).toEqual({
      outcome: 'unreachable',
      problem: `No signature service at ${url}: no service listens there.`,
    });
  });

  it.each([
    ['a web page', 200, '<html></html>'],
    ['other JSON', 200, '{"MSS_ProfileResp":{}}'],
    ['an error of a proxy', 502, 'Bad Gateway'],
    ['a redirect', 307, ''],
  ])('is one that answers with %s', async (_what, status, body) => {
    const url = await serve((_request, response) => {
      response.writeHead(status, { location: 'http://elsewhere.example/' }).end(body);
    });
    const { exitCode, stderr } = await run([...profile, url]);
    expect(exitCode).toBe(5);
    expect(stderr).toContain(`what answers there (status ${status}) is no signature service`);
  });

  it('is one that breaks off', async () => {
    const url = await serve((request) => request.socket.destroy());
    const { exitCode, stderr } = await run([...profile, url]);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('the connection broke off');
  });
});

describe('what a service sends', () => {
  const faultWith = (detail: string): string =>
    JSON.stringify({
      Fault: {
        Code: {
          SubCode: { Value: '_777', ValueNs: 'http://uri.etsi.org/TS102204/v1.1.2#' },
          Value: 'Receiver',
          ValueNs: 'http://www.w3.org/2003/05/soap-envelope',
        },
        Detail: detail,
        Reason: 'STRANGE',
      },
    });

  it('cannot give orders to the terminal', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(500).end(faultWith('\x1b]0;owned\x07 \x9b31m \u202etxet'));
    });
    const { exitCode, stderr } = await run([...profile, url]);
    expect(exitCode).toBe(3);
    expect(stderr).toBe('paraph: Fault 777 STRANGE: �]0;owned� �31m �txet\n');
  });

  it('is a Fault whatever the status of the answer', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(405).end(faultWith('Use POST')),
    );
    expect((await run([...profile, url, '--json'])).json()).toMatchObject({
      outcome: 'fault',
      fault: { code: 777, reason: 'STRANGE', detail: 'Use POST' },
    });
  });
});

describe('fetchWithoutTimeout', () => {
  const get = { method: 'GET', headers: {}, redirect: 'manual' } as const;

  it('rejects an answer that never ends', async () => {
    const url = await serve((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    await expect(
      fetchWithoutTimeout(url, { ...get, signal: new AbortController().signal }),
    ).rejects.toThrow('the answer is too long');
  });

  it('ends with its signal, before and while the answer comes', async () => {
    const controller = new AbortController();
    const url = await serve((_request, response) => {
      response.write('begun');
      controller.abort();
    });
    await expect(fetchWithoutTimeout(url, { ...get, signal: controller.signal })).rejects.toThrow();
    await expect(
      fetchWithoutTimeout(url, { ...get, signal: AbortSignal.abort() }),
    ).rejects.toThrow();
  });

  it('is of the same kind as the built-in fetch', async () => {
    const url = await serve((request, response) =>
      response.end(`${request.method} ${request.url}`),
    );
    const fetches: readonly Fetch[] = [fetchWithoutTimeout, fetch];
    for (const each of fetches) {
      const response = await each(`${url}/a`, { ...get, signal: new AbortController().signal });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('GET /a');
    }
  });
});

describe('polling', () => {
  const outstanding: Reply<Standing> = { kind: 'answered', value: { state: 'outstanding' } };
  const away: Reply<Standing> = { kind: 'unreachable', cause: 'no service listens there' };
  const fault: Reply<Standing> = {
    kind: 'fault',
    fault: { code: 401, reason: 'USER_CANCEL', detail: '' },
  };

  const poll = async (replies: readonly Reply<Standing>[], forMs: number) => {
    let time = 0;
    let asked = 0;
    const reply = await pollUntilEnded({
      ask: async () => replies[Math.min(asked++, replies.length - 1)] ?? outstanding,
      until: forMs,
      now: () => time,
      pause: async (ms) => {
        time += ms;
      },
    });
    return { reply, asked, time };
  };

  it('pauses longer and longer, up to three seconds', () => {
    fc.assert(
      fc.property(fc.nat(10_000), (asked) => {
        expect(pollPauseMs(asked + 1)).toBeGreaterThanOrEqual(pollPauseMs(asked));
        expect(pollPauseMs(asked)).toBeLessThanOrEqual(3000);
      }),
    );
    expect(pollPauseMs(0)).toBe(200);
  });

  it('ends with the first answer that is an end', async () => {
    expect(await poll([outstanding, outstanding, fault], 60_000)).toMatchObject({
      reply: fault,
      asked: 3,
    });
  });

  it('asks again when the service is away for a moment', async () => {
    expect(await poll([away, away, fault], 60_000)).toMatchObject({ reply: fault, asked: 3 });
  });

  it('asks again at a fault 900, which may be trouble of the moment, until it has been said for a while', async () => {
    const trouble: Reply<Standing> = {
      kind: 'fault',
      fault: { code: 900, reason: 'INTERNAL_ERROR', detail: '' },
    };
    expect(await poll([trouble, outstanding, trouble, fault], 60_000)).toMatchObject({
      reply: fault,
      asked: 4,
    });
    const { reply, time } = await poll([trouble], 60_000);
    expect(reply).toEqual(trouble);
    expect(time).toBeGreaterThanOrEqual(5000);
    expect(time).toBeLessThan(10_000);
    expect((await poll([trouble], 1000)).reply.kind).toBe('unreachable');
  });

  it('asks a last time when time is up, and says what was answered', async () => {
    expect(await poll([outstanding], 10_000)).toMatchObject({ reply: outstanding, time: 10_000 });
    expect(await poll([away], 10_000)).toMatchObject({ reply: away, time: 10_000 });
    expect((await poll([outstanding], 0)).asked).toBe(1);
  });
});
