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
 * Room: rooms that it may use, packages that it may use. A file at the top of src is a room of its
 * own. `bullmq/dist` is what BullMQ does not promise; `bullmq` alone does not include it.
 */
const table: Readonly<Record<string, readonly [rooms: string, packages: string]>> = {
  'product-version': ['', ''],
  loopback: ['', ''],
  engine: ['', 'bullmq bullmq/dist ioredis xstate'],
  redis: ['engine pki', 'ioredis'],
  jobs: ['engine redis', 'bullmq ioredis'],
  protocol: ['', 'zod'],
  'relying-party': ['loopback', 'jose'],
  embedded: ['', ''],
  environment: ['', 'zod'],
  'setting-file': ['', ''],
  theme: ['', ''],
  languages: ['', ''],
  'shown-text': ['', ''],
  'request-body': ['', ''],
  'event-stream': ['', 'hono'],
  machines: ['engine protocol', 'xstate zod'],
  registry: ['loopback protocol', 'zod'],
  pki: ['', 'jose zod'],
  configuration: ['environment operators part parts protocol registry', 'zod'],
  client: ['pki protocol', 'zod'],
  pages: ['event-stream languages request-body', 'hono'],
  sscd: ['pki protocol redis registry telemetry', ''],
  transactions: ['engine jobs machines pki protocol redis registry', 'bullmq zod'],
  workers: [
    'engine jobs logger machines pki protocol redis registry sscd telemetry transactions',
    'bullmq',
  ],
  http: [
    'logger loopback pki product-version protocol registry request-body setting-file telemetry theme transactions',
    '@hono/node-server hono zod',
  ],
  oauth: [
    'engine languages logger machines pages pki protocol redis registry request-body telemetry transactions',
    '@hono/node-server hono jose oidc-provider uqr',
  ],
  queue: ['engine pki protocol redis transactions', 'bullmq ioredis zod'],
  history: ['engine jobs machines protocol redis transactions', 'zod'],
  operators: [
    'engine history jobs logger machines pki protocol redis registry transactions',
    'bullmq zod',
  ],
  telemetry: ['engine redis', '@opentelemetry/api bullmq ioredis prom-client'],
  'console-login': ['oauth registry relying-party setting-file', 'jose zod'],
  console: [
    'console-login engine event-stream history machines oauth operators pages pki protocol redis registry shown-text theme transactions',
    '@bull-board/api @bull-board/hono @dagrejs/dagre @hono/node-server bullmq hono xstate zod',
  ],
  outgoing: ['loopback', ''],
  'command-line': ['client console engine environment history loopback pki redis', 'commander'],
  part: [
    'command-line console http logger oauth operators outgoing pages pki protocol redis registry sscd telemetry transactions workers',
    'bullmq zod',
  ],
  callbacks: [
    'command-line console engine history jobs logger operators outgoing part pki protocol redis registry telemetry transactions workers',
    'bullmq hono standardwebhooks xstate zod',
  ],
  certificates: [
    'command-line console http operators part pki protocol registry request-body setting-file transactions',
    'hono zod',
  ],
  backup: [
    'command-line engine environment history operators part pki product-version redis',
    'ioredis zod',
  ],
  demo: ['languages pages part pki protocol registry relying-party theme', 'hono jose'],
  phone: [
    'command-line console engine environment event-stream languages oauth operators outgoing pages part pki protocol redis registry request-body sscd transactions',
    '@simplewebauthn/server hono jose uqr zod',
  ],
  gateway: [
    'client logger part pki protocol registry setting-file sscd transactions workers',
    'zod',
  ],
  pkcs11: ['engine part pki registry setting-file', 'jose pkcs11js zod'],
  processes: [
    'command-line console embedded engine event-stream history http jobs languages logger machines operators outgoing pages part pki protocol queue redis registry relying-party request-body setting-file shown-text transactions workers',
    'bullmq commander hono jose nodemailer xstate zod',
  ],
  package: ['pki processes protocol queue transactions', ''],
  parts: ['backup callbacks certificates demo gateway part phone pkcs11 processes', ''],
  logger: ['engine', 'pino'],
  product: [
    'configuration console console-login embedded engine environment history http logger loopback oauth operators outgoing part parts pki product-version protocol redis registry setting-file sscd telemetry transactions workers',
    '@opentelemetry/api pino',
  ],
  cli: [
    'client command-line configuration console console-login embedded engine environment history logger oauth operators parts pki product product-version protocol redis registry sscd transactions',
    'commander zod',
  ],
};

/** Load files that operators name in the configuration. */
const loaders: readonly string[] = ['parts/processes/workflows/load.ts'];

