#!/usr/bin/env node
/**
 * The executable: gives the command this process's terminal, environment and Ctrl-C.
 *
 * The first Ctrl-C lets the command say what goes on without it; at the second nobody listens any more, and the
 * process ends. `paraph start` and its parts have handlers of their own, which stop the product in order.
 */
import { runCli } from './cli.ts';

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

// `paraph … | head`: who reads has seen enough, which is no error of ours.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  signal: interrupt.signal,
});

// Whatever a library still waits for when Redis is gone must not keep the process. Nothing waits for this timer.
setTimeout(() => process.exit(), 1000).unref();
