/**
 * `paraph` on the PATH of the pages: lets command-server.mjs run the command, with the streams of
 * this process.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const [socketPath = '', ...args] = process.argv.slice(2);
const socket = connect(socketPath);
const send = (/** @type {unknown} */ message) => socket.write(`${message}\n`);
send(JSON.stringify({ args, cwd: process.cwd(), env: process.env }));
process.stdin.on('data', (chunk) => send(chunk.toString('base64'))).on('end', () => socket.end());
createInterface({ input: socket }).on('line', (line) => {
  const { stdout = '', stderr = '', exitCode } = JSON.parse(line);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  if (exitCode === undefined) return;
  process.exitCode = exitCode;
  process.stdin.destroy();
  socket.destroy();
});
