/**
 * Runs the commands of pages one after the other in one process of the compiled product: a process
 * for each would spend a second on loading it. Takes them from command.mjs, at the socket that its
 * argument names.
 */
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { runCli } from '../../dist/src/cli/cli.js';

const serve = async (/** @type {import('node:net').Socket} */ socket) => {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const { args, cwd, env } = JSON.parse((await lines.next()).value);
  const rest = async function* () {
    for await (const line of { [Symbol.asyncIterator]: () => lines })
      yield Buffer.from(line, 'base64');
  };
  const send = (/** @type {object} */ message) => socket.write(`${JSON.stringify(message)}\n`);
  const output = (/** @type {string} */ name) => ({
    write: (/** @type {string} */ text) => send({ [name]: text }),
  });
  // Relative paths are those of the command. Commands that run side by side are of one pipe.
  process.chdir(cwd);
  const stdin = Readable.from(rest());
  const exitCode = await runCli(args, {
    env,
    stdin,
    stdout: output('stdout'),
    stderr: output('stderr'),
  });
  send({ exitCode });
};

createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => undefined);
  void serve(socket);
}).listen(process.argv[2], () => process.send?.('ready'));
