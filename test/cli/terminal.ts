/**
 * Runs the real command with streams of the test's own, as a terminal or as a script would give
 * them.
 */
import { Readable } from 'node:stream';
import { type CliOptions, runCli } from '../../src/cli/cli.ts';
import type { Input } from '../../src/command-line/context.ts';
import type { Json } from '../support/product.ts';

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The document of `--json`. */
  json(): Json;
}

export interface RunOptions extends Partial<Pick<CliOptions, 'env' | 'fetch' | 'signal' | 'now'>> {
  /** Both outputs are terminals, 80 columns wide. */
  readonly tty?: boolean;
  readonly stdin?: Input;
  /** Sees what is written to stdout while the command runs. */
  readonly onOutput?: (text: string) => void;
}

export const piped = (text: string): Input => Readable.from([Buffer.from(text)]);

/**
 * A keyboard: each element is one chunk as a terminal in raw mode sends it. Echoing is recorded as
 * its absence.
 */
export const keyboard = (...chunks: readonly string[]): Input & { readonly modes: boolean[] } => {
  const modes: boolean[] = [];
  return Object.assign(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), {
    isTTY: true,
    modes,
    setRawMode: (raw: boolean) => modes.push(raw),
  });
};

export const run = async (
  args: readonly string[],
  { tty = false, stdin = piped(''), env = {}, onOutput, ...options }: RunOptions = {},
): Promise<Ran> => {
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY: tty,
    columns: 80,
    write: (text: string) => {
      written[name] += text;
      if (name === 'stdout') onOutput?.(text);
    },
  });
  const exitCode = await runCli(args, {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin,
    env,
    ...options,
  });
  return { exitCode, ...written, json: () => JSON.parse(written.stdout) };
};

/**
 * Runs a part until its first output, then sends it what Ctrl-C sends, and to nobody else in this
 * process.
 *
 * @param whileReady Gets that output. Ctrl-C comes when it has resolved; it does not reject.
 */
export const runUntilReady = async (
  args: readonly string[],
  options: RunOptions,
  whileReady: (output: string) => Promise<void> = async () => undefined,
): Promise<Ran> => {
  const others = [...process.listeners('SIGINT'), ...process.listeners('SIGTERM')];
  const own = (signal: 'SIGINT' | 'SIGTERM') =>
    process.listeners(signal).filter((listener) => !others.includes(listener));
  const interrupt = (): void => {
    for (const listener of own('SIGINT')) listener('SIGINT');
  };
  let isReady = false;
  const onOutput = (text: string): void => {
    if (isReady) return;
    isReady = true;
    void whileReady(text).then(interrupt);
  };
  try {
    return await run(args, { ...options, onOutput });
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      for (const listener of own(signal)) process.off(signal, listener);
    }
  }
};
