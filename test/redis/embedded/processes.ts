/** Other processes, as the tests of this room start and watch them. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface OtherProcess {
  readonly pid: number;
  /** Its next line of output; undefined when it ended without one. */
  readonly line: () => Promise<string | undefined>;
  readonly say: (line: string) => void;
  /** `wholeGroup` is what a terminal does at Ctrl-C. */
  readonly signal: (name: NodeJS.Signals, options?: { readonly wholeGroup: boolean }) => void;
  readonly ended: Promise<void>;
}

/**
 * Runs a file with Node, as the head of a process group of its own: one that imports what is
 * compiled, which starts soonest.
 */
export function startProcess(file: URL, ...processArguments: readonly string[]): OtherProcess {
  const path = fileURLToPath(file);
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [path, ...processArguments],
    { detached: true, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const pid = child.pid ?? 0;
  return {
    pid,
    line: async () => {
      const next = await lines.next();
      return next.done ? undefined : next.value;
    },
    say: (line) => child.stdin.write(`${line}\n`),
    signal: (name, options) => process.kill(options?.wholeGroup ? -pid : pid, name),
    ended: once(child, 'exit').then(() => undefined),
  };
}

/** Whether a process runs; one that has ended and that nobody has reaped does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/\) [ZX] /.test(stat);
  } catch (error) {
    // No /proc on this system: the signal went through.
    return (
      error instanceof Error &&
      'code' in error &&
      error.code === 'ENOENT' &&
      process.platform !== 'linux'
    );
  }
}
