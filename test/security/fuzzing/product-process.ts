/**
 * The embedded product as users run it, in a process of its own: where it listens, what it logged,
 * how it fares.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const startTimeoutMs = 30_000;
const stopTimeoutMs = 30_000;

export interface ProductProcess {
  readonly url: string;
  isAlive(): boolean;
  /** Resident memory; undefined where there is no /proc to ask. */
  memoryBytes(): number | undefined;
  /** Lines of the log that tell of trouble, and whatever else was printed after the greeting. */
  troubles(): readonly string[];
  stop(): Promise<void>;
}

/** `error` in pino's numbering. */
const troubleLevel = 50;

const isTrouble = (line: string): boolean => {
  try {
    return JSON.parse(line).level >= troubleLevel;
  } catch {
    return true;
  }
};

/**
 * @param main The compiled program, `dist/src/cli/paraph.js`.
 * @throws With what it printed, when it does not start.
 */
export const startProductProcess = async (
  main: string,
  configuration: object,
): Promise<ProductProcess> => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-fuzz-'));
  const configurationPath = join(folder, 'paraph.json');
  writeFileSync(configurationPath, JSON.stringify({ sandbox: true, ...configuration }));
  const { REDIS_URL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, 'start'], {
    env: {
      ...inherited,
      PORT: '0',
      PARAPH_DATA: join(folder, 'data'),
      PARAPH_CONFIG: configurationPath,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let greeting = '';
  let url: string | undefined;
  let unfinished = '';
  const troubles: string[] = [];
  const read = (chunk: Buffer): void => {
    if (url === undefined) {
      greeting += chunk.toString();
      url = /ready at (http\S+).*Ctrl-C stops it/s.exec(greeting)?.[1];
      return;
    }
    const lines = (unfinished + chunk.toString()).split('\n');
    unfinished = lines.pop() ?? '';
    troubles.push(...lines.filter((line) => line !== '' && isTrouble(line)));
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  const stop = async (): Promise<void> => {
    if (isAlive()) child.kill('SIGTERM');
    const lastResort = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await ended;
    clearTimeout(lastResort);
    rmSync(folder, { recursive: true, force: true });
  };
  const patience = AbortSignal.timeout(startTimeoutMs);
  while (url === undefined) {
    if (!isAlive() || patience.aborted) {
      await stop();
      throw new Error(`The product did not start: ${greeting}`);
    }
    await delay(20);
  }
  return {
    url,
    isAlive,
    memoryBytes: () => {
      try {
        const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(
          readFileSync(`/proc/${child.pid}/status`, 'utf8'),
        )?.[1];
        return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
      } catch {
        return undefined;
      }
    },
    troubles: () => troubles,
    stop,
  };
};
