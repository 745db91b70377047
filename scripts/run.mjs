/**
 * Runs other programs on behalf of `npm start`, `npm test` and `npm run check`.
 *
 * Ctrl-C reaches the child by itself, `kill` does not: so a signal is passed on to the child, and
 * this process then ends of the same signal.
 */
import { spawn } from 'node:child_process';

/** @type {NodeJS.Signals[]} */
const handedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @param {string} command
 * @param {readonly string[]} commandArguments
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, output?: 'shown' | 'errors' | 'kept' }}
 *   [options] Output: to the terminal (the default), all of it to stderr, or collected.
 * @returns {Promise<{ status: number, output: string }>} `status` 127 when it could not be started.
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
