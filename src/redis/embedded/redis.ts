/**
 * A private redis-server for one data directory, on a unix socket that only this user can open,
 * with an append-only file.
 *
 * Ctrl-C signals every process of the foreground group, and Redis must stay until the workers have
 * finished: so it runs in a session of its own. It must also end when Paraph is killed with -9: so
 * a guard, a few lines of `sh`, starts Redis and reads a pipe whose only writer is this process.
 * When the writer dies, the read ends and the guard sends TERM. Redis always ends by TERM, so the
 * append-only file is closed in order.
 *
 * A Redis that expects an append-only file and finds none starts empty, also beside a snapshot. So
 * in that case it starts without one, loads the snapshot, and writes the file before the start is
 * over.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, askAll, waitUntilClosed } from './redis-socket.ts';

export interface EmbeddedRedisOptions {
  /** The redis-server program, an absolute path or a name on the system's default PATH. */
  readonly command: string;
  /** Redis gets the subdirectory `redis` of it. Take its instance lock first. */
  readonly dataDir: string;
  /** `everysec` may lose the last second when the machine fails; `always` loses nothing. */
  readonly appendfsync?: 'everysec' | 'always';
  /** Redis ended without `stop`. Called at most once, and only after the start had succeeded. */
  readonly onExit?: (error: string) => void;
}

export interface EmbeddedRedis {
  readonly socketPath: string;
  /** The same as `unix:<path>`, the form in which the rest of the program names a Redis. */
  readonly url: string;
  /** Process id of redis-server itself, not of its guard. */
  readonly pid: number;
  /** The data is that of a snapshot (`dump.rdb`): there was no append-only file. */
  readonly restored: boolean;
  /** Ends Redis and resolves when no process of it is left. Safe to call again. */
  stop(): Promise<void>;
}

/** The program of Redis cannot be run. The message names PARAPH_REDIS_SERVER. */
export class RedisServerError extends Error {}

/**
 * Starts Redis and resolves when it answers PING, however long it loads its file.
 *
 * @throws RedisServerError; when redis-server ends, or when another Redis goes on using this data
 *   directory.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const wanted = join(options.dataDir, 'redis');
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  // Absolute, because Redis runs in this directory.
  const directory = realpathSync(wanted);
  const socketPath = socketPathFor(directory);

  // After a kill -9 the previous Redis may still be closing its file.
  if (!(await waitUntilClosed(socketPath, leftoverTimeoutMs))) {
    throw new Error(
      `A Redis that this start did not begin still serves ${directory}: stop it, or choose another data directory.`,
    );
  }

  const restored = !hasAppendOnlyFile(directory) && existsSync(join(directory, 'dump.rdb'));
  const guard = spawnGuard(options, directory, socketPath, restored ? 'no' : 'yes');
  const lastLines: string[] = [];
  createInterface(guard.stderr).on('line', (line) => {
    lastLines.splice(0, lastLines.length - 4);
    lastLines.push(line);
  });
  // The guard prints the process id of Redis; 'close' comes when Redis, too, has ended.
  const closed = once(guard, 'close').catch(() => undefined);
  let announced = '';
  guard.stdout.on('data', (chunk: Buffer) => {
    announced += chunk.toString();
  });

  let ended = false;
  let expected = true;
  const cannotRun = `PARAPH_REDIS_SERVER: ${options.command} cannot be run`;
  const endOfGuard = once(guard, 'exit').then(
    ([code, signal]: unknown[]) =>
      // What a shell answers for a program that it cannot run.
      code === 126 || code === 127
        ? cannotRun
        : `redis-server ended with ${signal ?? `status ${code}`}`,
    (error: unknown) => `redis-server could not be started: ${String(error)}`,
  );
  endOfGuard.then((error) => {
    ended = true;
    // If only the guard was killed, its pipe reader now ends Redis.
    guard.stdin.end();
    if (!expected) options.onExit?.(error);
  });

  const pid = () => Number(announced.trim());
  const stop = async (): Promise<void> => {
    expected = true;
    guard.stdin.end();
    const lastResort = setTimeout(() => {
      try {
        if (pid() > 0) process.kill(pid(), 'SIGKILL');
      } catch {
        // It has ended.
      }
    }, stopTimeoutMs);
    await closed;
    clearTimeout(lastResort);
  };

  while (!ended && (await ask(socketPath, 'PING')) !== '+PONG') await delay(readyIntervalMs);
  const error = ended
    ? await endOfGuard
    : restored
      ? await beginAppendOnlyFile(socketPath, () => ended)
      : undefined;
  if (error !== undefined) {
    await stop();
    const Failure = error === cannotRun ? RedisServerError : Error;
    throw new Failure([`${error} (data directory ${directory})`, ...lastLines].join('\n'));
  }
  expected = false;
  return { socketPath, url: `unix:${socketPath}`, pid: pid(), restored, stop };
}

/** A Redis that is killed while it writes the first file leaves no manifest. */
function hasAppendOnlyFile(directory: string): boolean {
  // The second is that of Redis before 7.
  return ['appendonlydir/appendonly.aof.manifest', 'appendonly.aof'].some((name) =>
    existsSync(join(directory, name)),
  );
}

