/**
 * docs/storage.md is true: the whole product runs on a Redis of its own, and all that is written
 * there stands on the page, and the other way round.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createBackupFile } from '../../parts/backup/backup-file.ts';
import { createKeeps } from '../../parts/backup/own-keys.ts';
import { restoreBackup } from '../../parts/backup/restore.ts';
import { takeSnapshot } from '../../parts/backup/snapshot.ts';
import { parts } from '../../parts/parts.ts';
import { connectForBlocking, type RedisClient } from '../../src/redis/connect.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';
import { type RedisWrites, type Written, watchWrites } from '../support/redis-writes.ts';
import { driveEverything, prefix } from './whole-workload.ts';

const root = new URL('../../', import.meta.url);
const service = { prefix, slots: parts.flatMap(({ slots = [] }) => slots) };
const engine = 'packages/engine/src';
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const page = read('docs/storage.md');

type Row = Readonly<Record<string, string>>;

const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

/** The rows of all tables whose first column is called so. */
const tables = (first: string): readonly Row[] => {
  const rows: Row[] = [];
  let columns: readonly string[] = [];
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) columns = [];
    else if (columns.length === 0) columns = cellsOf(line);
    else if (columns[0] === first && !line.startsWith('|---')) {
      const cells = cellsOf(line);
      rows.push(Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])));
    }
  }
  return rows;
};

