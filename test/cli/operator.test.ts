import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { type RunOptions, run } from './terminal.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('paraph config check', () => {
  it('accepts a usable file, named or from PARAPH_CONFIG', async () => {
    const file = fileWith('good.json', '{"sandbox":true}');
    expect(await run(['config', 'check', file])).toMatchObject({
      exitCode: 0,
      stdout: `${file} is usable.\n`,
    });
    const { json } = await run(['config', 'check', '--json'], { env: { PARAPH_CONFIG: file } });
    expect(json()).toEqual({ outcome: 'ok', file, problems: [], warnings: [] });
  });

  it('says what is served without a file', async () => {
    const { exitCode, stdout } = await run(['config', 'check']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('No configuration file: the sandbox is served.\n');
  });

  it('lists every problem of file and environment, never a value', async () => {
    const file = fileWith('bad.json', '{"sandbox":"topsecret","surprise":1}');
    const { exitCode, json, stderr } = await run(['config', 'check', file, '--json'], {
      env: { PORT: 'topsecret' },
    });
    expect(exitCode).toBe(2);
    expect(json().outcome).toBe('usage');
    expect(json().problems).toHaveLength(3);
    expect(json().problems.join()).toMatch(/PORT.*surprise|surprise.*PORT/);
    expect(JSON.stringify(json()) + stderr).not.toContain('topsecret');
  });
});

describe('paraph start, api and worker', () => {
  it.each(['api', 'worker'])('paraph %s needs REDIS_URL', async (part) => {
    const { exitCode, stderr } = await run([part]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      `paraph: paraph ${part} needs REDIS_URL, the Redis that all processes of the service share; paraph start brings its own.\n`,
    );
  });

  it.each(['start', 'api', 'worker'])('paraph %s says what is wrong with the environment', async (part) => {
    const env = { REDIS_URL: redis.url, PORT: 'many' };
    const ran = await run([part], { env });
    expect(ran).toMatchObject({ exitCode: 2, stderr: 'paraph: PORT must be a number from 0 to 65535.\n' });
  });

  it('paraph start says what is wrong with the configuration', async () => {
    const env = { PARAPH_CONFIG: fileWith('broken.json', '{') };
    const { exitCode, stderr } = await run(['start'], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^paraph: The configuration is not usable:\n {2}configuration: not valid JSON/);
  });

  /** Runs a part until its first output, then sends it what Ctrl-C sends, and to nobody else in this process. */
  const runUntilReady = async (args: readonly string[], options: RunOptions) => {
    const others = process.listeners('SIGINT');
    const others2 = process.listeners('SIGTERM');
    const own = () => process.listeners('SIGINT').filter((listener) => !others.includes(listener));
    onTestFinished(() => {
      for (const listener of own()) process.off('SIGINT', listener);
      for (const listener of process.listeners('SIGTERM')) {
        if (!others2.includes(listener)) process.off('SIGTERM', listener);
      }
    });
    return run(args, {
      ...options,
      onOutput: () => {
        for (const listener of own()) listener('SIGINT');
      },
    });
  };

  const environment = (part: string) => ({
    REDIS_URL: redis.url,
    PORT: '0',
    PARAPH_DATA: join(folder, part),
    PARAPH_CONFIG: fileWith(
      `${part}.json`,
      JSON.stringify({ sandbox: true, queue: { prefix: `${redis.prefix.slice(-24)}-${part}` } }),
    ),
  });

  it.each(['api', 'worker'])('paraph %s logs that it is ready, and stops in order', async (part) => {
    const { exitCode, stdout, stderr } = await runUntilReady([part], { env: environment(part) });
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      msg: 'ready',
      part,
      ...(part === 'api' && { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) }),
    });
  });

  it('paraph start greets', async () => {
    const { exitCode, stdout } = await runUntilReady(['start'], { env: environment('start') });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Paraph is ready at http:\/\/127\.0\.0\.1:\d+/);
  });
});
