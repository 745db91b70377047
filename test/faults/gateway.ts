/**
 * The text gateway: a device outside the product, which keeps its own account of what reached whose
 * phone.
 *
 * It does what a gateway does on bad days: answers late, refuses, or delivers and loses the answer.
 * As the product's webhook contract asks of it, it shows the same Idempotency-Key once; everything
 * that arrived is recorded all the same. It takes the callbacks about transactions, processes and
 * other workflows as well, and the marks that charts of an application's own leave
 * (loads/own-charts.workflow.mjs).
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

/** A callback about a process, as it was first posted. */
export interface Message {
  /** The time in its body. */
  readonly at: number;
  readonly arrivedAt: number;
  /** `webhook-id`. */
  readonly id: string;
  /** `process.end` and the like. */
  readonly type: string;
  readonly data: {
    readonly process: string;
    /** Of a chart of one's own: its name, and the instance. */
    readonly workflow?: string;
    readonly id?: string;
    readonly step?: string;
    readonly key?: string;
    readonly state?: string;
  };
}

/** What an effect or an activity of a chart has posted. */
export interface Mark {
  readonly at: number;
  readonly kind: 'effect' | 'activity';
  readonly instance: string;
  readonly says: string;
  /** Of the effect, or of the run of the activity: the same each time. */
  readonly key: string;
  /** Whether it was told that it has arrived. */
  readonly isTaken: boolean;
}

/** What to do with one arrival: undefined leaves it to chance. */
export type Hook = (arrival: {
  readonly key: string;
  readonly worker: string;
}) => Promise<'refuse'> | undefined;

export interface Gateway {
  urlFor(worker: string): string;
  readonly deliveries: readonly Delivery[];
  /** Where callbacks of processes go. */
  readonly callbackUrl: string;
  readonly messages: readonly Message[];
  /** About charts of one's own. */
  readonly ends: readonly Message[];
  readonly marksUrl: string;
  readonly marks: readonly Mark[];
  /** `webhook-id` of each callback about a transaction. */
  readonly notices: ReadonlySet<string>;
  /** For a nemesis that wants to strike while a text is on its way. */
  onArrival(hook: Hook | undefined): void;
  close(): Promise<void>;
}

const callbackPath = '/callbacks';
const marksPath = '/marks';

export const openGateway = async (seed: string): Promise<Gateway> => {
  const deliveries: Delivery[] = [];
  const messages = new Map<string, Message>();
  const marks: Mark[] = [];
  let hook: Hook | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (request.url === callbackPath) {
      const id = String(request.headers['webhook-id']);
      const isFirst = !messages.has(id);
      const { type, timestamp, data } = body;
      if (isFirst)
        messages.set(id, { at: Date.parse(timestamp), arrivedAt: Date.now(), id, type, data });
      response
        .writeHead(isFirst && createRandom(`${seed}/callback/${id}`).chance(0.1) ? 503 : 204)
        .end();
      return;
    }
    if (request.url === marksPath) {
      const { kind, instance, says, key } = body;
      const isTaken = createRandom(`${seed}/mark/${key}/${marks.length}`).chance(0.9);
      marks.push({ at: Date.now(), kind, instance, says, key, isTaken });
      response.writeHead(isTaken ? 204 : 503).end();
      return;
    }
    const { id, msisdn, text } = body;
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
    callbackUrl: `http://127.0.0.1:${address.port}${callbackPath}`,
    get ends() {
      return [...messages.values()].filter(({ type }) => type === 'workflow.end');
    },
    marksUrl: `http://127.0.0.1:${address.port}${marksPath}`,
    marks,
    get notices() {
      const about = [...messages.values()].filter(({ type }) => type.startsWith('transaction.'));
      return new Set(about.map(({ id }) => id));
    },
    get messages() {
      return [...messages.values()].filter(({ type }) => type.startsWith('process.'));
    },
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
