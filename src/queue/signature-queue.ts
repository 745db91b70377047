/**
 * A typed producer of signature requests that needs only Redis: no HTTP, password or master key.
 *
 * It adds the jobs of docs/queue-contract.md and reads their results; no worker need run meanwhile.
 * Any program with write access to the Redis can ask for every application.
 */
import { createProtocol } from '../../packages/protocol/src/parse.ts';
import { defaultProtocolRules, type ProtocolRules } from '../../packages/protocol/src/rules.ts';
import { type SignatureJobData, signatureJobName } from '../transactions/contract.ts';
import { createEndings, type Endings } from '../transactions/endings.ts';
import { maxShards, shardOf } from '../transactions/ids.ts';
import { createReadEnd } from '../transactions/outcomes.ts';
import { addOrJoin, closeShards, openShards, type Shard } from '../transactions/shards.ts';
import { statusOf } from '../transactions/standing.ts';
import { createBulk, type EnqueueOutcome } from './bulk.ts';
import { createCertificateStore } from './certificates.ts';
import { type ConnectionOptions, openConnections } from './connections.ts';
import { InvalidRequestError } from './errors.ts';
import { createHandle, type SignatureHandle } from './handle.ts';
import { type EnqueueOptions, objectionToOptions, placeRequest } from './placement.ts';
import { createReadInput, type SignatureInput } from './request.ts';

export type SignatureQueueOptions = ConnectionOptions & {
  /** `queue.prefix` of the service's configuration. */
  readonly prefix?: string;
  /** `queue.shards` of the service's configuration: with another number requests are not found. */
  readonly shards?: number;
  /** The AP_ID of requests that name none. */
  readonly apId?: string;
  /** The same as `protocol` in the service's configuration. Requests use the first authority. */
  readonly rules?: Partial<ProtocolRules>;
  /**
   * Roots (DER) of the services behind `gateways` of the service's configuration, by name. Without
   * them a signature from there is not believed.
   */
  readonly gatewayRoots?: Readonly<Record<string, readonly Uint8Array[]>>;
  /** Milliseconds since the epoch. Default: time of Redis; of the process with `connection`. */
  readonly now?: () => number;
  /** Errors of Redis that reject no call. What it throws becomes a warning of the process. */
  readonly onError?: (error: Error) => void;
};

export interface EnqueuedSignature extends SignatureHandle {
  /** It joined an earlier request that is open, or that HTTP still joins. */
  readonly joined: boolean;
}

export interface SignatureQueue {
  /**
   * Makes a request durable.
   *
   * @throws InvalidRequestError (rejects) For an invalid request; nothing was added.
   * @throws When Redis is unreachable; the request may then have been added or not. On a connection
   *   of our own it is not added later.
   */
  enqueue(request: SignatureInput, options?: EnqueueOptions): Promise<EnqueuedSignature>;
  /**
   * The same for thousands of requests. An outcome for each, in the same order.
   *
   * @throws InvalidRequestError (rejects) For invalid options; nothing was added.
   */
  enqueueBulk(
    requests: readonly SignatureInput[],
    options?: EnqueueOptions,
  ): Promise<readonly EnqueueOutcome[]>;
  /** @returns Undefined for an unknown id, also after its retention. */
  find(id: string): Promise<SignatureHandle | undefined>;
  /** Root certificates (DER) of the service: as trustworthy as the Redis they are in. */
  rootCertificates(): Promise<readonly Uint8Array[]>;
  /** Ends all waits. Added requests stay. */
  close(): Promise<void>;
}

/** A throwing callback would break off the work of a library. */
const harmless =
  (onError: (error: Error) => void = () => undefined) =>
  (error: Error): void => {
    try {
      onError(error);
    } catch (thrown) {
      process.emitWarning(thrown instanceof Error ? thrown : String(thrown));
    }
  };

export const createSignatureQueue = (options: SignatureQueueOptions): SignatureQueue => {
  const { prefix = 'paraph', shards: shardCount = 1 } = options;
  if (!Number.isInteger(shardCount) || shardCount < 1 || shardCount > maxShards) {
    throw new TypeError(`shards must be a whole number from 1 to ${maxShards}`);
  }
  const rules = { ...defaultProtocolRules, ...options.rules };
  const [authority] = rules.authorities;
  if (authority === undefined) throw new TypeError('rules.authorities must not be empty');

  const onError = harmless(options.onError);
  const connections = openConnections(options, onError);
  const { commands, blocking } = connections;
  const { now = connections.now } = options;
  const shards = openShards({ redis: commands, prefix, shards: shardCount, onError });
  const protocol = createProtocol(rules);
  const readInput = createReadInput({ protocol, authority, apId: options.apId, now });
  const certificates = createCertificateStore(commands, prefix);
  const readEnd = createReadEnd({
    custody: certificates,
    seals: undefined,
    now,
    onError,
    upstreamTrust: (gateway) => options.gatewayRoots?.[gateway],
  });
  const subscriptions = new Map<number, Endings>();
  const onClose = new Set<() => void>();
  let closed = false;

  const subscriptionOf = (shard: Shard): Endings => {
    const present = subscriptions.get(shard.index);
    if (present !== undefined) return present;
    const opened = createEndings({
      redis: commands,
      blocking,
      at: shard.signatures,
      now,
      onError,
    });
    subscriptions.set(shard.index, opened);
    return opened;
  };

  const shardAt = (index: number): Shard => {
    const shard = shards[index];
    if (shard === undefined) throw new Error(`There is no shard ${index}`);
    return shard;
  };

  const handleOf = (id: string, shard: Shard): SignatureHandle =>
    createHandle(id, shard.signatures, () => subscriptionOf(shard), {
      redis: commands,
      protocol,
      readEnd,
      now,
      isClosed: () => closed,
      onClose,
    });

  const checkOptions = (enqueueOptions: EnqueueOptions): void => {
    const wrong = objectionToOptions(enqueueOptions, now());
    if (wrong !== undefined) throw new InvalidRequestError(wrong);
  };

  const bulk = createBulk({ readInput, shardAt, shardCount, handleOf, now, onError });

  return {
    enqueue: async (request, enqueueOptions = {}) => {
      checkOptions(enqueueOptions);
      const read = readInput(request);
      if (!read.ok) throw new InvalidRequestError(read.objection);
      await connections.connected();
      const placed = placeRequest(read.wire, enqueueOptions, shardCount, now());
      const shard = shardAt(placed.shard);
      const data: SignatureJobData = { MSS_SignatureReq: { ...read.wire } };
      const id = await addOrJoin(shard.signatures, signatureJobName, data, placed.jobOptions);
      return { ...handleOf(id, shard), joined: id !== placed.jobId };
    },

    enqueueBulk: async (requests, enqueueOptions = {}) => {
      checkOptions(enqueueOptions);
      await connections.connected();
      return bulk(requests, enqueueOptions);
    },

    find: async (id) => {
      const index = shardOf(id, shardCount);
      if (index === undefined) return undefined;
      await connections.connected();
      const shard = shardAt(index);
      const handle = handleOf(id, shard);
      return (await handle.status()) === statusOf(undefined) ? undefined : handle;
    },

    rootCertificates: async () => {
      await connections.connected();
      return certificates.trust();
    },

    close: async () => {
      if (closed) return;
      closed = true;
      for (const end of onClose) end();
      await Promise.all([...subscriptions.values()].map((endings) => endings.close()));
      await closeShards(shards);
      await connections.close();
    },
  };
};
