/**
 * The product as users run it: compiled, in processes of its own, with its default log (into a
 * file).
 *
 * The parts of one benchmark share a master key, so an API can complete what a worker of the same
 * Redis has signed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { ensureServiceKey } from '../../packages/pki/src/service-key.ts';
import { createKeySlots } from '../../src/app/key-slots.ts';
import { connectForCommands } from '../../src/redis/connect.ts';
import { createSeals } from '../../src/transactions/seal.ts';
import { profileArguments, project } from './program.ts';

export interface ParaphOptions {
  /** `start` is everything in one process. */
  readonly part: 'api' | 'worker' | 'start';
  readonly redisUrl: string;
  /** Keys of the configuration file; a sandbox unless they say otherwise. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Base64url of 32 bytes; by default all processes of this run share one. */
  readonly masterKey?: string;
  /** Variables beside those that the start needs. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ParaphProcess {
  readonly pid: number;
  /** Where the API listens; empty for a worker. */
  readonly url: string;
  /** By SIGTERM, in order. */
  stop(): Promise<void>;
}

const masterKeyOfThisRun = randomBytes(32).toString('base64url');

/** Those of the processes that were given no other master key. */
export const serviceKeyOfThisRun = Buffer.from(masterKeyOfThisRun, 'base64url');
export const sealsOfThisRun = createSeals(serviceKeyOfThisRun);

/** Whatever still runs when the benchmark ends before its time, with the folder it has. */
const running = new Map<ChildProcess, string>();
process.on('exit', () => {
  for (const [child, folder] of running) {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});

const mostRead = 4 * 1024 * 1024;

/** The log of an hour under load is longer than a string can be. */
const endOf = (path: string): string => {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, mostRead));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8');
  } finally {
    closeSync(file);
  }
};

const readyTimeoutMs = 30_000;
const stopTimeoutMs = 15_000;

/**
 * Benchmarks seal ends as the service does, so they give it its key: the master key is the service
 * key of a store that has none.
 */
const giveServiceKey = async (
  redisUrl: string,
  prefix: string,
  masterKey: Uint8Array,
): Promise<void> => {
  const redis = connectForCommands({ url: redisUrl }, Date.now);
  try {
    await ensureServiceKey(createKeySlots(redis, prefix), masterKey, {
      first: masterKey,
      now: Date.now,
    });
  } finally {
    redis.disconnect();
  }
};

/**
 * Starts one process and resolves when it says that it is ready.
 *
 * @throws With the end of its output when it ends before that.
 */
export const startParaph = async (options: ParaphOptions): Promise<ParaphProcess> => {
  const {
    part,
    redisUrl,
    configuration = {},
    masterKey = masterKeyOfThisRun,
    environment = {},
  } = options;
  const { prefix = 'paraph' } = Object(configuration.queue) as { readonly prefix?: string };
  await giveServiceKey(redisUrl, prefix, Buffer.from(masterKey, 'base64url'));
  const folder = mkdtempSync(join(tmpdir(), 'paraph-bench-'));
  const configurationPath = join(folder, 'paraph.json');
  const outputPath = join(folder, 'output');
  writeFileSync(configurationPath, JSON.stringify({ sandbox: true, ...configuration }));
  const output = openSync(outputPath, 'w');
  const child = spawn(
    process.execPath,
    [...profileArguments(), join(project, 'dist/src/cli/paraph.js'), part],
    {
      stdio: ['ignore', output, output],
      env: {
        PATH: process.env.PATH,
        REDIS_URL: redisUrl,
        PORT: '0',
        PARAPH_CONFIG: configurationPath,
        PARAPH_DATA: folder,
        PARAPH_MASTER_KEY: masterKey,
        // Some have a worker and no API, which would wait for one.
        PARAPH_NEW_AUTHORITY: '1',
        ...environment,
      },
    },
  );
  closeSync(output);
  running.set(child, folder);
  const ended = once(child, 'exit');
  const said = (): string => endOf(outputPath);
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    if (!(await settlesWithin(ended, stopTimeoutMs))) {
      child.kill('SIGKILL');
      await ended;
    }
    if (!running.delete(child)) return;
    // A number measured while the product complains is not worth much: say what it complained of.
    const complaints = said().match(/^.*"level":(50|60).*$/gm) ?? [];
    for (const line of complaints.slice(0, 3))
      process.stderr.write(`  paraph ${part} said ${line}\n`);
    rmSync(folder, { recursive: true, force: true });
  };
  const patience = AbortSignal.timeout(readyTimeoutMs);
  const ready = part === 'start' ? /Paraph is ready/ : /"msg":"ready"/;
  while (!ready.test(said())) {
    if (child.exitCode !== null || child.signalCode !== null || patience.aborted) {
      const last = said().slice(-2000);
      await stop();
      throw new Error(`paraph ${part} did not start: ${last}`);
    }
    await delay(20);
  }
  const url =
    /"url":"(http[^"]+)"/.exec(said())?.[1] ?? /ready at (http\S+)/.exec(said())?.[1] ?? '';
  return { pid: child.pid ?? 0, url, stop };
};
