/** A product, a receiver on this machine, and the callbacks between them with short pauses. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RegisteredProvider } from '../../../src/registry/application-providers.ts';
import { closeShards, openShards, type Shard } from '../../../src/transactions/shards.ts';
import { startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import type { TestRedis } from '../../../test/support/redis.ts';
import type { SignOptions } from '../../../test/support/requests.ts';
import { callbacksOf as queueIn } from '../queue.ts';
import { type CallbackSide, type CallbackSideOptions, startCallbacks } from '../start.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the answer to the next requests. Default: 204. */
  answers(by: (response: ServerResponse, received: Received) => void): void;
  of(msspTransId: string): readonly Received[];
  close(): Promise<void>;
}

export const startReceiver = async (): Promise<Receiver> => {
  const received: Received[] = [];
  const usual = (response: ServerResponse): void => void response.writeHead(204).end();
  let answer: (response: ServerResponse, received: Received) => void = usual;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        at: performance.now(),
      };
      received.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answers: (by) => {
      answer = by;
    },
    of: (id) =>
      received.filter(({ headers }) => String(headers['webhook-id']).startsWith(`${id}-`)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export const providerOf = (id: string, url?: string, secretVersion = 1): RegisteredProvider => ({
  id,
  passwordHash: undefined,
  dtbsPrefix: undefined,
  profiles: undefined,
  services: undefined,
  rateLimit: undefined,
  clientCertificateFingerprints: undefined,
  ...(url !== undefined && { callback: { url, secretVersion } }),
});

export interface CallbackStage {
  readonly product: TestProduct;
  readonly shards: readonly Shard[];
  readonly prefix: string;
  readonly serviceKey: Uint8Array;
  readonly errors: readonly Error[];
  /** The lines of the log. */
  readonly told: readonly string[];
  start(
    providers: readonly RegisteredProvider[],
    changes?: Partial<CallbackSideOptions>,
  ): Promise<CallbackSide>;
  submit(options: SignOptions): Promise<string>;
  shardOfId(id: string): Shard;
  /** Runs a failed transaction again. */
  rerun(id: string): Promise<void>;
  jobIds(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export const startCallbackStage = async (
  redis: TestRedis,
  {
    shards: count = 1,
    configuration = {},
  }: { readonly shards?: number; readonly configuration?: Record<string, unknown> } = {},
): Promise<CallbackStage> => {
  const serviceKey = new Uint8Array(32).fill(7);
  const product = await startTestProduct(redis, {
    masterKey: serviceKey,
    configuration: { ...configuration, queue: { shards: count } },
  });
  const { blocking, retention } = product.core;
  const { prefix } = product.configuration.queue;
  const errors: Error[] = [];
  const told: string[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const shards = openShards({
    redis: blocking,
    prefix,
    shards: count,
    queues: ['callbacks'],
    onError,
  });
  const running = new Set<CallbackSide>();
  const tell =
    (what: string) =>
    (...given: readonly unknown[]): void =>
      void told.push([what, ...given].join(' '));
  const shardOfId = (id: string): Shard => {
    const shard = shards.find(({ index }) => id.startsWith(`H0${index}`));
    if (shard === undefined) throw new Error('a shard was expected');
    return shard;
  };
  return {
    product,
    shards,
    prefix,
    serviceKey,
    errors,
    told,
    shardOfId,
    start: async (providers, changes = {}) => {
      const side = await startCallbacks({
        redis: blocking,
        prefix,
        shards,
        find: product.api.transactions.find,
        providers,
        serviceKey,
        sandbox: true,
        retention,
        now: Date.now,
        log: {
          delivered: tell('delivered'),
          undelivered: tell('undelivered'),
          gaveUp: tell('gaveUp'),
        },
        onError,
        pollMs: 10,
        tries: 3,
        backoff: { firstMs: 40, factor: 2, maxMs: 2000 },
        ...changes,
      });
      running.add(side);
      return {
        idle: side.idle,
        close: async () => {
          running.delete(side);
          await side.close();
        },
      };
    },
    submit: product.submit,
    rerun: async (id) => {
      await (await shardOfId(id).signatures.queue.getJob(id))?.retry('failed');
    },
    jobIds: async () => {
      const states = ['waiting', 'active', 'delayed', 'completed', 'failed'] as const;
      const jobs = await Promise.all(
        shards.map((shard) => queueIn(shard).queue.getJobs([...states])),
      );
      return jobs.flat().map(({ id }) => String(id));
    },
    close: async () => {
      await Promise.all([...running].map((side) => side.close()));
      await closeShards(shards);
      await product.stop();
    },
  };
};
