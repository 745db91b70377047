/**
 * The dependency rule: which rooms of ours, and which packages, each room may use. What the table
 * does not name is forbidden, so a new room needs a line here and its place in the picture of
 * ARCHITECTURE.md. A rule that never fires looks like one that is kept: each room is tried with an
 * import that it must not have.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn, readSources } from './support/imports.ts';

const root = join(import.meta.dirname, '..');

/**
 * Room: rooms that it may use, packages that it may use. A folder of a room that is a layer of its
 * own has a row, too (`transactions/jobs`). `bullmq/dist` is what BullMQ does not promise; `bullmq`
 * alone does not include it.
 */
const table: Readonly<Record<string, readonly [rooms: string, packages: string]>> = {
  app: [
    'app/configuration console console/login console/operators engine environment http http/outgoing oauth part parts pki protocol redis redis/embedded registry sscd telemetry transactions transactions/history workers',
    '@opentelemetry/api pino',
  ],
  'app/configuration': ['console/operators environment part parts protocol registry', 'zod'],
  'app/package': ['documents pki processes protocol queue transactions workflows', ''],
  backup: [
    'command-line console/operators engine environment part pki redis transactions/history',
    'ioredis zod',
  ],
  callbacks: [
    'command-line console console/operators engine http/outgoing part pki protocol redis registry telemetry transactions transactions/history transactions/jobs workers',
    'bullmq hono standardwebhooks xstate zod',
  ],
  certificates: [
    'command-line console console/operators environment http http/pages part pki protocol registry transactions',
    'hono zod',
  ],
  ciba: [
    'command-line engine http/pages oauth part pki protocol redis registry transactions',
    'oidc-provider xstate zod',
  ],
  cli: [
    'app app/configuration client command-line console console/login console/operators engine environment oauth parts pki protocol redis redis/embedded registry sscd telemetry transactions transactions/history',
    'commander zod',
  ],
  client: ['pki protocol', 'zod'],
  'command-line': [
    'client console console/operators engine environment pki protocol redis transactions/history',
    'commander',
  ],
  console: [
    'console/login console/operators engine http/pages machines oauth pki protocol redis registry transactions transactions/history',
    '@bull-board/api @bull-board/hono @dagrejs/dagre @hono/node-server bullmq hono xstate zod',
  ],
  'console/login': ['environment oauth registry relying-party', 'jose zod'],
  'console/operators': [
    'engine machines pki protocol redis registry telemetry transactions transactions/history transactions/jobs',
    'bullmq zod',
  ],
  demo: ['http/pages part pki protocol registry relying-party', 'hono jose'],
  documents: [
    'certificates client command-line console engine http http/outgoing http/pages part pki processes protocol redis registry telemetry workflows',
    'aws4fetch hono zod',
  ],
  engine: ['', 'bullmq bullmq/dist ioredis xstate'],
  environment: ['', 'zod'],
  gateway: [
    'client environment part pki protocol registry sscd telemetry transactions workers',
    'zod',
  ],
  http: [
    'environment http/pages pki protocol registry telemetry transactions',
    '@hono/node-server hono zod',
  ],
  'http/outgoing': ['protocol', ''],
  'http/pages': ['', 'hono'],
  machines: ['engine protocol', 'xstate zod'],
  oauth: [
    'engine http/pages pki protocol redis registry telemetry transactions',
    '@hono/node-server hono jose oidc-provider uqr',
  ],
  part: [
    'command-line console console/operators http http/outgoing http/pages oauth pki protocol redis registry sscd telemetry transactions workers',
    'bullmq zod',
  ],
  parts: [
    'backup callbacks certificates ciba demo documents gateway part phone pkcs11 processes rehearsal workflows',
    '',
  ],
  phone: [
    'command-line console console/operators engine environment http/outgoing http/pages oauth part pki protocol redis registry sscd transactions',
    '@simplewebauthn/server hono jose uqr zod',
  ],
  pkcs11: ['engine environment part pki registry', 'jose pkcs11js zod'],
  pki: ['', 'jose zod'],
  processes: [
    'command-line console console/operators engine environment http/outgoing http/pages machines part pki protocol registry relying-party telemetry transactions transactions/jobs workflows',
    'commander hono jose xstate zod',
  ],
  protocol: ['', 'zod'],
  queue: ['engine pki protocol redis transactions', 'bullmq ioredis zod'],
  redis: ['engine pki', 'ioredis'],
  'redis/embedded': ['', ''],
  registry: ['protocol', 'zod'],
  rehearsal: ['command-line engine part redis redis/embedded workflows', 'commander xstate zod'],
  'relying-party': ['protocol', 'jose'],
  sscd: ['pki protocol redis registry telemetry', ''],
  telemetry: ['engine redis', '@opentelemetry/api bullmq ioredis pino prom-client'],
  transactions: ['engine machines pki protocol redis registry transactions/jobs', 'bullmq zod'],
  'transactions/history': ['engine machines protocol redis transactions transactions/jobs', 'zod'],
  'transactions/jobs': ['engine redis', 'bullmq ioredis'],
  workers: [
    'engine machines pki protocol redis registry sscd telemetry transactions transactions/jobs',
    'bullmq',
  ],
  workflows: [
    'command-line console console/operators engine environment http http/outgoing http/pages machines part protocol queue redis registry telemetry transactions transactions/history transactions/jobs workers',
    'bullmq commander hono nodemailer xstate zod',
  ],
};

