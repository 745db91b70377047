/** A backup of a running service, and what a service that is restored from it does. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { masterKeyId } from '../../../packages/pki/src/service-key.ts';
import { storeVersion } from '../../../src/app/redis-at-start.ts';
import { run } from '../../../test/cli/terminal.ts';
import { enrolPhone } from '../../../test/support/phone.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import type { Json, TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import type { RunningRedis } from '../../../test/support/redis-server.ts';
import { signRequest } from '../../../test/support/requests.ts';
import { soon } from '../../../test/support/soon.ts';
import { createBackupFile, readBackup } from '../backup-file.ts';
import { silent, startBackupStage } from './stage.ts';

const shared = testRedis();
const stage = startBackupStage(shared);
const { prefix, paraph, file } = stage;
afterAll(stage.end);

const backupFile = new URL('../backup-file.ts', import.meta.url).href;

let first: RunningRedis;
let product: TestProduct;

const signerOf = async (of: TestProduct): Promise<string> => {
  const { body } = await of.post('/rest/service/sign', signRequest());
  const cms = Buffer.from(body.MSS_SignatureResp.MSS_Signature.Base64Signature, 'base64').toString(
    'latin1',
  );
  return /MIDCHE[A-Z0-9]{10}/.exec(cms)?.[0] ?? '';
};

const rootOf = async (of: TestProduct): Promise<string> =>
  (await of.api.fetch(new Request('http://test/pki/root.pem'))).text();

/** Submits until told to end. @returns Ids by the time at which they were acknowledged. */
const submitAllTheTime = (of: TestProduct) => {
  const acknowledged: { readonly id: string; readonly at: number }[] = [];
  let isOver = false;
  let tellMany: () => void = () => undefined;
  const many = new Promise<void>((resolve) => {
    tellMany = resolve;
  });
  const loop = async (lane: number): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const id = await of.submit(count % 2 === 0 ? {} : { msisdn: silent(lane * 10_000 + count) });
      if (id !== undefined) acknowledged.push({ id, at: Date.now() });
      if (acknowledged.length > 80 && of.asked().length > 20) tellMany();
    }
  };
  const lanes = Promise.all([1, 2, 3, 4].map(loop));
  return {
    acknowledged,
    /** However long the machine takes for them. */
    many,
    end: async () => {
      isOver = true;
      await lanes;
    },
  };
};

beforeAll(async () => {
  first = await stage.server();
  product = await stage.start(first);
});

const changed = (bytes: Buffer, index: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(index) ^ 1, index);
  return copy;
};

const replaced = (bytes: Buffer, from: string, to: string): Buffer => {
  const text = bytes.toString('latin1');
  expect(text).toContain(from);
  return Buffer.from(text.replace(from, to), 'latin1');
};

/** The head of a backup that is made now. */
const aboutNow = () => ({
  product: 'x',
  prefix,
  shards: 1,
  store: storeVersion,
  startedAt: new Date().toISOString(),
});

describe('under load', () => {
  let at = 0;
  let acknowledged: readonly { readonly id: string; readonly at: number }[] = [];
  let asked: readonly string[] = [];
  let signer = '';
  let root = '';
  let restored: TestProduct;
  let ending = '';

  beforeAll(async () => {
    [signer, root] = [await signerOf(product), await rootOf(product)];
    // Its time is over soon after the restore. Under load it might be over before its first turn.
    ending = await product.submit({ msisdn: silent(900), timeoutSeconds: 6 });
    await soon(() => expect(product.asked()).toContain(`${ending} 1`));
    const load = submitAllTheTime(product);
    await load.many;
    asked = product.asked();
    const backup = await paraph(first, ['backup', file('loaded')]);
    expect(backup).toMatchObject({ exitCode: 0, stderr: '' });
    at = Date.parse(backup.json().at);
    await load.end();
    acknowledged = load.acknowledged;
    await product.stop();
    const second = await stage.server();
    expect(await paraph(second, ['restore', file('loaded')])).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    restored = await stage.start(second);
  }, 120_000);

  it('no transaction that was acknowledged before the moment of the backup is missing after a restore', async () => {
    const before = acknowledged.filter((each) => each.at < at);
    expect(before.length).toBeGreaterThan(75);
    expect(acknowledged.length).toBeGreaterThan(before.length);
    const statuses = await Promise.all(before.map(({ id }) => restored.statusOf(id)));
    expect(statuses.filter((status) => !['500', '504'].includes(status))).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set(['500', '504']));
  });

  it('keys and certificates are what they were, by the master key alone', async () => {
    expect(await rootOf(restored)).toBe(root);
    expect(await signerOf(restored)).toBe(signer);
  });

  it('nobody is asked again whose prompt was noted before the backup', async () => {
    const askedBefore = new Set(asked);
    const pending = acknowledged.filter((each) => each.at < at && askedBefore.has(`${each.id} 1`));
    expect(pending.length).toBeGreaterThan(10);
    // Whoever had not been asked is asked now.
    const fresh = await restored.submit({ msisdn: silent(950) });
    await soon(() => expect(restored.asked()).toContain(`${fresh} 1`));
    const again = restored.asked().filter((each) => askedBefore.has(each));
    expect(again).toEqual([]);
  });

  it('a deadline that has passed meanwhile takes effect at once', async () => {
    await soon(async () => expect(await restored.statusOf(ending)).toBe('_208'));
  });
});

