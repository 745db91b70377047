/**
 * The dependency rule is Biome's to hold, room by room. A rule that never fires looks like one that is kept, so each
 * room is tried with an import that it must not have.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
let tree = '';

const lint = (): Promise<string> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [
        join(root, 'node_modules/@biomejs/biome/bin/biome'),
        'lint',
        '--vcs-enabled=false',
        '--max-diagnostics=none',
        '--reporter=json',
        '.',
      ],
      { cwd: tree, maxBuffer: 1 << 26 },
      (_, stdout) => resolve(stdout),
    );
  });

const plant = (path: string, specifier: string): void => {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), `import '${specifier}';\n`);
};

/** Room, an import it must not have, and one that it may. */
const cases = [
  ['src/protocol', '../http/app.ts', 'zod'],
  ['src/protocol', '../registry/subscriber.ts', './fault.ts'],
  ['machines', '../src/transactions/ids.ts', '../src/protocol/fault.ts'],
  ['machines', 'bullmq', 'xstate'],
  ['src/registry', '../transactions/ids.ts', '../protocol/fault.ts'],
  ['src/pki', '../sscd/device.ts', '../protocol/fault.ts'],
  ['src/sscd', '../transactions/ids.ts', '../pki/cms.ts'],
  ['src/transactions', '../http/app.ts', '../pki/cms.ts'],
  ['src/transactions', '../../workers/rest.ts', '../../machines/record.ts'],
  ['workers', '../src/http/app.ts', '../src/sscd/device.ts'],
  ['workers', 'hono', 'bullmq'],
  ['src/http', 'bullmq', 'hono'],
  ['src/http', 'ioredis', '../transactions/transactions.ts'],
  ['src/http', '../redis/connect.ts', '../registry/subscriber.ts'],
  ['src/http', '../../workers/rest.ts', '../protocol/fault.ts'],
  ['src/redis', '../protocol/fault.ts', 'ioredis'],
  ['src/http', 'oidc-provider', 'hono'],
  ['src/oauth', '../http/app.ts', '../transactions/transactions.ts'],
  ['src/oauth', 'ioredis', 'oidc-provider'],
  ['src/transactions', '../oauth/tenant.ts', '../pki/cms.ts'],
  ['src/queue', '../http/app.ts', '../transactions/transactions.ts'],
  ['src/history', '../operators/audit.ts', '../transactions/contract.ts'],
  ['src/operators', 'hono', '../history/history.ts'],
  ['src/telemetry', '../product/core.ts', '../http/log.ts'],
  ['src/transactions', '../history/history.ts', '../redis/connect.ts'],
  ['src/console', '../http/app.ts', '../history/history.ts'],
  ['src/console-login', '../operators/users.ts', '../relying-party/index.ts'],
  ['src/oauth', '../console-login/subjects.ts', '../registry/console-client.ts'],
  ['src/callbacks', '../console/deps.ts', '../transactions/contract.ts'],
  ['src/demo', '../oauth/tenant.ts', '../relying-party/index.ts'],
  ['src/relying-party', '../oauth/tenant.ts', 'jose'],
] as const;

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'paraph-rooms-'));
  cpSync(join(root, 'biome.json'), join(tree, 'biome.json'));
  const configuration = JSON.parse(readFileSync(join(tree, 'biome.json'), 'utf8'));
  delete configuration.$schema;
  writeFileSync(join(tree, 'biome.json'), JSON.stringify(configuration));
  for (const [index, [room, forbidden, allowed]] of cases.entries()) {
    plant(`${room}/planted-${index}.ts`, forbidden);
    plant(`${room}/allowed-${index}.ts`, allowed);
  }
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

describe('the dependency rule', () => {
  it('is broken by every import that points the wrong way, and by no other', async () => {
    const report = JSON.parse(await lint()) as {
      diagnostics: { category: string; location: { path: string } }[];
    };
    const broken = report.diagnostics
      .filter(({ category }) => category === 'lint/style/noRestrictedImports')
      .map(({ location }) => location.path.replace(/^\.\//, ''));
    expect(broken.sort()).toEqual(cases.map(([room], index) => `${room}/planted-${index}.ts`).sort());
  });
});
