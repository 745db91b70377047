/**
 * Copies the content of a running service's Redis at one moment.
 *
 * Copying all keys takes seconds, and writes must not wait that long. So all keys are copied while
 * the service runs, and Redis reports the keys that change meanwhile (CLIENT TRACKING). These are
 * copied again, until few are left. Only then writes are paused (CLIENT PAUSE WRITE), and the last
 * changes are copied. All data that was acknowledged before is in the copy, and no later data. On a
 * cluster the writes of all nodes are paused at the same time.
 *
 * If this process dies, Redis resumes writes by itself after {@link holdMs}.
 *
 * Sources: Redis commands CLIENT TRACKING (broadcasting mode), CLIENT PAUSE, DUMP.
 */
import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { nodesOf, type RedisClient } from '../../src/redis/connect.ts';
import type { BackupRecord } from './backup-file.ts';
import { beginningsOf, createKeeps, type Service } from './own-keys.ts';

/** A snapshot has failed. The message is a sentence for the operator. */
export class SnapshotError extends Error {}

/** The longest pause of writes. Callers of the service get a failure after 0.8 s. */
const holdMs = 2000;
/** Keys that still have to be copied at which writes are paused ... */
const fewKeys = 200;
/** ... or after this number of rounds, even if more are left. */
const maxRounds = 30;
const maxHolds = 5;
const scanCount = 500;
/** Values that are copied at a time, because they are all in memory. */
const copiedTogether = 50;

interface Node {
  readonly redis: Redis;
  /** Keys (latin1) that were changed since they were copied. */
  readonly changed: Set<string>;
  /** Resolves when all earlier changes are known. */
  settled(): Promise<unknown>;
  readonly lost: AbortSignal;
  close(): void;
}

/** Opens a connection for this backup only, because its loss must end the backup. */
const ownConnection = async (node: Redis, more: { readonly protocol?: 2 } = {}): Promise<Redis> => {
  const connection = node.duplicate({
    ...more,
    retryStrategy: () => null,
    reconnectOnError: null,
    maxRetriesPerRequest: 0,
    // Connections to the nodes of a cluster wait for their first command.
    lazyConnect: false,
    enableOfflineQueue: true,
  });
  connection.on('error', () => undefined);
  if (connection.status !== 'ready') {
    await Promise.race([
      once(connection, 'ready'),
      once(connection, 'end').then(() => connection.ping()),
    ]);
  }
  return connection;
};

const invalidations = '__redis__:invalidate';

const openNode = async (node: Redis, service: Service): Promise<Node> => {
  const keeps = createKeeps(service);
  // With protocol 3 the library drops the reports of changed keys.
  const [redis, ear] = await Promise.all([
    ownConnection(node),
    ownConnection(node, { protocol: 2 }),
  ]);
  const changed = new Set<string>();
  const loss = new AbortController();
  const end = (why: string): void => loss.abort(new SnapshotError(why));
  for (const connection of [redis, ear]) {
    connection.on('end', () => end('The connection to Redis has ended during the backup.'));
  }
  ear.on('messageBuffer', (_channel: Buffer, keys: readonly Buffer[] | null) => {
    if (keys === null) return end('Redis was emptied during the backup.');
    for (const key of keys) {
      const name = key.toString('latin1');
      if (keeps(name)) changed.add(name);
    }
  });
  const listener = await ear.client('ID');
  await ear.subscribe(invalidations);
  const prefixes = beginningsOf(service.prefix).flatMap((beginning) => ['PREFIX', beginning]);
  await redis.client('TRACKING', 'ON', 'REDIRECT', listener, ...prefixes, 'BCAST');
  return {
    redis,
    changed,
    settled: () => ear.ping(),
    lost: loss.signal,
    close: () => {
      redis.disconnect();
      ear.disconnect();
    },
  };
};

const copy = async ({ redis }: Node, name: string): Promise<BackupRecord> => {
  const key = Buffer.from(name, 'latin1');
  // If the key changes in between, Redis reports it, and it is copied again.
  const [value, expiresAtMs] = await Promise.all([redis.dumpBuffer(key), redis.pexpiretime(key)]);
  return { key, expiresAtMs: Math.max(0, expiresAtMs), value: value ?? undefined };
};