describe('a restore', () => {
  const otherKey = randomBytes(32);

  it('refuses a Redis that holds a service, unless told; then nothing else is left of it', async () => {
    const server = await stage.server();
    const other = await stage.start(server, { masterKey: randomBytes(32) });
    await other.submit({ msisdn: silent(1) });
    expect(await paraph(server, ['restore', file('loaded'), '--replace'])).toMatchObject({
      exitCode: 7,
    });
    await other.stop();
    const redis = server.client();
    await redis.set('of:another:program', '1');
    /** The keys that do not expire meanwhile. */
    const lasting = async (): Promise<readonly string[]> => {
      const names = await redis.keys('*');
      const lives = await Promise.all(names.map((name) => redis.pttl(name)));
      return names.filter((_, index) => lives[index] === -1).toSorted();
    };
    const held = await lasting();
    const refused = await paraph(server, ['restore', file('loaded')]);
    expect(refused).toMatchObject({ exitCode: 7 });
    expect(refused.json().refused).toBe('not-empty');
    expect(await lasting()).toEqual(held);
    const { keys } = (await paraph(server, ['restore', file('loaded'), '--replace'])).json();
    expect(await redis.dbsize()).toBeGreaterThan(1);
    expect(await redis.dbsize()).toBeLessThanOrEqual(keys + 1);
  });

  it('deletes nothing where this Redis does not take the backup', async () => {
    const server = await stage.server('--enable-debug-command', 'yes');
    const redis = server.client();
    await redis.set(`${prefix}:store`, storeVersion);
    await redis.hset(`${prefix}:of-the-service`, 'held', '1');
    const before = await redis.call('DEBUG', 'DIGEST');
    const [store, hash] = [
      await redis.dumpBuffer(`${prefix}:store`),
      await redis.dumpBuffer(`${prefix}:of-the-service`),
    ];
    // The version of the format stands before the checksum.
    hash.writeUInt16LE(hash.readUInt16LE(hash.length - 10) + 100, hash.length - 10);
    const about = aboutNow();
    const later = await createBackupFile(file('later'), stage.masterKey, about);
    await later.add([
      { key: Buffer.from(`${prefix}:store`), expiresAtMs: 0, value: store },
      { key: Buffer.from(`${prefix}:other`), expiresAtMs: 0, value: hash },
    ]);
    await later.finish(new Date());
    const refused = await paraph(server, ['restore', file('later'), '--replace']);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stderr).toMatch(/This Redis is older than that of the backup/);
    await redis.call('ACL', 'SETUSER', 'poor', 'on', 'nopass', '~*', '&*', '+@all', '-restore');
    const REDIS_URL = `redis://poor:x@127.0.0.1:${server.port}`;
    const denied = await paraph(server, ['restore', file('loaded'), '--replace'], { REDIS_URL });
    expect(denied).toMatchObject({ exitCode: 1 });
    expect(denied.stderr).toMatch(/lacks rights that a restore needs/);
    expect(await redis.call('DEBUG', 'DIGEST')).toBe(before);
  });

  it.each([
    [
      'under another master key',
      { PARAPH_MASTER_KEY: otherKey.toString('base64url') },
      (text: Buffer) => text,
      /another master key/,
    ],
    [
      'under another master key, whose header names that one',
      { PARAPH_MASTER_KEY: otherKey.toString('base64url') },
      (text: Buffer) => replaced(text, masterKeyId(stage.masterKey), masterKeyId(otherKey)),
      /damaged/,
    ],
    ['that was cut off', {}, (text: Buffer) => text.subarray(0, -200), /damaged/],
    [
      'with something behind it',
      {},
      (text: Buffer) => Buffer.concat([text, text.subarray(-9)]),
      /damaged/,
    ],
    [
      'in which a byte has changed',
      {},
      (text: Buffer) => changed(text, Math.floor(text.length / 2)),
      /damaged/,
    ],
    [
      'whose header says another moment',
      {},
      (text: Buffer) => replaced(text, '"startedAt":"20', '"startedAt":"19'),
      /damaged/,
    ],
    [
      'of a later format',
      {},
      (text: Buffer) => replaced(text, 'paraph-backup 1', 'paraph-backup 2'),
      /later release/,
    ],
    [
      'of a later store',
      {},
      (text: Buffer) => replaced(text, `"store":"${storeVersion}"`, '"store":"3"'),
      /another release/,
    ],
    [
      'of a store before 0.3',
      {},
      (text: Buffer) => replaced(text, `"store":"${storeVersion}"`, '"store":"1"'),
      /another release/,
    ],
    [
      'of another prefix',
      {},
      (text: Buffer) => replaced(text, `"prefix":"${prefix}"`, '"prefix":"other"'),
      /queue.prefix/,
    ],
    ['that is none', {}, () => Buffer.from('{}\n'), /no backup/],
  ])('refuses a file %s, and writes nothing', async (_, env, change, says) => {
    const server = await stage.server();
    const path = file(randomBytes(4).toString('hex'));
    writeFileSync(path, change(readFileSync(file('loaded'))));
    const { exitCode, stderr } = await paraph(server, ['restore', path], env);
    expect(stderr).toMatch(says);
    expect([2, 7]).toContain(exitCode);
    expect(await server.client().dbsize()).toBe(0);
  });

  it('that was cut off leaves a store on which nothing starts, and is done again', async () => {
    // How much a backup under load holds depends on the speed of the machine.
    const roomy = await stage.server();
    const usedBytes = async (): Promise<number> =>
      Number(/used_memory:(\d+)/.exec(await roomy.client().info('memory'))?.[1]);
    const emptyBytes = await usedBytes();
    expect(await paraph(roomy, ['restore', file('loaded')])).toMatchObject({ exitCode: 0 });
    const half = Math.round((emptyBytes + (await usedBytes())) / 2);
    const server = await stage.server('--maxmemory', String(half));
    const full = await paraph(server, ['restore', file('loaded')]);
    expect(full).toMatchObject({ exitCode: 1 });
    expect(full.stderr).toMatch(/OOM|memory/);
    const redis = server.client();
    expect(await redis.get(`${prefix}:store`)).toBe('restoring');
    await redis.config('SET', 'maxmemory', '0');
    await expect(stage.start(server)).rejects.toThrow(/restore .* has not come to its end/);
    expect(await paraph(server, ['restore', file('loaded'), '--replace'])).toMatchObject({
      exitCode: 0,
    });
    expect(await redis.get(`${prefix}:store`)).toBe(storeVersion);
  });
});

