/**
 * A process that ends when this one does, in whatever way this one ends.
 *
 * The guard is the one of src/redis/embedded/redis.ts: a few lines of `sh` in a session of their own hold
 * the read end of a pipe whose only writer is this process, and signal the program when it closes.
 * So a Ctrl-C in the terminal reaches nobody but the runner, and a runner that is killed leaves
 * nothing behind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';

export interface GuardedOptions {
  /** What messages call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where it runs, and where its output goes (`<name>.log`). */
  readonly folder: string;
  /** By which it ends in order. */
  readonly signal?: 'TERM' | 'INT';
  readonly user?: User | undefined;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface Guarded {
  /** Of the program itself. */
  readonly pid: number;
  /** Resolves when its output matches. @throws When it ends before, or not in time. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  stop(): Promise<void>;
}

const readyTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const lookMs = 20;

/** Arguments: signal, output file, program. The guard prints the program's pid. */
const guardScript = `
signal=$1; log=$2; shift 2
exec 3<&0 </dev/null
"$@" 3<&- >>"$log" 2>&1 &
program=$!
echo "$program"
{ read -r _ <&3; kill -s "$signal" "$program"; } >/dev/null 2>&1 &
reader=$!
exec 3<&- >&-
wait "$program"
status=$?
kill -KILL "$reader" 2>/dev/null
exit "$status"
`;

/** @throws When the guard does not start. A program that does not is found by `says`. */
export const startGuarded = async (options: GuardedOptions): Promise<Guarded> => {
  const { name, command, args, environment, folder, signal = 'TERM', user } = options;
  const logFile = `${folder}/${name}.log`;
  const guard = spawn(
    '/bin/sh',
    ['-c', guardScript, `guard-of-${name}`, signal, logFile, command, ...args],
    {
      detached: true,
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', ...environment },
      ...user,
    },
  );
  guard.stderr.resume();
  guard.stdin.on('error', () => undefined);
  // Everything below asks for it; whoever waits hears of the end by `exitCode`.
  const ended = once(guard, 'close').catch(() => undefined);
  const [announced] = (await once(guard.stdout, 'data')) as [Buffer];
  const pid = Number(announced.toString());
  const said = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');

  return {
    pid,
    says: async (pattern) => {
      const patience = AbortSignal.timeout(readyTimeoutMs);
      for (;;) {
        const found = pattern.exec(said());
        if (found !== null) return found;
        if (guard.exitCode !== null || guard.signalCode !== null || patience.aborted)
          throw new Error(`${name} did not start: ${said().slice(-2000)}`);
        await delay(lookMs);
      }
    },
    stop: async () => {
      guard.stdin.end();
      if (await settlesWithin(ended, stopTimeoutMs)) return;
      process.kill(pid, 'SIGKILL');
      await ended;
    },
  };
};
