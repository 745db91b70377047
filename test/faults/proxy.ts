/**
 * What stands between each process and Redis: a TCP proxy with one lane for each process, so that a
 * single worker can be cut off while the others go on.
 *
 * cut   Connections are torn down and new ones are refused as soon as they are made.
 * hold  Bytes are kept and nothing is said: the network that swallows. When it ends, they arrive late and in order,
 *       also those of a connection that its owner has given up meanwhile: that is how a write of the past reaches Redis.
 * dead  The connections of this moment swallow bytes for good and are never closed from this side, as when the other end
 *       is gone without a word. New ones work.
 * slow  Every chunk is late by so many milliseconds, in both directions.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Lane {
  readonly port: number;
  cut(): void;
  hold(): void;
  /**
   * Of the connections that there are, nothing arrives any more. {@link Lane.heal} does not change
   * that.
   */
  deaden(): void;
  /**
   * Holds as soon as something is sent that matches, which is then kept, too. Resolves with the
   * match.
   */
  holdAt(pattern: RegExp): Promise<RegExpExecArray>;
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
  /** What was pushed before arrives first. */
  end(): void;
  deaden(): void;
}

/** @param target The port of the other end, or the path of its socket. */
export const openLane = async (target: () => number | string): Promise<Lane> => {
  let mode: 'open' | 'cut' | 'hold' = 'open';
  let delayMs = 0;
  let trap:
    | { readonly pattern: RegExp; readonly spring: (match: RegExpExecArray) => void }
    | undefined;
  const sockets = new Set<Socket>();
  const pipes = new Set<Pipe>();

  /** Keeps the order of the bytes whatever the delay is changed to meanwhile. */
  const pipeTo = (to: Socket): Pipe => {
    const waiting: { readonly chunk: Uint8Array; readonly due: number }[] = [];
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    let dead = false;
    const pump = (): void => {
      clearTimeout(timer);
      timer = undefined;
      while (mode === 'open') {
        const [first] = waiting;
        if (first === undefined) {
          if (!ended) return;
          pipes.delete(pipe);
          to.destroySoon();
          return;
        }
        const early = first.due - Date.now();
        if (early > 0) {
          timer = setTimeout(pump, early);
          return;
        }
        waiting.shift();
        if (!to.destroyed) to.write(first.chunk);
      }
    };
    const pipe: Pipe = {
      pump,
      push: (chunk) => {
        if (dead) return;
        waiting.push({ chunk, due: Date.now() + delayMs });
        if (timer === undefined) pump();
      },
      end: () => {
        if (dead) pipes.delete(pipe);
        ended = true;
        if (timer === undefined) pump();
      },
      deaden: () => {
        dead = true;
        waiting.length = 0;
      },
    };
    pipes.add(pipe);
    return pipe;
  };

  const listenFor = (chunk: Uint8Array): void => {
    const match = trap?.pattern.exec(Buffer.from(chunk).toString('latin1'));
    if (!trap || !match) return;
    mode = 'hold';
    trap.spring(match);
    trap = undefined;
  };

  const join = (from: Socket, to: Socket): void => {
    const pipe = pipeTo(to);
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', pipe.push);
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      pipe.end();
    });
  };

  const reset = (): void => {
    for (const pipe of pipes) pipe.deaden();
    for (const socket of sockets) socket.destroy();
  };

  const server = createServer((client) => {
    if (mode === 'cut') {
      client.on('error', () => undefined);
      client.destroy();
      return;
    }
    const to = target();
    const upstream = typeof to === 'string' ? connect(to) : connect(to, '127.0.0.1');
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
    deaden: () => {
      for (const pipe of pipes) pipe.deaden();
    },
    holdAt: (pattern) =>
      new Promise((spring) => {
        trap = { pattern, spring };
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