/** @returns The error; undefined once all data is in it. Source: Redis persistence. */
async function beginAppendOnlyFile(
  socketPath: string,
  hasEnded: () => boolean,
): Promise<string | undefined> {
  const answer = await ask(socketPath, 'CONFIG SET appendonly yes');
  if (answer !== '+OK') return 'redis-server did not begin an append-only file';
  while (!hasEnded()) {
    const state = await askAll(socketPath, 'INFO persistence');
    if (state.includes('aof_last_bgrewrite_status:err'))
      return 'redis-server could not write its file';
    const isWriting = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled'].some(
      (name) => !state.includes(`${name}:0`),
    );
    if (!isWriting && state.includes('aof_enabled:1')) return undefined;
    await delay(readyIntervalMs);
  }
  return 'redis-server ended while it wrote its file';
}

/** The time that a predecessor has to close its file. */
const leftoverTimeoutMs = 30_000;
const stopTimeoutMs = 20_000;
const readyIntervalMs = 10;

/**
 * stdin is the pipe. Redis gets neither it nor the guard's stdout. `read` returns when the writer
 * is gone; its subshell is killed when Redis ends first. The files of Redis are for their owner
 * alone (umask).
 */
const guardScript = `
umask 077
exec 3<&0 </dev/null
"$@" 3<&- >&2 &
redis=$!
echo "$redis"
{ read -r _ <&3; kill -TERM "$redis"; } >/dev/null 2>&1 &
reader=$!
exec 3<&- >&-
wait "$redis"
status=$?
kill -KILL "$reader" 2>/dev/null
exit "$status"
`;

function spawnGuard(
  options: EmbeddedRedisOptions,
  directory: string,
  socketPath: string,
  appendOnly: 'yes' | 'no',
): ChildProcessWithoutNullStreams {
  const settings = {
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    dir: directory,
    appendonly: appendOnly,
    appendfsync: options.appendfsync ?? 'everysec',
    // The append-only file holds everything.
    save: '',
    // BullMQ demands it.
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
    loglevel: 'warning',
  };
  const settingArguments = Object.entries(settings).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ]);
  const guard = spawn(
    '/bin/sh',
    ['-c', guardScript, 'paraph-redis-guard', options.command, ...settingArguments],
    // Not our environment, which may hold the master key.
    { detached: true, cwd: directory, env: { LC_ALL: 'C' } },
  );
  // A reader that is gone is not an error.
  guard.stdin.on('error', () => undefined);
  return guard;
}

/**
 * Where the socket lives: beside the data, or, where its path would be too long (103 bytes on
 * macOS, 107 on Linux), in a private directory under the system's temporary one, named by the data
 * directory.
 *
 * @param directory The subdirectory `redis` of a data directory, as a real path.
 * @throws When the private directory cannot be created or belongs to somebody else.
 */
export function socketPathFor(directory: string): string {
  const beside = join(directory, 'redis.sock');
  if (Buffer.byteLength(beside) <= 100) return beside;
  const name = `paraph-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`;
  const privateDirectory = join(Buffer.byteLength(tmpdir()) <= 60 ? tmpdir() : '/tmp', name);
  mkdirSync(privateDirectory, { recursive: true, mode: 0o700 });
  // Any user may create names in /tmp.
  const found = lstatSync(privateDirectory);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${privateDirectory} is not a private directory of this user: delete it, or shorten the data directory's path.`,
    );
  }
  return join(privateDirectory, 'redis.sock');
}
