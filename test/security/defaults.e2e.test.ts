/**
 * What somebody gets who starts it without reading: reachable by nobody else, readable by nobody
 * else, and told so.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { testRedis } from '../support/redis.ts';

const project = join(import.meta.dirname, '../..');
const redis = testRedis();
const masterKey = randomBytes(32).toString('base64url');

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-defaults-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const start = (environment: Readonly<Record<string, string>>) => {
  const { REDIS_URL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, ['dist/src/cli/paraph.js', 'start'], {
    cwd: project,
    env: { ...inherited, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { printed: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.printed += chunk;
    });
  }
  return { child, output, ended: once(child, 'close') };
};

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));

const warning = 'this is a sandbox: it accepts any AP_ID';

describe('the embedded default', { timeout: 40_000 }, () => {
  it('listens on this machine alone, and keeps its data for its owner, in an open directory too', async () => {
    const data = newFolder();
    // As a copy from a backup leaves them.
    mkdirSync(join(data, 'redis'), { mode: 0o755 });
    const { child, output, ended } = start({ PARAPH_DATA: data });
    await vi.waitFor(() => expect(output.printed).toContain('Ctrl-C stops it'), {
      timeout: 30_000,
      interval: 20,
    });
    const url = /ready at (http:\S+)/.exec(output.printed)?.[1] ?? '';
    expect(new URL(url).hostname).toBe('127.0.0.1');
    expect(output.printed).toContain('This is a sandbox');
    expect(output.printed).not.toContain(warning);
    const files = filesBelow(data);
    expect(files.some((file) => file.endsWith('.aof'))).toBe(true);
    expect(files.some((file) => file.endsWith('master.key'))).toBe(true);
    expect(files.filter((file) => (lstatSync(file).mode & 0o077) !== 0)).toEqual([]);
    child.kill('SIGTERM');
    await ended;
  });

  it.each([
    ['warns of a sandbox', true],
    ['has nothing to warn of otherwise', false],
  ])('%s when its address is for others', async (_, sandbox) => {
    const folder = newFolder();
    const configuration = join(folder, 'paraph.json');
    writeFileSync(
      configuration,
      JSON.stringify({ sandbox, queue: { prefix: redis.prefix.slice(-32) } }),
    );
    // An address for documentation (RFC 5737), which no machine has: nobody can reach what is tried
    // here.
    const { output, ended } = start({
      HOST: '192.0.2.1',
      REDIS_URL: redis.url,
      PARAPH_DATA: folder,
      PARAPH_MASTER_KEY: masterKey,
      PARAPH_CONFIG: configuration,
      // Lines of JSON are kept back from a start that fails.
      PARAPH_LOG_FORMAT: 'pretty',
    });
    await ended;
    expect(output.printed).toMatch(/EADDRNOTAVAIL/);
    expect(output.printed.includes(warning)).toBe(sandbox);
  });
});

describe('the compose file', () => {
  const { services } = z
    .object({ services: z.record(z.string(), z.object({ ports: z.array(z.string()).optional() })) })
    .parse(parse(readFileSync(join(project, 'docker-compose.yml'), 'utf8'), { merge: true }));

  it('publishes the sandbox and its dashboard on this machine alone, and Redis nowhere', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    );
    expect(published).toEqual([
      ['api', expect.stringMatching(/^\$\{PARAPH_BIND:-127\.0\.0\.1\}:/)],
      ['grafana', expect.stringMatching(/^127\.0\.0\.1:/)],
    ]);
  });
});

describe('the configuration', () => {
  it('has no place for a password in the address of the text gateway', () => {
    const withUrl = (url: string) =>
      parseConfiguration(JSON.stringify({ otp: { gateway: { kind: 'webhook', url } } }));
    expect(withUrl('https://gateway.example/send').ok).toBe(true);
    const refused = withUrl('https://user:geheim@gateway.example/send');
    expect(refused).toEqual({
      ok: false,
      problems: ['otp.gateway.url: must not hold a user name or password'],
    });
  });
});
