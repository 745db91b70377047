/**
 * Runs other programs on behalf of `npm start`, `npm test` and `npm run check`.
 *
 * Ctrl-C reaches the child by itself (same foreground group), `kill` does not: so a signal that
 * arrives while a child runs is handed on, and once the child has ended this process ends of the
 * same signal, as if it had never stood in between.
 */
import { spawn } from 'node:child_process';

/** @type {NodeJS.Signals[]} */
const handedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @param {string} command
 * @param {readonly string[]} commandArguments
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, output?: 'shown' | 'errors' | 'kept' }}
 *   [options] `shown` (the default) lets the child write to the terminal, `errors` sends all it
 *   writes to stderr, `kept` collects it.
 * @returns {Promise<{ status: number, output: string }>} `status` 127 when the command could not be
 *   started.
 */
export async function run(command, commandArguments, options = {}) {
  const mode = options.output ?? 'shown';
  const stdio = /** @type {import('node:child_process').StdioOptions} */ (
    { shown: 'inherit', errors: ['ignore', 2, 2], kept: ['ignore', 'pipe', 'pipe'] }[mode]
  );
  const child = spawn(command, commandArguments, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio,
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));

  /** @type {NodeJS.Signals | undefined} */
  let received;
  /** @param {NodeJS.Signals} signal */
  const handOn = (signal) => {
    received = signal;
    child.kill(signal);
  };
  for (const signal of handedOn) process.on(signal, handOn);
  const status = await new Promise((resolve) => {
    child.on('error', (error) => {
      output += error.message;
      resolve(127);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
  for (const signal of handedOn) process.off(signal, handOn);
  if (received) {
    process.kill(process.pid, received);
    // The signal is delivered between two turns of the event loop; nothing further may begin.
    await new Promise(() => setInterval(() => {}, 1000));
  }
  return { status, output };
}