/** Load files that operators name in the configuration. */
const loaders: readonly string[] = ['parts/workflows/charts/load.ts'];

/** The room, or the folder of a room that has a row of its own. */
const roomOf = (path: string): string => {
  const [top = '', room = '', folder = '', file] = path.split('/');
  if (top === 'parts') return folder === '' ? top : room;
  if (top !== 'src' && top !== 'packages') return top;
  const inner = `${room}/${folder}`;
  return file !== undefined && Object.hasOwn(table, inner) ? inner : room;
};

/** The room without the folder. */
const outerOf = (room: string): string => room.split('/')[0] ?? '';

/** `hono/html` is of `hono`, `@hono/node-server/utils` of `@hono/node-server`. */
const packageOf = (name: string): string =>
  name.startsWith('bullmq/') ? 'bullmq/dist' : (/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);

/** The room or the package that an import is of. */
const usedBy = (path: string, name: string): string =>
  name.startsWith('.') ? roomOf(posix.join(posix.dirname(path), name)) : packageOf(name);

/** @returns A line for each import that the table does not allow. */
const check = (path: string, text: string): readonly string[] => {
  const room = roomOf(path);
  const [rooms = '', packages = ''] = table[room] ?? [];
  return importsIn(text).flatMap((name) => {
    if (name === undefined)
      return loaders.includes(path) ? [] : [`${path} has an import whose name is not written out`];
    if (name.startsWith('node:')) return [];
    const isOurs = name.startsWith('.');
    const used = usedBy(path, name);
    const allowed = isOurs ? rooms : packages;
    if ((isOurs && used === room) || allowed.split(' ').includes(used)) return [];
    const kind = isOurs ? 'rooms' : 'packages';
    return [
      `${path} imports ${name}: of the ${kind}, ${room} may use ${allowed || 'none'}, not ${used}`,
    ];
  });
};

