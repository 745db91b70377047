import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const listener = `
const { listen } = await import('./src/http/server.ts');
const options = { host: '127.0.0.1', port: 0, requestTimeoutMs: 5000, headersTimeoutMs: 5000, tls: undefined };
let sent;
const fetchHere = (_, { outgoing }) => {
  outgoing.end('once');
  return sent;
};
const server = await listen({ ...options, fetch: fetchHere });
({ RESPONSE_ALREADY_SENT: sent } = await import('@hono/node-server/utils/response'));
const answer = await fetch(server.url);
console.log(answer.status, await answer.text());
server.cut();
await server.drain();
`;

// In a process of its own: here some other file may have loaded the adapter's sign already.
it('an answer that a route has written itself is not written again, whatever is loaded first', async () => {
  const words = ['--import', 'tsx', '--input-type=module', '--eval', listener];
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd });
  expect(stdout).toBe('200 once\n');
  expect(stderr).toBe('');
});
