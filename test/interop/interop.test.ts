/**
 * Judges that come from other registries: `npm run interop`. Where a registry does not answer, its
 * judge is left out, and the output says so.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { useService } from '../cli/service.ts';
import { blocksOf, readPage, root } from '../docs/pages.ts';
import { testRedis } from '../support/redis.ts';
import { installIn, npmIn, pythonIn } from './install.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'paraph-interop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const install = installIn(folder);
const hasNewman = install('newman (npm)', [
  'npm',
  ...npmIn(folder),
  '--ignore-scripts',
  'newman@6.2.2',
]);
const python = join(folder, 'python/bin/python');
const hasPython = install('bullmq (PyPI)', ...pythonIn(folder, 'bullmq==3.4.4'));

const redis = testRedis();
const service = useService(redis);

describe.skipIf(!hasNewman)('newman', () => {
  it('runs the collection for Postman (docs/clients.md)', async () => {
    const newman = join(folder, 'node_modules/newman/bin/newman.js');
    const collection = join(root, 'docs/paraph.postman_collection.json');
    const report = join(folder, 'report.json');
    const words = ['--env-var', `baseUrl=${service().url}`, '--reporters', 'cli,json'];
    const { stdout } = await run(process.execPath, [
      newman,
      'run',
      collection,
      ...words,
      '--reporter-json-export',
      report,
    ]).catch((error: { stdout?: string }) => {
      throw new Error(error.stdout ?? String(error));
    });
    expect(stdout).toMatch(/assertions.*\b1\d\b.*\b0\b/);
  });
});

describe.skipIf(!hasPython)('BullMQ for Python', () => {
  it('adds requests and reads their results (docs/queue-contract.md)', async () => {
    const [program = ''] = blocksOf(readPage('docs/queue-contract.md'), 'py');
    writeFileSync(join(folder, 'ask.py'), program);
    const env = {
      REDIS_URL: redis.url.replace(/^unix:/, 'unix://'),
      PARAPH_QUEUE_PREFIX: service().product.configuration.queue.prefix,
    };
    const { stdout } = await run(python, ['-W', 'ignore', 'ask.py'], { cwd: folder, env });
    const [signed, refused] = stdout.trim().split('\n');
    expect(JSON.parse(signed ?? '')).toMatchObject({ kind: 'signature', cms: expect.any(String) });
    expect(refused).toMatch(/^_401 USER_CANCEL/);
  });
});