/** Room, an import that it must not have, and one that it may. */
const cases = [
  ['packages/protocol/src', '../../../src/http/app.ts', 'zod'],
  ['packages/protocol/src', '../../../src/registry/subscriber.ts', './fault.ts'],
  ['machines', '../src/transactions/ids.ts', '../packages/protocol/src/fault.ts'],
  ['machines', 'bullmq', 'xstate'],
  ['packages/engine/src', '../../../src/transactions/ids.ts', './redis/clock.ts'],
  ['packages/engine/src', '../../../machines/record.ts', 'xstate'],
  ['packages/engine/src', 'zod', 'bullmq'],
  [
    'packages/engine/src/redis',
    '../../../protocol/src/fault.ts',
    'bullmq/dist/cjs/scripts/promote-9.js',
  ],
  ['src/transactions/jobs', '../contract.ts', '../../../packages/engine/src/engine.ts'],
  ['src/registry', '../transactions/ids.ts', '../../packages/protocol/src/fault.ts'],
  ['packages/pki/src', '../../protocol/src/fault.ts', './cms.ts'],
  ['src/sscd', '../transactions/ids.ts', '../../packages/pki/src/cms.ts'],
  ['src/transactions', '../http/app.ts', '../../packages/pki/src/cms.ts'],
  ['src/transactions', '../../workers/workers.ts', '../../machines/record.ts'],
  ['src/transactions', 'bullmq/dist/cjs/version.js', '../../packages/engine/src/engine.ts'],
  ['workers', '../src/http/app.ts', '../src/sscd/device.ts'],
  ['workers', 'hono', 'bullmq'],
  ['workers', 'bullmq/dist/cjs/version.js', '../packages/engine/src/worker.ts'],
  ['src/http', 'bullmq', 'hono'],
  ['src/http', 'ioredis', '../transactions/transactions.ts'],
  ['src/http', '../redis/connect.ts', '../registry/subscriber.ts'],
  ['src/http', '../../workers/workers.ts', '../../packages/protocol/src/fault.ts'],
  ['src/http', '../../test/support/redis-server.ts', './pages/theme.ts'],
  ['src/redis', '../../packages/protocol/src/fault.ts', 'ioredis'],
  ['src/http', 'oidc-provider', 'hono/html'],
  ['src/oauth', '../http/app.ts', '../transactions/transactions.ts'],
  ['src/oauth', 'ioredis', 'oidc-provider'],
  ['src/transactions', '../oauth/tenant.ts', '../../packages/pki/src/cms.ts'],
  ['src/queue', '../http/app.ts', '../transactions/transactions.ts'],
  ['src/transactions/history', '../../console/operators/audit.ts', '../contract.ts'],
  [
    'src/console/operators',
    '../../../parts/phone/admin.ts',
    '../../transactions/history/history.ts',
  ],
  ['src/console/operators', 'hono', '../../transactions/history/history.ts'],
  ['src/telemetry', '../oauth/log.ts', '../redis/connect.ts'],
  ['src/transactions', './history/history.ts', '../redis/connect.ts'],
  ['src/console', '../http/app.ts', '../transactions/history/history.ts'],
  ['src/console/pages', '../../http/app.ts', '../operators/audit.ts'],
  ['src/console/login', '../operators/users.ts', '../../../packages/relying-party/src/index.ts'],
  ['src/oauth', '../console/login/subjects.ts', '../registry/console-client.ts'],
  ['parts/callbacks', '../../src/app/configuration/load.ts', '../../src/transactions/contract.ts'],
  ['parts/certificates', '../../src/app/core.ts', '../../packages/pki/src/cms.ts'],
  ['parts/ciba', '../phone/part.ts', '../../src/oauth/extension.ts'],
  ['parts/documents', '../../src/app/core.ts', '../../src/redis/connect.ts'],
  ['parts/gateway', '../callbacks/part.ts', '../../src/sscd/device.ts'],
  ['parts/phone', '../gateway/device.ts', '../../src/sscd/device.ts'],
  ['parts/pkcs11', '../../src/app/core.ts', '../../packages/pki/src/ports.ts'],
  ['parts/processes', '../callbacks/part.ts', '../workflows/index.ts'],
  ['parts/workflows', '../processes/index.ts', 'nodemailer'],
  ['parts/rehearsal', '../processes/names.ts', '../workflows/index.ts'],
  ['parts/demo', '../../src/oauth/tenant.ts', '../../packages/relying-party/src/index.ts'],
  ['packages/relying-party/src', '../../../src/oauth/tenant.ts', 'jose'],
  ['src/redis/embedded', '../connect.ts', 'node:net'],
  ['packages/client/src', '../../../src/http/app.ts', '../../protocol/src/fault.ts'],
  ['src/app/configuration', '../../oauth/tenant.ts', '../../registry/subscriber.ts'],
  ['src/app', '../cli/paraph.ts', '../../workers/workers.ts'],
  ['src/cli', '../../workers/workers.ts', 'commander'],
  ['src/console/operators', '../../app/configuration/schema.ts', './settings.ts'],
  ['src/http/pages', '../../registry/oauth-client.ts', './languages.ts'],
  ['parts/backup', '../../src/app/core.ts', '../../src/redis/connect.ts'],
  ['src/environment', '../../packages/protocol/src/fault.ts', 'zod'],
  [
    'src/http/outgoing',
    '../../transactions/contract.ts',
    '../../../packages/protocol/src/loopback.ts',
  ],
  ['src/command-line', '../app/core.ts', 'commander'],
  ['src/part', '../../parts/phone/part.ts', '../console/part.ts'],
  ['src/app/package', '../launch.ts', '../../../parts/workflows/workflow-queue.ts'],
  ['parts', '../src/app/core.ts', './phone/part.ts'],
  ['src/unknown', '../../packages/protocol/src/fault.ts', './own.ts'],
] as const;

