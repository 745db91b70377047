/**
 * A command that fails says so in one sentence, with nothing before or after it. Both outputs are
 * one pipe here, as a container shows them: lines of the log would stand around the sentence.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-sentence-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

let runs = 0;
/** The compiled program as a process. Both outputs are one file, so that their order is kept. */
const paraph = async (args: readonly string[], more: Readonly<Record<string, string>>) => {
  runs += 1;
  const path = join(folder, `output-${runs}`);
  const output = openSync(path, 'w');
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, ['dist/src/cli/paraph.js', ...args], {
    env: { PATH, PARAPH_DATA: folder, PORT: '0', ...more },
    stdio: ['ignore', output, output],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [exitCode] = await once(child, 'close');
  closeSync(output);
  return { exitCode, output: readFileSync(path, 'utf8') };
};

const away = { REDIS_URL: 'redis://127.0.0.1:9' };
const noRedis =
  'REDIS_URL: no Redis can be used at that address (connect ECONNREFUSED 127.0.0.1:9).';
const masterKey = 'A'.repeat(43);

describe('a start that fails is one sentence', () => {
  it('when its Redis is away and its log has warnings, for each of start, api and worker', async () => {
    const env = { ...away, HOST: '0.0.0.0', PARAPH_MASTER_KEY: masterKey };
    const ended = await Promise.all(['start', 'api', 'worker'].map((part) => paraph([part], env)));
    const expected = { exitCode: 5, output: `paraph: ${noRedis}\n` };
    expect(ended).toEqual([expected, expected, expected]);
  });

  it('when the port is taken', async () => {
    const taken = createServer().listen(0, '0.0.0.0');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const PORT = String((taken.address() as AddressInfo).port);
    const queue = { prefix: redis.prefix.slice(-32) };
    const PARAPH_CONFIG = fileWith('taken.json', JSON.stringify({ sandbox: true, queue }));
    const env = { REDIS_URL: redis.url, HOST: '0.0.0.0', PORT, PARAPH_CONFIG };
    expect(await paraph(['start'], env)).toEqual({
      exitCode: 2,
      output: `paraph: Port ${PORT} on 0.0.0.0 is taken: stop what listens there, or set PORT to another.\n`,
    });
  });

  it('when Ctrl-C ends it while it waits', async () => {
    const child = spawn(process.execPath, ['dist/src/cli/paraph.js', 'worker'], {
      env: { PATH: process.env.PATH, PARAPH_DATA: folder, ...away },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    // Its handler of the signal is there when it has loaded; before, the signal ends it silently.
    const interrupt = setInterval(() => child.kill('SIGINT'), 3000);
    onTestFinished(() => clearInterval(interrupt));
    await once(child, 'close');
    expect(output).not.toContain('{"level"');
  });
});

describe('a command that fails is one sentence', () => {
  const nowhere = ['--url', 'http://127.0.0.1:9'];
  const broken = fileWith('broken.mjs', 'export const chart = ');
  it.each<readonly [readonly string[], number]>([
    [['ls'], 5],
    [['watch'], 5],
    [['users', 'link', 'anna'], 5],
    [['master-key', 'list'], 5],
    [['index', 'rebuild'], 5],
    [['messages', '+41700092501'], 5],
    [['backup', join(folder, 'backup')], 5],
    [['sign', '+41700092501', 'Hi', ...nowhere], 5],
    [['workflow', 'check', broken], 2],
    [['workflow', 'test', broken], 2],
    [['workflow', 'test', join(folder, 'absent.mjs')], 2],
    [['evidence', 'verify', broken, '--service-root', broken], 2],
    [['clients', 'list', '--config', join(folder, 'absent.json')], 2],
  ])('paraph %j', async (args, code) => {
    const { exitCode, output } = await paraph(args, { ...away, PARAPH_MASTER_KEY: masterKey });
    expect(output).toMatch(/^paraph: [^\n]+\n$/);
    expect(exitCode).toBe(code);
  });
});