const roomOf = (path: string): string => {
  const [top = '', room = '', file] = path.split('/');
  if (top === 'parts') return file === undefined ? top : room;
  return top === 'src' || top === 'packages' ? room.replace(/\.ts$/, '') : top;
};

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
  ['src/protocol', '../http/app.ts', 'zod'],
  ['src/protocol', '../registry/subscriber.ts', './fault.ts'],
  ['machines', '../src/transactions/ids.ts', '../src/protocol/fault.ts'],
  ['machines', 'bullmq', 'xstate'],
  ['packages/engine/src', '../../../src/transactions/ids.ts', './redis/clock.ts'],
  ['packages/engine/src', '../../../machines/record.ts', 'xstate'],
  ['packages/engine/src', 'zod', 'bullmq'],
  [
    'packages/engine/src/redis',
    '../../../../src/protocol/fault.ts',
    'bullmq/dist/cjs/scripts/promote-9.js',
  ],
  ['src/jobs', '../transactions/contract.ts', '../../packages/engine/src/engine.ts'],
  ['src/registry', '../transactions/ids.ts', '../protocol/fault.ts'],
  ['src/pki', '../protocol/fault.ts', './cms.ts'],
  ['src/sscd', '../transactions/ids.ts', '../pki/cms.ts'],
  ['src/transactions', '../http/app.ts', '../pki/cms.ts'],
  ['src/transactions', '../../workers/workers.ts', '../../machines/record.ts'],
  ['src/transactions', 'bullmq/dist/cjs/version.js', '../../packages/engine/src/engine.ts'],
  ['workers', '../src/http/app.ts', '../src/sscd/device.ts'],
  ['workers', 'hono', 'bullmq'],
  ['workers', 'bullmq/dist/cjs/version.js', '../packages/engine/src/worker.ts'],
  ['src/http', 'bullmq', 'hono'],
  ['src/http', 'ioredis', '../transactions/transactions.ts'],
  ['src/http', '../redis/connect.ts', '../registry/subscriber.ts'],
  ['src/http', '../../workers/workers.ts', '../protocol/fault.ts'],
  ['src/http', '../../test/support/redis-server.ts', '../theme.ts'],
  ['src/redis', '../protocol/fault.ts', 'ioredis'],
  ['src/http', 'oidc-provider', 'hono/html'],
  ['src/oauth', '../http/app.ts', '../transactions/transactions.ts'],
  ['src/oauth', 'ioredis', 'oidc-provider'],
  ['src/transactions', '../oauth/tenant.ts', '../pki/cms.ts'],
  ['src/queue', '../http/app.ts', '../transactions/transactions.ts'],
  ['src/history', '../operators/audit.ts', '../transactions/contract.ts'],
  ['src/operators', '../../parts/phone/admin.ts', '../history/history.ts'],
  ['src/operators', 'hono', '../history/history.ts'],
  ['src/telemetry', '../oauth/log.ts', '../redis/connect.ts'],
  ['src/transactions', '../history/history.ts', '../redis/connect.ts'],
  ['src/console', '../http/app.ts', '../history/history.ts'],
  ['src/console/pages', '../../http/app.ts', '../../operators/audit.ts'],
  ['src/console-login', '../operators/users.ts', '../relying-party/index.ts'],
  ['src/oauth', '../console-login/subjects.ts', '../registry/console-client.ts'],
  ['parts/callbacks', '../../src/configuration/load.ts', '../../src/transactions/contract.ts'],
  ['parts/certificates', '../../src/product/core.ts', '../../src/pki/cms.ts'],
  ['parts/gateway', '../callbacks/part.ts', '../../src/sscd/device.ts'],
  ['parts/phone', '../gateway/device.ts', '../../src/sscd/device.ts'],
  ['parts/pkcs11', '../../src/product/core.ts', '../../src/pki/ports.ts'],
  ['parts/processes', '../callbacks/part.ts', 'nodemailer'],
  ['parts/demo', '../../src/oauth/tenant.ts', '../../src/relying-party/index.ts'],
  ['src/relying-party', '../oauth/tenant.ts', 'jose'],
  ['src/embedded', '../redis/connect.ts', 'node:net'],
  ['src/client', '../http/app.ts', '../protocol/fault.ts'],
  ['src/configuration', '../oauth/tenant.ts', '../registry/subscriber.ts'],
  ['src/product', '../cli/paraph.ts', '../../workers/workers.ts'],
  ['src/cli', '../../workers/workers.ts', 'commander'],
  ['src/shown-text', '../protocol/fault.ts', './shown-text.js'],
  ['src/theme.ts', './protocol/fault.ts', 'node:crypto'],
  ['src/languages.ts', './registry/oauth-client.ts', 'node:util'],
  ['src/operators', '../configuration/schema.ts', './settings.ts'],
  ['src/pages', '../registry/oauth-client.ts', '../languages.ts'],
  ['src/product-version.ts', './protocol/fault.ts', 'node:fs'],
  ['src/request-body.ts', './protocol/fault.ts', 'node:buffer'],
  ['src/setting-file.ts', './protocol/fault.ts', 'node:fs'],
  ['src/loopback.ts', './protocol/fault.ts', 'node:net'],
  ['src/event-stream.ts', './protocol/fault.ts', 'hono/streaming'],
  ['src/logger.ts', './http/log.ts', '../packages/engine/src/take-job.ts'],
  ['parts/backup', '../../src/product/core.ts', '../../src/redis/connect.ts'],
  ['src/environment.ts', './protocol/fault.ts', 'zod'],
  ['src/outgoing', '../transactions/contract.ts', '../loopback.ts'],
  ['src/command-line', '../product/core.ts', 'commander'],
  ['src/part', '../../parts/phone/part.ts', '../console/part.ts'],
  ['src/package', '../product/launch.ts', '../../parts/processes/workflows/index.ts'],
  ['parts', '../src/product/core.ts', './phone/part.ts'],
  ['src/unknown', '../protocol/fault.ts', './own.ts'],
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
    expect(picture.flat().toSorted()).toEqual(Object.keys(table).toSorted());
    const placeOf = (room: string): number => picture.findIndex((step) => step.includes(room));
    const wrong = Object.entries(table).flatMap(([room, [rooms]]) =>
      rooms
        .split(' ')
        .filter((used) => used !== '' && placeOf(used) >= placeOf(room))
        .map((used) => `${room} uses ${used}`),
    );
    expect(wrong).toEqual([]);
  });
});
