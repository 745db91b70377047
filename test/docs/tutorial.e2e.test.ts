/**
 * The tutorial, word by word as somebody pastes it in a clone: in one folder, with the real npx,
 * and with the service that the page itself starts. Only the address is another one.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { socketPathFor } from '../../src/redis/embedded/redis.ts';
import { waitUntilClosed } from '../../src/redis/embedded/redis-socket.ts';
import { blocksOf, readPage, root } from './pages.ts';

const run = promisify(execFile);

/** A clone that is compiled already. */
const clone = mkdtempSync(join(tmpdir(), 'paraph-tutorial-'));
copyFileSync(join(root, 'package.json'), join(clone, 'package.json'));
for (const name of ['dist', 'machines', 'node_modules', 'scripts', 'src', 'workers'])
  symlinkSync(join(root, name), join(clone, name));

const folder = join(clone, 'expense');
const blocks = blocksOf(readPage('docs/workflow-tutorial.md'), 'sh');
let service: ChildProcess | undefined;
let url = 'http://127.0.0.1:8080';

const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|VITEST|REDIS_URL|PARAPH_(?!REDIS_SERVER))/.test(name),
    ),
  ),
  PORT: '0',
};

/** In the folder in which the terminal is after the block before. */
const inTerminal = (block: string): string =>
  [
    'set -euo pipefail',
    `cd "$(cat "${clone}/at")"`,
    block.replaceAll('http://127.0.0.1:8080', url),
    `pwd > "${clone}/at"`,
  ].join('\n');

const start = async (block: string): Promise<void> => {
  service = spawn('bash', ['-c', inTerminal(block)], {
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = service;
  url = await new Promise<string>((resolve, reject) => {
    let output = '';
    for (const stream of [started.stdout, started.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
        const ready = /ready at (http:\S+)\n/.exec(output)?.[1];
        if (ready !== undefined) resolve(ready);
      });
    started.once('close', () => reject(new Error(output)));
  });
};

afterAll(async () => {
  if (service?.pid !== undefined && service.exitCode === null) {
    const closed = once(service, 'close');
    // As Ctrl-C does: to everything that the terminal runs.
    process.kill(-service.pid, 'SIGINT');
    await closed;
    const socket = socketPathFor(join(realpathSync(folder), '.paraph/redis'));
    expect(await waitUntilClosed(socket, 20_000)).toBe(true);
  }
  rmSync(clone, { recursive: true, force: true });
});

/** What somebody sees who follows the page. */
const shown: readonly (readonly [of: RegExp, output: RegExp])[] = [
  [/workflow check/, /expense/],
  [/approved\.json$/m, /paid/],
  [/Idempotency-Key/, /"status":"completed"/],
  [/workflow ls/, /bern-7.*completed|completed.*bern-7/],
];

it('does what the page says, from the first block to the last', async () => {
  writeFileSync(join(clone, 'at'), clone);
  const seen: RegExp[] = [];
  for (const block of blocks) {
    if (/paraph start$/m.test(block)) {
      await start(block);
      continue;
    }
    const { stdout, stderr } = await run('bash', ['-c', inTerminal(block)], {
      env: environment,
      timeout: 60_000,
    });
    for (const [of, output] of shown.filter(([rule]) => rule.test(block))) {
      expect(`${stdout}${stderr}`, block).toMatch(output);
      seen.push(of);
    }
  }
  expect(service).toBeDefined();
  expect(seen).toHaveLength(shown.length);
  expect(readFileSync(join(clone, 'at'), 'utf8').trim()).toBe(folder);
}, 180_000);