const waysToImport = [
  (name: string) => `import '${name}';`,
  (name: string) => `import {\n  a,\n  type B,\n} from '${name}';`,
  (name: string) => `import type { A } from '${name}';`,
  (name: string) => `import * as a from '${name}';`,
  (name: string) => `export type { A } from '${name}';`,
  (name: string) => `export * from '${name}';`,
  (name: string) => `const { a } = await import('${name}');`,
  (name: string) => `const [a] = await Promise.all([\n  import(\n    '${name}'\n  ),\n]);`,
  (name: string) => `type A = typeof import('${name}');`,
  (name: string) => `type A = import('${name}').B;`,
  (name: string) => `const a = require('${name}');`,
  (name: string) => `const a = createRequire(import.meta.url)('${name}');`,
];

/** Rooms from left to right, as they stand in ARCHITECTURE.md. */
const readPicture = (): readonly (readonly string[])[] => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const [, line = ''] = /Dependencies point one way:\n\n```\n(.*)\n```/.exec(page) ?? [];
  return line.split(' ← ').map((step) => step.split(', '));
};

describe('the dependency rule', () => {
  it('is kept by every import of every file', () => {
    const texts = readSources();
    const files = texts.map(([path]) => path);
    expect(new Set(files.map(roomOf))).toEqual(new Set(Object.keys(table)));
    expect(texts.flatMap(([, text]) => importsIn(text)).length).toBeGreaterThan(2000);
    expect(texts.flatMap(([path, text]) => check(path, text))).toEqual([]);
  });

  it.each(cases)('is broken in %s by %s, and not by %s', (room, forbidden, allowed) => {
    const path = room.endsWith('.ts') ? room : `${room}/planted.ts`;
    for (const write of waysToImport) {
      expect(check(path, write(forbidden))).toEqual([
        expect.stringContaining(`${path} imports ${forbidden}: `),
      ]);
      expect(check(path, write(allowed))).toEqual([]);
    }
  });

  it('is tried in every room', () => {
    const tried = new Set(
      cases.map(([room]) => roomOf(room.endsWith('.ts') ? room : `${room}/planted.ts`)),
    );
    expect(Object.keys(table).filter((room) => !tried.has(room))).toEqual([]);
  });

  it('allows nothing that no file uses', () => {
    const used = new Set(
      readSources().flatMap(([path, text]) =>
        importsIn(text).map((name = '') => `${roomOf(path)} uses ${usedBy(path, name)}`),
      ),
    );
    const unused = Object.entries(table).flatMap(([room, allowed]) =>
      allowed
        .flatMap((names) => names.split(' '))
        .filter((name) => name !== '' && !used.has(`${room} uses ${name}`)),
    );
    expect(unused).toEqual([]);
  });

  it('names file, import and rule in one line', () => {
    expect(check('machines/planted.ts', `import { Queue } from 'bullmq';`)).toEqual([
      'machines/planted.ts imports bullmq: of the packages, machines may use xstate zod, not bullmq',
    ]);
  });

  it('is broken by an import whose name is not written out', () => {
    for (const text of [
      'await import(name);',
      `await import(\`../\${name}.ts\`);`,
      `require('../' + name);`,
    ])
      expect(check('src/cli/planted.ts', text)).toHaveLength(1);
  });

  it('is what ARCHITECTURE.md draws: a room uses only rooms to its left', () => {
    const picture = readPicture();
    expect(picture.flat().toSorted()).toEqual(
      [...new Set(Object.keys(table).map(outerOf))].toSorted(),
    );
    const placeOf = (room: string): number =>
      picture.findIndex((step) => step.includes(outerOf(room)));
    const wrong = Object.entries(table).flatMap(([room, [rooms]]) =>
      rooms
        .split(' ')
        .filter((used) => used !== '' && outerOf(used) !== outerOf(room))
        .filter((used) => placeOf(used) >= placeOf(room))
        .map((used) => `${room} uses ${used}`),
    );
    expect(wrong).toEqual([]);
  });
});
