/**
 * The whole service as it runs in production, in miniature: APIs, workers, a Redis with a replica,
 * and between each process and Redis a lane that can be disturbed. Processes are those that users
 * run, from what the compiler made.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/free-ports.ts';
import { type Waited, watchWaits } from './cpu-waits.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { type MailBox, openMailBox } from './loads/mails.ts';
import { chartsFile } from './loads/own-charts.ts';
import { configurationFor } from './people.ts';
import { type Managed, manage } from './processes.ts';
import { type Lane, openLane } from './proxy.ts';
import { createRedisNode, type RedisNode, whenInStep } from './redis-node.ts';

export interface Part {
  readonly process: Managed;
  readonly lane: Lane;
  /** Makes its clock wrong by so many milliseconds. */
  setClock(offsetMs: number): void;
  /** From its next start on it runs the other release; or the first one again. */
  swap(): void;
}

export interface Stage {
  readonly apis: readonly (Part & { readonly url: string })[];
  readonly workers: readonly Part[];
  readonly gateway: Gateway;
  readonly mailBox: MailBox;
  /** When the machine gave a process no time. */
  waits(): readonly Waited[];
  /** A token for the admin API. */
  issueToken(): Promise<string>;
  /** The address of Redis for the operator, who is not disturbed (unless Redis is). */
  readonly operatorUrl: string;
  readonly masterKey: Uint8Array;
  primary(): RedisNode;
  replica(): RedisNode;
  /** Lets the primary hand over to its replica: Redis waits until nothing is missing there. */
  switchPrimary(): Promise<void>;
  /** The primary dies and the replica takes its place with what it has. */
  failOver(): Promise<void>;
  lanes(): readonly Lane[];
  stop(): Promise<void>;
}

export interface StageOptions {
  /** Holds everything that this run leaves behind. */
  readonly directory: string;
  readonly seed: string;
  /** The compiled product: a folder with `src/cli/paraph.js`. */
  readonly dist: string;
  /** Another release, which all processes begin with. Default: none. */
  readonly otherDist?: string | undefined;
  readonly workers: number;
  readonly appendfsync?: 'always' | 'everysec';
  /** How far away the replica is. */
  readonly replicationDelayMs?: number;
  /** A line that a worker has logged. */
  readonly onWorkerLine: (worker: string, line: string) => void;
  /** A process of the product ended by itself. */
  readonly onCrash: (process: string) => void;
}

const preload = fileURLToPath(new URL('product-clock.mjs', import.meta.url));

const isReady = (line: string): boolean => line.includes('"msg":"ready"');

