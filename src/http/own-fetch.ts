/**
 * Sends requests to this service from within: whole HTTP requests over a pair of streams.
 *
 * The OpenID library writes to the raw response, so it needs HTTP. A connection to our own port
 * would need an address that leads here and a trusted certificate, and would count in the limits of
 * this machine's address.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { duplexPair } from 'node:stream';
import { arrayBuffer } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
// A listener replaces the global Response. Made after that, this sign of the adapter would be
// written as an answer.
import '@hono/node-server/utils/response';
import type { ServerOptions } from './server.ts';

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * @param fetch The handler of requests from outside.
 * @returns A function like the global `fetch`, for paths of this service and bodies that are text.
 *   It rejects when the signal aborts.
 */
export const createOwnFetch = (
  fetch: ServerOptions['fetch'],
): ((path: string, init?: RequestInit) => Promise<Response>) => {
  const listener = getRequestListener(
    (incoming, bindings) =>
      fetch(incoming, bindings as { incoming: IncomingMessage; outgoing: ServerResponse }),
    { hostname: 'localhost' },
  );
  // This server never listens on a port.
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  return async (path, { method = 'GET', headers, body, signal } = {}) => {
    const [ours, theirs] = duplexPair();
    server.emit('connection', theirs);
    try {
      const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
        request({
          path,
          method,
          headers: { ...Object.fromEntries(new Headers(headers)), connection: 'close' },
          createConnection: () => ours,
          ...(signal && { signal }),
        })
          .once('response', resolve)
          .once('error', reject)
          .end(typeof body === 'string' ? body : undefined);
      });
      const { statusCode: status = 500, headersDistinct } = incoming;
      const content = await arrayBuffer(incoming);
      const answered = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      );
      return new Response(withoutBody.has(status) ? null : content, { status, headers: answered });
    } finally {
      ours.destroy();
      theirs.destroy();
    }
  };
};