/** Records are deflated JSON; in front of them stands what the encryption adds. */
const ivBytes = 12;
const inflated = (chunk: Buffer): string =>
  [0, ivBytes]
    .map((from) => {
      try {
        return inflateRawSync(chunk.subarray(from), {
          finishFlush: constants.Z_SYNC_FLUSH,
        }).toString();
      } catch {
        return '';
      }
    })
    .join('\n');

describe('a restore over the service itself', () => {
  const [stolen, given, later] = ['41760000001', '41760000002', '41760000003'];
  let restored: TestProduct;
  let report: { exitCode: number; json(): Json; stderr: string };
  let until = 0;
  let next = '';
  let lastSerial = '';

  const keyOf = ({ core }: TestProduct, msisdn: string) =>
    core
      .custodyOver(core.commands)
      .userKey({ msisdn, sscdId: 'sim', algorithm: 'EC', expired: false });
  const certificatesOf = ({ core }: TestProduct, msisdn: string) =>
    core.custodyOver(core.commands).certificatesOf({ msisdn });
  const order = async (server: RunningRedis, ...args: readonly string[]): Promise<void> => {
    expect(await paraph(server, args)).toMatchObject({ exitCode: 0 });
  };

  beforeAll(async () => {
    const server = await stage.server();
    const before = await stage.start(server);
    await keyOf(before, stolen);
    const { serialNumber: former } = await keyOf(before, given);
    const invited = await phoneAdminOf(before).invite(given);
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const send = async (request: Request): Promise<Response> => before.api.fetch(request);
    await enrolPhone({ base: 'http://test', send }, invited.link);
    await order(server, 'users', 'add', 'nora', '--role', 'viewer', '--oidc-subject', 'x');
    await order(server, 'backup', file('overtaken'));
    until = Date.now();
    await order(
      server,
      ...['certificates', 'revoke', '--msisdn', `+${stolen}`],
      ...['--reason', 'keyCompromise', '--yes'],
    );
    await order(server, ...['certificates', 'reassign', `+${given}`, '--yes']);
    await soon(async () => {
      ({ serialNumber: next } = await keyOf(before, given));
      expect(next).not.toBe(former);
    });
    // Of a certificate that the backup does not know, and the second one of its device.
    await keyOf(before, later);
    await order(
      server,
      ...['certificates', 'revoke', '--msisdn', `+${later}`, '--reason', 'superseded', '--yes'],
    );
    // What another process has revoked is known within a second.
    await soon(async () => {
      await keyOf(before, later);
      expect(await certificatesOf(before, later)).toHaveLength(2);
    });
    await order(
      server,
      ...['certificates', 'revoke', '--msisdn', `+${later}`],
      ...['--reason', 'keyCompromise', '--yes'],
    );
    lastSerial = (await certificatesOf(before, later)).at(-1)?.serial ?? '';
    await order(server, 'users', 'remove', 'nora');
    await before.stop();
    report = await paraph(server, ['restore', file('overtaken'), '--replace']);
    expect(report).toMatchObject({ exitCode: 0 });
    // After one that was cut off it is done again, and has lost nothing of what it keeps.
    const again = await paraph(server, ['restore', file('overtaken'), '--replace']);
    expect(again.json()).toMatchObject({ kept: report.json().kept, repeat: report.json().repeat });
    restored = await stage.start(server);
  }, 120_000);

  it('keeps what was revoked after the backup, also of certificates that came later', async () => {
    expect(await certificatesOf(restored, stolen)).toMatchObject([
      { revocation: { reason: 'keyCompromise' } },
    ]);
    expect((await keyOf(restored, stolen)).revocation).toMatchObject({ reason: 'keyCompromise' });
    const reasons = (await certificatesOf(restored, later)).map(
      ({ revocation }) => revocation?.reason,
    );
    expect(reasons).toEqual(['superseded', 'keyCompromise']);
    // The device that was stolen gets no new key by the restore.
    expect((await keyOf(restored, later)).revocation).toMatchObject({ reason: 'keyCompromise' });
    const { core } = restored;
    const listed = await core.custodyOver(core.commands).revokedSerials();
    expect(listed.map(({ serial }) => serial)).toContain(lastSerial);
  });

  it('leaves a number with the new person, who has none of the phones of the former one', async () => {
    expect((await keyOf(restored, given)).serialNumber).toBe(next);
    expect((await phoneAdminOf(restored).find(given))?.phones ?? []).toEqual([]);
  });

  it('says what it has kept, and lists what was taken back later and is valid again', () => {
    const { kept, repeat, at } = report.json();
    // Two of the number that was given away: of its SIM and of its phone in a browser.
    expect(kept).toEqual({ revocations: 5, newPersons: 1 });
    expect(repeat).toEqual([
      expect.objectContaining({ action: 'user-remove', target: 'nora', at: expect.any(String) }),
    ]);
    expect(Date.parse(at)).toBeLessThanOrEqual(until);
  });

  it('of a lost Redis says that it cannot know, from when to when, and what to look for', async () => {
    const empty = await stage.server();
    const lost = await paraph(empty, ['restore', file('overtaken')]);
    expect(lost.json()).toMatchObject({ kept: null, repeat: null, at: report.json().at });
    const { stdout } = await run(['restore', file('overtaken'), '--replace'], {
      env: stage.env(await stage.server()),
    });
    expect(stdout).toContain(`after ${report.json().at}`);
    expect(stdout).toMatch(/revoked.*new person/s);
    expect(stdout).toContain('"audit":true');
  });

  it('of another service keeps nothing of it', async () => {
    const server = await stage.server();
    const other = await stage.start(server, { masterKey: randomBytes(32) });
    await keyOf(other, '41760000009');
    await other.stop();
    const replaced = await paraph(server, ['restore', file('overtaken'), '--replace']);
    expect(replaced.json()).toMatchObject({ kept: null, repeat: null });
    expect(await server.client().keys('*41760000009*')).toEqual([]);
  });
});

