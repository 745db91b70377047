#!/usr/bin/env node
/**
 * The executable: gives the command the terminal, the environment and Ctrl-C of this process.
 *
 * The first Ctrl-C lets the command print how to continue; the second one ends the process. `paraph
 * start` and its parts have handlers of their own, which stop the product in order.
 */
import { runCli } from './cli.ts';

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

// `paraph … | head`: the reader has closed the pipe, which is not an error.
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

// A library that still waits for Redis must not keep the process. The timer itself does not keep it
// either.
setTimeout(() => process.exit(), 1000).unref();
