/**
 * The workflow on Restate: a service with two handlers: one runs one durable step, the other three
 * in order. The Restate server takes the requests over HTTP, keeps them, calls this process over
 * one HTTP/2 connection in both directions, and answers for the outcome.
 */
import './promise-with-resolvers.ts';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type Context, createEndpointHandler, service } from '@restatedev/restate-sdk';
import { sayReady, signers, signText } from './signing.ts';

const signatures = service({
  name: 'signatures',
  handlers: {
    sign: (context: Context, { text }: { text: string }): Promise<string> =>
      context.run('sign', () => signText(text)),
    process: async (context: Context, { text }: { text: string }): Promise<string> => {
      const given: string[] = [];
      for (const signer of signers)
        given.push(await context.run(`sign ${signer}`, () => signText(text)));
      return given.join(' ');
    },
  },
});

const server = createServer(createEndpointHandler({ services: [signatures] }));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
sayReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

process.on('SIGTERM', () => process.exit());
