/**
 * The text gateway: a device outside the product, which keeps its own account of what reached whose phone.
 *
 * It does what a gateway does on bad days: answers late, refuses, or delivers and loses the answer. As the product's
 * webhook contract asks of it, it shows the same Idempotency-Key once; everything that arrived is recorded all the same.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from './random.ts';

export interface Delivery {
  readonly at: number;
  /** MSSP_TransID and attempt: `H00…-1`. */
  readonly key: string;
  readonly msisdn: string;
  readonly text: string;
  readonly worker: string;
  readonly shown: boolean;
}

/** What to do with one arrival: undefined leaves it to chance. */
export type Hook = (arrival: {
  readonly key: string;
  readonly worker: string;
}) => Promise<'refuse'> | undefined;

export interface Gateway {
  urlFor(worker: string): string;
  readonly deliveries: readonly Delivery[];
  /** For a nemesis that wants to strike while a text is on its way. */
  onArrival(hook: Hook | undefined): void;
  close(): Promise<void>;
}

export const openGateway = async (seed: string): Promise<Gateway> => {
  const deliveries: Delivery[] = [];
  let hook: Hook | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const { id, msisdn, text } = JSON.parse(Buffer.concat(chunks).toString());
    const worker = (request.url ?? '').slice(1);
    const tries = deliveries.filter(({ key }) => key === id).length;
    const random = createRandom(`${seed}/gateway/${id}/${tries}`);
    const luck = random.next();
    const held = hook?.({ key: id, worker });
    const shown = held === undefined && luck >= 0.1;
    deliveries.push({ at: Date.now(), key: id, msisdn, text, worker, shown });
    await (held ?? delay(luck > 0.9 ? random.between(500, 3000) : random.between(0, 30)));
    // Delivered, and the answer is lost.
    if (shown && luck > 0.96) request.socket.destroy();
    else response.writeHead(shown ? 200 : 503).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The gateway has no port');
  return {
    urlFor: (worker) => `http://127.0.0.1:${address.port}/${worker}`,
    deliveries,
    onArrival: (given) => {
      hook = given;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