const codeIn = (cell = ''): string => /`([^`]+)`/.exec(cell)?.[1] ?? cell;
const filesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:packages|parts|src|workers|test)\/[^`]+)`/g)].map(
    ([, path = '']) => path,
  );

const placeholders = new Map(
  tables('Stands for').map((row) => [codeIn(row['Stands for']), codeIn(row.Pattern)]),
);
placeholders.set('<prefix>', prefix);

const patternOf = (name: string): RegExp => {
  const pattern = name.replace(/<[^<>]+?(?:-<n>)?>|[^\w<>]/g, (part) => {
    if (!part.startsWith('<')) return `\\${part}`;
    const stands = placeholders.get(part);
    if (stands === undefined)
      throw new Error(`docs/storage.md does not say what ${part} stands for`);
    return `(?:${stands})`;
  });
  return new RegExp(`^${pattern}$`);
};

interface Named {
  readonly name: string;
  readonly pattern: RegExp;
  /**
   * Characters that are no placeholder: of two names that fit, the one with more of them is meant.
   */
  readonly literal: number;
  readonly rare: boolean;
}

const named = (cell: string | undefined, row: Row): Named => {
  const name = codeIn(cell);
  const literal = name.replaceAll(/<[^>]+>/g, '').length;
  return {
    name,
    pattern: patternOf(name),
    literal,
    rare: Object.values(row).join(' ').includes('Rare: '),
  };
};

const best = <T extends Named>(all: readonly T[], text: string): T | undefined =>
  all.filter(({ pattern }) => pattern.test(text)).toSorted((a, b) => b.literal - a.literal)[0];

const keyRows = tables('Key').map((row) => ({
  ...named(row.Key, row),
  types: (row.Type ?? '').split(', '),
  away: row['Goes away'] ?? '',
}));
const fieldRows = tables('Hash').map((row) => ({
  ...named(row.Field, row),
  hash: named(row.Hash, row),
}));
const hashes = [...new Map(fieldRows.map(({ hash }) => [hash.name, hash])).values()];

/** The row of a field; undefined for one that is not on the page. */
const fieldRowOf = (key: string, field: string) => {
  const hash = best(hashes, key)?.name;
  return best(
    fieldRows.filter((row) => row.hash.name === hash),
    field,
  );
};

const script = /redis\.(?:p?call|eval)\(/;
/** What BullMQ does not promise. */
const inside =
  /getBackend\(|execCommand|\.addJob\(|bullmq\/dist|\.toKey\(|keys\.(?:signatures|receipts)\(|queue\.keys|defineCommand/;

const sourcesIn = (...rooms: readonly string[]): readonly string[] =>
  rooms.flatMap((room) =>
    readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
      .map((path) => `${room}/${path.replaceAll(sep, '/')}`)
      // Tests of parts stand beside them.
      .filter((path) => path.endsWith('.ts') && !/^parts\/[^/]+\/test\//.test(path)),
  );

describe('docs/storage.md', () => {
  let server: RunningRedis;
  /** For what a backup of the first is restored into. */
  let second: RunningRedis;
  let writes: RedisWrites | undefined;
  let written: ReadonlyMap<string, Written>;
  /** When the product has gone. */
  let left: ReadonlyMap<string, { readonly type: string; readonly ttl: number }>;

  beforeAll(async () => {
    const more = ['--enable-debug-command', 'yes'];
    [server, second] = await Promise.all([startRedisServer({ more }), startRedisServer({ more })]);
    const redis = server.client();
    writes = await watchWrites(redis);
    await driveEverything(server);
    written = await writes.read();
    const found = await Promise.all(
      (await redis.keys('*')).map(async (key) => {
        const [type, ttl] = await Promise.all([redis.type(key), redis.pttl(key)]);
        return [key, { type, ttl }] as const;
      }),
    );
    // What has gone meanwhile has expired.
    left = new Map(found.filter(([, { type, ttl }]) => type !== 'none' && ttl !== -2));
  }, 120_000);
  afterAll(async () => {
    writes?.close();
    await Promise.all([server.stop(), second.stop()]);
  });

  it('names every key that is written', () => {
    const keys = new Set([...written.keys(), ...left.keys()]);
    expect([...keys].filter((key) => best(keyRows, key) === undefined)).toEqual([]);
  });

  it('says of which type each key is', () => {
    const wrong = new Set<string>();
    const check = (key: string, type: string): void => {
      const row = best(keyRows, key);
      if (row !== undefined && !row.types.includes(type)) wrong.add(`${row.name}: ${type}`);
    };
    for (const [key, { types }] of written) for (const type of types) check(key, type);
    for (const [key, { type }] of left) check(key, type);
    expect([...wrong]).toEqual([]);
  });

  it('says which keys expire', () => {
    const wrong = new Set<string>();
    const check = (key: string, expires: boolean): void => {
      const row = best(keyRows, key);
      if (row === undefined || row.away.startsWith('may expire')) return;
      if (row.away.startsWith('expires') !== expires)
        wrong.add(`${row.name}: ${expires ? 'expires' : 'stays'}`);
    };
    for (const [key, { types, expires }] of written) if (types.size > 0) check(key, expires);
    // -1 is without an end; -2 has ended between two looks at it.
    for (const [key, { ttl }] of left) check(key, ttl !== -1);
    expect([...wrong]).toEqual([]);
  });

  it('lists the keys that a backup holds, and a restore brings back each of them as it was', async () => {
    const keeps = createKeeps(service);
    const isHeld = (key: string): boolean => keeps(key) || key === `{${prefix}-processes}`;
    expect([...written.keys(), ...left.keys()].filter((key) => !isHeld(key))).toEqual([]);
    expect(keeps(`{${prefix}-processes}`)).toBe(false);
    for (const other of [
      'paraph-2:store',
      '{paraph-2-0}:signatures:wait',
      '{paraph-2}:audit',
      'other',
    ])
      expect(keeps(other)).toBe(false);
    const [from, to] = [server.client(), second.client()];
    const path = join(mkdtempSync(join(tmpdir(), 'paraph-storage-')), 'backup');
    onTestFinished(() => rmSync(dirname(path), { recursive: true }));
    const masterKey = randomBytes(32);
    const about = {
      product: 'x',
      prefix,
      shards: 1,
      store: '1',
      startedAt: new Date().toISOString(),
    };
    const connections = [server, second].map(({ port }) =>
      connectForBlocking({ url: `redis://127.0.0.1:${port}` }),
    ) as [RedisClient, RedisClient];
    onTestFinished(() => {
      for (const connection of connections) connection.disconnect();
    });
    const file = await createBackupFile(path, masterKey, about);
    const { at } = await takeSnapshot(connections[0], service, file.add);
    await file.finish(at);
    await restoreBackup(connections[1], service, { path, masterKey });

    const standing = async (redis: Redis, key: string) => {
      const digest = await redis.call('DEBUG', 'DIGEST-VALUE', key);
      return { key, digest, expiresAtMs: await redis.pexpiretime(key) };
    };
    const kept = (await from.keys('*')).filter(keeps);
    expect(kept.length).toBeGreaterThan(100);
    const types = new Set<string>();
    for (const key of kept) {
      const [before, after] = [await standing(from, key), await standing(to, key)];
      // It may expire at this moment.
      if ((await from.exists(key)) === 0) continue;
      expect(after).toEqual(before);
      types.add(await to.type(key));
    }
    expect(types).toEqual(new Set(['string', 'hash', 'list', 'set', 'zset', 'stream']));
    expect((await to.keys('*')).filter((key) => !kept.includes(key))).toEqual([]);
  }, 60_000);

  it('names every field of every hash', () => {
    const missing = [...written].flatMap(([key, { fields }]) =>
      [...fields]
        .filter((field) => fieldRowOf(key, field) === undefined)
        .map((field) => `${key}: ${field}`),
    );
    expect(missing).toEqual([]);
  });

  it('has no row for what nothing writes, unless it says why that is rare', () => {
    const seen = new Set<unknown>();
    for (const [key, { types, fields }] of written) {
      if (types.size > 0) seen.add(best(keyRows, key));
      for (const field of fields) seen.add(fieldRowOf(key, field));
    }
    const nameOf = (row: (typeof keyRows)[number] | (typeof fieldRows)[number]): string =>
      'hash' in row ? `${row.hash.name}: ${row.name}` : row.name;
    const rows = [...keyRows, ...fieldRows];
    expect(rows.filter((row) => !row.rare && !seen.has(row)).map(nameOf)).toEqual([]);
  });

  it('names files that exist', () => {
    expect(filesIn(page).filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('names every file with a script for Redis, or with more of BullMQ than it promises', () => {
    const listed = new Set(filesIn(page));
    const [, bullmq = ''] = page.split('## What is used of BullMQ');
    const listedForBullmq = new Set(filesIn(bullmq));
    const sources = sourcesIn(engine, 'src', 'workers', 'parts');
    expect(sources.length).toBeGreaterThan(100);
    const missing = sources.filter((path) => {
      const text = read(path);
      return (
        (script.test(text) && !listed.has(path)) ||
        (inside.test(text) && !listedForBullmq.has(path))
      );
    });
    expect(missing).toEqual([]);
  });

  it('lets the engine have both in its room redis alone, but for the way in which a worker lets go of Redis', () => {
    const sources = sourcesIn(engine).filter((path) => !path.startsWith(`${engine}/redis/`));
    expect(sources).toContain(`${engine}/worker.ts`);
    const wrong = sources.filter((path) => {
      const text = read(path).replace('worker.getBackend().blockingClient', '');
      return script.test(text) || inside.test(text);
    });
    expect(wrong).toEqual([]);
  });

  it('names every file with a script of another room, and the workflow has none outside of the engine', () => {
    const listed = new Set(tables('Script in').flatMap((row) => filesIn(row['Script in'] ?? '')));
    const others = sourcesIn('src', 'workers', 'machines', 'parts').filter((path) =>
      script.test(read(path)),
    );
    expect(others.toSorted()).toEqual([...listed].toSorted());
    expect(
      others.filter((path) => /^(workers|machines|src\/transactions\/[\w-]+\.ts)/.test(path)),
    ).toEqual([]);
  });

  it('names the scripts of BullMQ that are pinned', () => {
    const pinned = [
      ...read('test/transactions/bullmq-layout.test.ts').matchAll(
        /'(\w+-\d+)',\n? *'[0-9a-f]{16}'/g,
      ),
    ];
    const scripts = tables('Script').map(({ Script }) => codeIn(Script));
    expect(scripts.toSorted()).toEqual(pinned.map(([, name]) => name).toSorted());
    const { resolve } = createRequire(import.meta.url);
    for (const name of scripts)
      expect(existsSync(resolve(`bullmq/dist/cjs/scripts/${name}.js`))).toBe(true);
  });
});
