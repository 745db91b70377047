/** What a fresh clone is promised, as far as it can be held without a network. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { Vitest } from 'vitest/node';
import { z } from 'zod';
import { provideRedis } from '../../../scripts/redis-binary.mjs';
import { createSummaryReporter } from '../../support/summary-reporter.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));

const read = (name: string): string => readFileSync(join(project, name), 'utf8');
const manifestSchema = z.object({
  version: z.string(),
  engines: z.object({ node: z.string() }),
  dependencies: z.record(z.string(), z.string()),
});
const manifestOf = (folder: string) =>
  manifestSchema.parse(JSON.parse(read(join(folder, 'package.json'))));

it('has one version, of all packages and of the newest entry of the changelog', () => {
  const { version, engines, dependencies } = manifestOf('.');
  expect(/^## \[(\d.*?)\]/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  for (const [name, ...brought] of [
    ['client', 'zod'],
    ['pki', 'jose', 'zod'],
    ['relying-party', 'jose'],
  ] as const) {
    const of = Object.fromEntries(brought.map((each) => [each, dependencies[each]]));
    expect(manifestOf(`packages/${name}`)).toEqual({ version, engines, dependencies: of });
  }
  const engine = JSON.parse(read('packages/engine/package.json'));
  const peers = ['bullmq', 'ioredis', 'xstate'].map((name) => [name, `^${dependencies[name]}`]);
  expect(engine).toMatchObject({ version, engines, peerDependencies: Object.fromEntries(peers) });
  expect(engine).not.toHaveProperty('dependencies');
});

it.each(['.', 'packages/client', 'packages/engine', 'packages/pki', 'packages/relying-party'])(
  '%s can be found in a registry',
  (folder) => {
    const { description, keywords } = JSON.parse(read(join(folder, 'package.json')));
    expect(description).toMatch(/\.$/);
    expect(keywords?.length).toBeGreaterThan(3);
    expect(keywords).toEqual(keywords.filter((word: string) => /^[a-z0-9-]+$/.test(word)));
  },
);

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ optionalDependencies: z.record(z.string(), z.string()).optional() }),
  ),
});

it('locks the packages of every platform, without which npm ci refuses to install on any', () => {
  const { packages } = lockSchema.parse(JSON.parse(read('package-lock.json')));
  const paths = Object.keys(packages);
  const wanted = Object.values(packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}),
  );
  expect(wanted.length).toBeGreaterThan(0);
  expect(
    wanted.filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`))),
  ).toEqual([]);
});

it('ends the tests with one line of their sum, and adds nothing where another reporter was asked for', () => {
  const lines: string[] = [];
  const before = process.listeners('exit');
  const added = () => process.listeners('exit').filter((listener) => !before.includes(listener));
  const reporter = createSummaryReporter((line) => lines.push(line));
  // Vitest makes the reporters of the configuration also where the command line replaces them.
  expect(added()).toEqual([]);
  reporter.onInit?.({} as Vitest);
  for (const listener of added()) {
    process.off('exit', listener);
    listener(0);
  }
  expect(lines).toEqual(['0 passed, 0 failed, 0 skipped']);
});

/** A directory for PATH with programs of our own making. */
function directoryWith(programs: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-path-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return directory;
}

const neverSays = (line: string) => {
  throw new Error(`announced a download: ${line}`);
};

it('takes the redis-server that the environment names, then the one on the PATH', async () => {
  const directory = directoryWith({ 'redis-server': 'echo "Redis server v=7.2.5 sha=0"' });
  const onPath = { PATH: directory };
  expect(await provideRedis({ ...onPath, PARAPH_REDIS_SERVER: '/named' }, neverSays)).toEqual({
    command: '/named',
  });
  expect(await provideRedis(onPath, neverSays)).toEqual({
    command: join(directory, 'redis-server'),
  });
});

it('takes a valkey-server too', async () => {
  const directory = directoryWith({ 'valkey-server': 'echo "Valkey server v=8.1.1 sha=0"' });
  expect(await provideRedis({ PATH: directory }, neverSays)).toEqual({
    command: join(directory, 'valkey-server'),
  });
});

it('loads, and says what is missing, where the user of an installed package has no home', () => {
  const directory = directoryWith({});
  for (const name of ['redis-binary.mjs', 'apt.mjs', 'run.mjs'])
    cpSync(join(project, 'scripts', name), join(directory, 'scripts', name));
  const script = `
    import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    os.homedir = () => { throw new Error('no home'); };
    syncBuiltinESMExports();
    const { provideRedis } = await import(${JSON.stringify(join(directory, 'scripts/redis-binary.mjs'))});
    console.log(JSON.stringify(await provideRedis({ PATH: ${JSON.stringify(directory)} }, console.log)));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout).problem).toMatch(
    /^There is no redis-server on the PATH, and no place for one \(no home\): set REDIS_URL, or install Redis/,
  );
});

it('says in one sentence that another Node cannot be had where the npm registry is away', () => {
  const env = {
    ...process.env,
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_fetch_retries: '0',
  };
  const script = join(project, 'scripts/fetch-node.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '24.0.999'], {
    env,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(
    /\nparaph: Node 24\.0\.999 cannot be had here: the npm registry does not give node-\S+@24\.0\.999, or it does not run\.\n$/,
  );
  expect(readdirSync(join(project, '.cache/node'))).not.toContain('24.0.999');
});

it('names in the README every Node that it is tested with, among them that of CI', () => {
  const [, ofCi = ''] = /^lts=(\d+)\./m.exec(read('.ci/run')) ?? [];
  const [, tested = ''] =
    /Tested with Node ([^.]+\.\d+ or newer[^.]+)\./.exec(read('README.md')) ?? [];
  expect(tested.match(/\d+(\.\d+)?/g)).toEqual([
    manifestOf('.').engines.node.slice(2),
    '22',
    ofCi,
    '26',
  ]);
});

it('says in one sentence what is wrong with the Node that runs it', () => {
  const pretend = 'Object.defineProperty(process.versions, "node", { value: "20.18.3" });';
  const script = `${pretend} import(${JSON.stringify(`${project}/scripts/start.mjs`)})`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toBe(`Paraph needs Node 20.19 or newer; this is 20.18.3 (${process.execPath}).\n`);
});