type Take = (records: readonly BackupRecord[]) => Promise<void>;

const copyAll = async (node: Node, names: readonly string[], take: Take): Promise<void> => {
  for (let from = 0; from < names.length; from += copiedTogether) {
    node.lost.throwIfAborted();
    const together = names.slice(from, from + copiedTogether);
    await take(await Promise.all(together.map((name) => copy(node, name))));
  }
};

const scan = async (node: Node, keeps: (key: string) => boolean, take: Take): Promise<void> => {
  let cursor = '0';
  do {
    const [next, found] = await node.redis.scanBuffer(cursor, 'COUNT', scanCount);
    cursor = next.toString();
    const names = found.map((key) => key.toString('latin1')).filter(keeps);
    await copyAll(node, names, async (records) =>
      take(records.filter(({ value }) => value !== undefined)),
    );
  } while (cursor !== '0');
};

/** Takes the changed keys out of the set. A later change of one adds it again. */
const takeChanged = ({ changed }: Node): readonly string[] => {
  const names = [...changed];
  changed.clear();
  return names;
};

/** @returns Undefined when it took so long that Redis has resumed writes. */
const copyHeld = async (nodes: readonly Node[]) => {
  const began = performance.now();
  try {
    await Promise.all(nodes.map(({ redis }) => redis.client('PAUSE', holdMs, 'WRITE')));
    await Promise.all(nodes.map((node) => node.settled()));
    const times = await Promise.all(nodes.map(({ redis }) => redis.time()));
    const records: BackupRecord[] = [];
    await Promise.all(
      nodes.map((node) =>
        copyAll(node, takeChanged(node), async (copied) => void records.push(...copied)),
      ),
    );
    const heldMs = performance.now() - began;
    const at = Math.min(
      ...times.map(([seconds, micros]) => Number(seconds) * 1000 + Number(micros) / 1000),
    );
    return { records, heldMs, at: new Date(at), isWhole: heldMs < holdMs };
  } finally {
    await Promise.all(nodes.map(({ redis }) => redis.client('UNPAUSE').catch(() => undefined)));
  }
};

export interface Snapshot {
  /** The moment by the clock of Redis. All data that was acknowledged before is in the snapshot. */
  readonly at: Date;
  /** The time for which writes were paused. */
  readonly heldMs: number;
}

const refusal = (error: unknown): Error => {
  const { message } = toError(error);
  if (!/NOPERM|unknown (sub)?command/i.test(message)) return toError(error);
  return new SnapshotError(
    'The user of REDIS_URL lacks rights that a backup needs, or this Redis has not the commands: see docs/operations/backup.md.',
  );
};

/**
 * Copies all keys of a service. A key may come several times; then its last record counts.
 *
 * @param redis A connection for blocking, to one Redis or to a cluster.
 * @throws SnapshotError
 */
export const takeSnapshot = async (
  redis: RedisClient,
  service: Service,
  take: Take,
): Promise<Snapshot> => {
  const keeps = createKeeps(service);
  const nodes: Node[] = [];
  try {
    for (const target of nodesOf(redis)) nodes.push(await openNode(target, service));
    for (const node of nodes) await scan(node, keeps, take);
    for (let hold = 0; hold < maxHolds; hold += 1) {
      for (let round = 0; round < maxRounds; round += 1) {
        await Promise.all(nodes.map((node) => node.settled()));
        if (nodes.reduce((sum, { changed }) => sum + changed.size, 0) <= fewKeys) break;
        for (const node of nodes) await copyAll(node, takeChanged(node), take);
      }
      const { records, isWhole, ...snapshot } = await copyHeld(nodes);
      await take(records);
      for (const { lost } of nodes) lost.throwIfAborted();
      if (isWhole) return snapshot;
    }
    throw new SnapshotError(
      `The last changes could not be copied within ${holdMs / 1000} s, for which writes are held: try again when less is going on.`,
    );
  } catch (error) {
    const lost = nodes.find((node) => node.lost.aborted)?.lost.reason;
    throw lost ?? refusal(error);
  } finally {
    for (const node of nodes) node.close();
  }
};
