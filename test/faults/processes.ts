/**
 * Processes that can be killed, stopped and started again at any moment. Whatever way this program
 * ends, they end with it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface Managed {
  readonly name: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  start(): Promise<void>;
  /** kill -9. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: it keeps its connections and locks, and does nothing. */
  pause(): void;
  resume(): void;
  /** SIGTERM, and kill -9 for who does not listen. */
  end(): Promise<void>;
}

export interface ManagedOptions {
  readonly name: string;
  /** Asked at each start: a Redis may come back in another role. */
  readonly command: () => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Everything it prints is kept there. */
  readonly logFile: string;
  readonly onLine?: (line: string) => void;
  /** It ended when it had been ready, and nobody here had ended it. */
  readonly onCrash?: (name: string) => void;
  /** Resolves when the process works; `line` sees what it prints. */
  readonly ready: (lines: { onLine(listener: (line: string) => void): void }) => Promise<void>;
}

const maxStarts = 3;

/**
 * As a supervisor does it: one that ends while it starts, because its Redis went away just then, is
 * started again.
 *
 * @throws When it ends each time.
 */
export const startAgain = async ({ start }: Pick<Managed, 'start'>): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === maxStarts) throw error;
    }
  }
};

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(130));

const startPatienceMs = 60_000;
const endPatienceMs = 10_000;

export const manage = (options: ManagedOptions): Managed => {
  const { name, command, env, logFile, onLine, onCrash, ready } = options;
  let child: ChildProcess | undefined;

  /** Takes the child away first, so that its end is no surprise. */
  const finish = async (...signals: readonly NodeJS.Signals[]): Promise<void> => {
    const last = child;
    child = undefined;
    if (last === undefined || last.exitCode !== null || last.signalCode !== null) return;
    const exit = once(last, 'exit');
    for (const signal of signals) last.kill(signal);
    const timer = setTimeout(() => last.kill('SIGKILL'), endPatienceMs);
    await exit;
    clearTimeout(timer);
  };

  return {
    name,
    pid: () => child?.pid,
    start: async () => {
      if (child !== undefined) return;
      const [program = '', ...programArguments] = command();
      const started = spawn(program, programArguments, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child = started;
      living.add(started);
      const listeners: ((line: string) => void)[] = onLine === undefined ? [] : [onLine];
      for (const output of [started.stdout, started.stderr]) {
        createInterface(output).on('line', (line) => {
          appendFileSync(logFile, `${line}\n`);
          for (const listener of listeners) listener(line);
        });
      }
      let isReady = false;
      const ended = new Promise<never>((_, reject) => {
        const fail = (): void =>
          reject(new Error(`${name} ended before it was ready; see ${logFile}`));
        started.once('exit', () => {
          living.delete(started);
          fail();
          if (child !== started) return;
          child = undefined;
          if (isReady) onCrash?.(name);
        });
        started.once('error', fail);
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error(`${name} was not ready in time; see ${logFile}`)),
          startPatienceMs,
        );
      });
      try {
        await Promise.race([
          ready({ onLine: (listener) => listeners.push(listener) }),
          ended,
          late,
        ]);
        isReady = true;
      } finally {
        clearTimeout(timer);
        ended.catch(() => undefined);
      }
    },
    kill: () => finish('SIGKILL'),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    end: () => finish('SIGCONT', 'SIGTERM'),
  };
};
