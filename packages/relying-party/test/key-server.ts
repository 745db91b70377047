import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A provider's key endpoint on a port of its own, which counts what it is asked and answers as a
 * test says.
 */
export interface KeyServer {
  readonly url: string;
  readonly fetches: number;
  answer(listener: RequestListener): void;
  stop(): Promise<void>;
}

export const answerJson =
  (value: unknown): RequestListener =>
  (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(value));
  };

export const startKeyServer = async (first: RequestListener): Promise<KeyServer> => {
  let listener = first;
  let fetches = 0;
  const server = createServer((request, response) => {
    fetches += 1;
    listener(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get fetches() {
      return fetches;
    },
    answer: (next) => {
      listener = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
