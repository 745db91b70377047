/**
 * What stands between each process and Redis: a TCP proxy with one lane for each process, so that a single worker can
 * be cut off while the others go on.
 *
 * cut   Connections are torn down and new ones are refused as soon as they are made.
 * hold  Bytes are kept and nothing is said: the network that swallows. When it ends, they arrive late and in order,
 *       which is how a write of the past reaches Redis after its writer has lost its lock.
 * slow  Every chunk is late by so many milliseconds, in both directions.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Lane {
  readonly port: number;
  cut(): void;
  hold(): void;
  /** Holds as soon as something is sent that holds these words, which is then kept, too. Resolves when it does. */
  holdAt(words: string): Promise<void>;
  slow(ms: number): void;
  /** Back to passing everything at once. */
  heal(): void;
  /** Tears the connections down; new ones go to wherever the target is now. */
  reset(): void;
  close(): Promise<void>;
}

interface Pipe {
  push(chunk: Uint8Array): void;
  pump(): void;
}

export const openLane = async (target: () => number): Promise<Lane> => {
  let mode: 'open' | 'cut' | 'hold' = 'open';
  let delayMs = 0;
  let trap: { readonly words: string; readonly spring: () => void } | undefined;
  const sockets = new Set<Socket>();
  const pipes = new Set<Pipe>();

  /** Keeps the order of the bytes whatever the delay is changed to meanwhile. */
  const pipeTo = (to: Socket): Pipe => {
    const waiting: { readonly chunk: Uint8Array; readonly due: number }[] = [];
    let timer: NodeJS.Timeout | undefined;
    const pump = (): void => {
      clearTimeout(timer);
      timer = undefined;
      while (mode === 'open') {
        const [first] = waiting;
        if (first === undefined) return;
        const early = first.due - Date.now();
        if (early > 0) {
          timer = setTimeout(pump, early);
          return;
        }
        waiting.shift();
        if (!to.destroyed) to.write(first.chunk);
      }
    };
    return {
      pump,
      push: (chunk) => {
        waiting.push({ chunk, due: Date.now() + delayMs });
        if (timer === undefined) pump();
      },
    };
  };

  const listenFor = (chunk: Uint8Array): void => {
    if (trap === undefined || !Buffer.from(chunk).includes(trap.words)) return;
    mode = 'hold';
    trap.spring();
    trap = undefined;
  };

  const join = (from: Socket, to: Socket): void => {
    const pipe = pipeTo(to);
    pipes.add(pipe);
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', pipe.push);
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      pipes.delete(pipe);
      to.destroy();
    });
  };

  const reset = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  const server = createServer((client) => {
    if (mode === 'cut') {
      client.on('error', () => undefined);
      client.destroy();
      return;
    }
    const upstream = connect(target(), '127.0.0.1');
    client.on('data', listenFor);
    join(client, upstream);
    join(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');

  return {
    port: address.port,
    cut: () => {
      mode = 'cut';
      reset();
    },
    hold: () => {
      mode = 'hold';
    },
    holdAt: (words) =>
      new Promise((spring) => {
        trap = { words, spring };
      }),
    slow: (ms) => {
      delayMs = ms;
    },
    heal: () => {
      mode = 'open';
      delayMs = 0;
      trap = undefined;
      for (const pipe of pipes) pipe.pump();
    },
    reset,
    close: async () => {
      reset();
      server.close();
      await once(server, 'close');
    },
  };
};