export const startStage = async (options: StageOptions): Promise<Stage> => {
  const {
    directory,
    seed,
    dist,
    otherDist = dist,
    onWorkerLine,
    onCrash,
    appendfsync = 'always',
    replicationDelayMs,
  } = options;
  mkdirSync(directory, { recursive: true });
  const gateway = await openGateway(seed);
  const mailBox = await openMailBox(seed);
  const masterKey = randomBytes(32);
  const first = await createRedisNode({ name: 'redis-1', directory, appendfsync });
  await first.start();
  const replication =
    replicationDelayMs === undefined ? undefined : await openLane(() => first.port);
  const replicaOf = replication?.port ?? first.port;
  const second = await createRedisNode({ name: 'redis-2', directory, appendfsync, replicaOf });
  await second.start();
  await whenInStep(first, second);
  replication?.slow(replicationDelayMs ?? 0);
  let nodes: { primary: RedisNode; replica: RedisNode } = { primary: first, replica: second };

  const prepare = async (
    part: 'api' | 'worker',
    name: string,
  ): Promise<Part & { readonly url: string }> => {
    const lane = await openLane(() => nodes.primary.port);
    const port = await freePort();
    const file = (suffix: string): string => join(directory, `${name}.${suffix}`);
    let release = otherDist;
    const surroundings = { gatewayUrl: gateway.urlFor(name), callbackUrl: gateway.callbackUrl };
    const configuration = configurationFor({
      ...surroundings,
      mailUrl: mailBox.url,
      workflows: [chartsFile],
    });
    writeFileSync(file('config.json'), JSON.stringify(configuration));
    const process_ = manage({
      name,
      command: () => [
        process.execPath,
        '--import',
        preload,
        join(release, 'src', 'cli', 'paraph.js'),
        part,
      ],
      env: {
        PATH: process.env.PATH ?? '',
        REDIS_URL: `redis://127.0.0.1:${lane.port}`,
        PORT: String(port),
        PARAPH_CONFIG: file('config.json'),
        PARAPH_DATA: join(directory, 'data'),
        PARAPH_MASTER_KEY: masterKey.toString('base64url'),
        FAULTS_CLOCK_FILE: file('clock'),
      },
      logFile: file('log'),
      onCrash,
      ...(part === 'worker' && { onLine: (line: string) => onWorkerLine(name, line) }),
      ready: ({ onLine }) =>
        new Promise((resolve) =>
          onLine((line) => {
            if (isReady(line)) resolve();
          }),
        ),
    });
    return {
      process: process_,
      lane,
      url: `http://127.0.0.1:${port}`,
      setClock: (offsetMs) => writeFileSync(file('clock'), String(offsetMs)),
      swap: () => {
        release = release === dist ? otherDist : dist;
      },
    };
  };

  const operator = await openLane(() => nodes.primary.port);
  const apis = await Promise.all(['api-1', 'api-2'].map((name) => prepare('api', name)));
  const workers = await Promise.all(
    Array.from({ length: options.workers }, (_, index) => prepare('worker', `worker-${index + 1}`)),
  );
  const parts = [...apis, ...workers];
  await Promise.all(parts.map((part) => part.process.start()));
  const watch = watchWaits(() => [...parts.map((part) => part.process), first, second]);

  const operatorUrl = `redis://127.0.0.1:${operator.port}`;
  const paraph = promisify(execFile);
  /** As an operator does it beside Redis. */
  const users = async (...words: readonly string[]): Promise<string> => {
    const program = join(dist, 'src', 'cli', 'paraph.js');
    const { stdout } = await paraph(process.execPath, [program, 'users', ...words, '--json'], {
      env: {
        PATH: process.env.PATH ?? '',
        REDIS_URL: operatorUrl,
        PARAPH_CONFIG: join(directory, 'api-1.config.json'),
        PARAPH_DATA: join(directory, 'data'),
        PARAPH_MASTER_KEY: masterKey.toString('base64url'),
      },
    });
    return stdout;
  };

  const lanes = (): readonly Lane[] => [...parts.map(({ lane }) => lane), operator];
  return {
    apis,
    workers,
    gateway,
    mailBox,
    masterKey,
    operatorUrl,
    waits: watch.waits,
    issueToken: async () => {
      await users('add', 'bulks', '--role', 'admin');
      return JSON.parse(await users('token', 'bulks')).token;
    },
    primary: () => nodes.primary,
    replica: () => nodes.replica,
    lanes,
    switchPrimary: async () => {
      const { primary, replica } = nodes;
      await whenInStep(primary, replica);
      await primary.command('FAILOVER', 'TO', '127.0.0.1', String(replica.port));
      const isPrimary = async (): Promise<boolean> =>
        String(await replica.command('INFO', 'replication').catch(() => '')).includes(
          'role:master',
        );
      while (!(await isPrimary())) await delay(20);
      primary.follow(replica.port);
      replica.follow(undefined);
      nodes = { primary: replica, replica: primary };
      for (const lane of lanes()) lane.reset();
    },
    failOver: async () => {
      const { primary, replica } = nodes;
      await primary.kill();
      replication?.cut();
      await replica.command('REPLICAOF', 'NO', 'ONE');
      nodes = { primary: replica, replica: primary };
      for (const lane of lanes()) lane.reset();
    },
    stop: async () => {
      watch.stop();
      await Promise.all(parts.map((part) => part.process.end()));
      await Promise.all([first.kill(), second.kill()]);
      await Promise.all(
        [...lanes(), ...(replication ? [replication] : [])].map((lane) => lane.close()),
      );
      await Promise.all([gateway.close(), mailBox.close()]);
    },
  };
};
