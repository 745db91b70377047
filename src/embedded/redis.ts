/**
 * A private redis-server for one data directory.
 *
 * It listens on a unix socket that only this user can open and writes an append-only file. Two wishes pull against each
 * other. Ctrl-C in a terminal signals every process of the foreground group, and Redis must then stay until the workers
 * have put their jobs down; so it runs in a session of its own. But nothing may be left when Paraph is killed with -9 and
 * cannot say goodbye. Between the two stands a guard, a few lines of `sh`: it starts Redis and holds the read end of
 * a pipe whose only writer is this process. When the writer dies, in whatever way, the read ends and the guard sends TERM.
 *
 * Redis ends by TERM in every case, so the append-only file is always closed in order.
 *
 * A Redis that expects an append-only file and finds none starts empty, also beside a snapshot that was put there to be
 * restored. So in that case it starts without the expectation, loads the snapshot, and writes the file before anybody uses it.
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
  /** `everysec` may lose the last second when the machine (not the process) fails; `always` loses nothing. */
  readonly appendfsync?: 'everysec' | 'always';
  /** Redis ended and nobody had called `stop`. Called at most once, and only after the start had succeeded. */
  readonly onExit?: (problem: string) => void;
}

export interface EmbeddedRedis {
  readonly socketPath: string;
  /** The same as `unix:<path>`, the form in which the rest of the program names a Redis. */
  readonly url: string;
  /** Process id of redis-server itself, not of its guard. */
  readonly pid: number;
  /** There was a snapshot (`dump.rdb`) and no append-only file: the data is that of the snapshot. */
  readonly restored: boolean;
  /** Ends Redis and resolves when no process of it is left. Safe to call again. */
  stop(): Promise<void>;
}

/**
 * Starts Redis and resolves when it answers PING, however long it takes to load its file.
 *
 * @throws When redis-server cannot be started, gives up, or when another Redis goes on using this data directory.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const wanted = join(options.dataDir, 'redis');
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  // Absolute from here on: Redis runs in this directory, where a relative path means another one.
  const directory = realpathSync(wanted);
  const socketPath = socketPathFor(directory);

  // After a kill -9 the previous Redis may still be closing its file. It deletes the socket and then ends.
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
  // The guard's only output is the process id of Redis; 'close' comes when Redis too has let go of the log.
  const closed = once(guard, 'close').catch(() => undefined);
  let announced = '';
  guard.stdout.on('data', (chunk: Buffer) => {
    announced += chunk.toString();
  });

  let ended = false;
  let expected = true;
  const endOfGuard = once(guard, 'exit').then(
    ([code, signal]: unknown[]) => `redis-server ended with ${signal ?? `status ${code}`}`,
    (error: unknown) => `redis-server could not be started: ${String(error)}`,
  );
  endOfGuard.then((problem) => {
    ended = true;
    // Had only the guard been killed, its pipe reader would still be there to end Redis.
    guard.stdin.end();
    if (!expected) options.onExit?.(problem);
  });

  const pid = () => Number(announced.trim());
  const stop = async (): Promise<void> => {
    expected = true;
    guard.stdin.end();
    const lastResort = setTimeout(() => {
      if (pid() > 0) signal(pid(), 'SIGKILL');
    }, stopTimeoutMs);
    await closed;
    clearTimeout(lastResort);
  };

  while (!ended && (await ask(socketPath, 'PING')) !== '+PONG') await delay(readyIntervalMs);
  const problem = ended
    ? await endOfGuard
    : restored
      ? await beginAppendOnlyFile(socketPath, () => ended)
      : undefined;
  if (problem !== undefined) {
    await stop();
    throw new Error([`${problem} (data directory ${directory})`, ...lastLines].join('\n'));
  }
  expected = false;
  return { socketPath, url: `unix:${socketPath}`, pid: pid(), restored, stop };
}

/** Its directory alone says nothing: a Redis that is killed while it writes the first file leaves one without a manifest. */
function hasAppendOnlyFile(directory: string): boolean {
  // The second is that of releases before 7, which later ones take over.
  return ['appendonlydir/appendonly.aof.manifest', 'appendonly.aof'].some((name) =>
    existsSync(join(directory, name)),
  );
}

/** @returns Why there is none; undefined once all data is in it. Source: Redis persistence, "Switching to AOF". */
async function beginAppendOnlyFile(socketPath: string, hasEnded: () => boolean): Promise<string | undefined> {
  const answer = await ask(socketPath, 'CONFIG SET appendonly yes');
  if (answer !== '+OK') return 'redis-server did not begin an append-only file';
  while (!hasEnded()) {
    const state = await askAll(socketPath, 'INFO persistence');
    if (state.includes('aof_last_bgrewrite_status:err')) return 'redis-server could not write its file';
    const isWriting = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled'].some(
      (name) => !state.includes(`${name}:0`),
    );
    if (!isWriting && state.includes('aof_enabled:1')) return undefined;
    await delay(readyIntervalMs);
  }
  return 'redis-server ended while it wrote its file';
}

/** How long a predecessor may take to close its file; flushing is the work of milliseconds on a healthy disk. */
const leftoverTimeoutMs = 30_000;
const stopTimeoutMs = 20_000;
const readyIntervalMs = 10;

/**
 * What Redis writes holds numbers and texts: it is for its owner alone, whatever the directory above allows.
 *
 * stdin is the pipe. Redis gets neither it nor the guard's stdout. `read` returns when the writer is gone (nothing is
 * ever written); being a builtin it needs no process besides its subshell, which the guard removes when Redis ends first.
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
    // The append-only file holds everything; snapshots beside it would only cost disk and forks.
    save: '',
    // A queue may not forget: BullMQ demands it.
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
    loglevel: 'warning',
  };
  const settingArguments = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const guard = spawn(
    '/bin/sh',
    ['-c', guardScript, 'paraph-redis-guard', options.command, ...settingArguments],
    {
      detached: true,
      cwd: directory,
      // Redis needs nothing of our environment, and the environment may hold the master key.
      env: { LC_ALL: 'C' },
    },
  );
  // Writing never happens and ending is best effort: a reader that is gone is no error.
  guard.stdin.on('error', () => undefined);
  return guard;
}

/**
 * Where the socket lives: beside the data, or, because a socket's path may be no longer than 103 bytes on macOS and 107
 * on Linux, in a private directory under the system's temporary one, named by the data directory so that the next start
 * finds what this one left.
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
  // Everybody may create names in /tmp: what is there must be ours alone.
  const found = lstatSync(privateDirectory);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${privateDirectory} is not a private directory of this user: delete it, or shorten the data directory's path.`,
    );
  }
  return join(privateDirectory, 'redis.sock');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone, which is what was wanted.
  }
}