describe('a backup', () => {
  it('replaces no file, and leaves none when it fails', async () => {
    const server = await stage.server();
    const empty = await paraph(server, ['backup', file('empty')]);
    expect(empty).toMatchObject({ exitCode: 7 });
    expect(existsSync(file('empty'))).toBe(false);
    expect((await paraph(first, ['backup', file('loaded')])).stderr).toMatch(/already/);
    const key = randomBytes(32).toString('base64url');
    const wrong = await paraph(first, ['backup', file('wrong')], { PARAPH_MASTER_KEY: key });
    expect(wrong).toMatchObject({ exitCode: 2 });
    expect(readdirSync(stage.folder).filter((name) => /empty|wrong|draft/.test(name))).toEqual([]);
  });

  it('is whole or fails where the disk is full, wherever in the file that happens', async () => {
    // A process may write files of so many blocks; a block has 512 bytes or 1024.
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -f 1; exec "$@"',
      'sh',
      process.execPath,
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      `import { randomBytes } from 'node:crypto';
       const { createBackupFile, readBackup } = await import(${JSON.stringify(backupFile)});
       const key = randomBytes(32);
       const about = { product: 'x', prefix: 'p', shards: 1, store: '1', startedAt: new Date().toISOString() };
       for (let bytes = 30; bytes < 1100; bytes += 30) {
         const path = ${JSON.stringify(file('full'))} + bytes;
         const written = await createBackupFile(path, key, about);
         try {
           await written.add([{ key: Buffer.from('p:x'), expiresAtMs: 0, value: randomBytes(bytes) }]);
           await written.finish(new Date());
           await readBackup(path, key, () => undefined);
           console.log('whole');
         } catch (error) {
           await written.abandon();
           console.log(error.code);
         }
       }`,
    ]);
    expect(new Set(stdout.trim().split('\n'))).toEqual(new Set(['whole', 'EFBIG']));
  });

  it('leaves the other whole when two are written to one path at the same time', async () => {
    const about = aboutNow();
    const path = file('twice');
    const both = await Promise.all(
      [1, 2].map(() => createBackupFile(path, stage.masterKey, about)),
    );
    await Promise.all(both.map((each) => each.finish(new Date())));
    await expect(readBackup(path, stage.masterKey, () => undefined)).resolves.toMatchObject({
      records: 0,
    });
    expect(readdirSync(stage.folder).filter((name) => name.includes('draft'))).toEqual([]);
  });

  it('shows nothing of what is in it, and is for its owner alone', async () => {
    const bytes = readFileSync(file('loaded'));
    const chunks = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
    const chunk = bytes.subarray(chunks + 4, chunks + 4 + bytes.readUInt32BE(chunks));
    expect(chunk.length).toBeGreaterThan(1000);
    expect(inflated(chunk)).not.toContain(prefix);
    // Without encryption it would show.
    const plain = deflateRawSync(JSON.stringify([[`${prefix}:store`, 0, '']]));
    expect(inflated(Buffer.concat([chunk.subarray(0, ivBytes), plain]))).toContain(prefix);
    expect(statSync(file('loaded')).mode & 0o777).toBe(0o600);
  });
});
