import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { masterKeyFrom } from '../src/master-key.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paraph-master-key-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the master key', () => {
  it('comes from the environment, and no file is made then', async () => {
    const key = Buffer.alloc(32, 9);
    const filePath = join(folder, 'master.key');
    expect(await masterKeyFrom({ environmentValue: key.toString('base64url'), filePath })).toEqual(
      key,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('is refused without being repeated when the environment has something else', async () => {
    const padded = `${Buffer.alloc(32).toString('base64url')}=`;
    for (const environmentValue of ['', 'c2VjcmV0', 'not base64url at all, but secret', padded]) {
      const refusal = masterKeyFrom({ environmentValue, filePath: join(folder, 'master.key') });
      await expect(refusal).rejects.toThrow(
        'the master key in the environment is not base64url text of 32 bytes',
      );
      await expect(refusal).rejects.not.toThrow('secret');
    }
  });

  it('is created at the first start, for its owner alone, and stays the same', async () => {
    const filePath = join(folder, 'keys', 'master.key');
    const key = await masterKeyFrom({ filePath });
    expect(key).toHaveLength(32);
    expect((await stat(filePath)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o700);
    expect(await masterKeyFrom({ environmentValue: undefined, filePath })).toEqual(key);
    // Nothing has been encrypted under it yet.
    expect((await readdir(join(folder, 'keys'))).toSorted()).toEqual([
      'master.key',
      'master.key.unused',
    ]);
  });

  it('is one and the same for processes that start at once', async () => {
    const filePath = join(folder, 'master.key');
    const keys = await Promise.all(Array.from({ length: 8 }, () => masterKeyFrom({ filePath })));
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    expect((await readdir(folder)).toSorted()).toEqual(['master.key', 'master.key.unused']);
  });

  it('is refused from a file that others may read', async () => {
    const filePath = join(folder, 'master.key');
    await masterKeyFrom({ filePath });
    for (const mode of [0o640, 0o604, 0o660]) {
      await chmod(filePath, mode);
      await expect(masterKeyFrom({ filePath })).rejects.toThrow('is open to other users');
    }
  });

  it('is refused from a file with something else in it', async () => {
    const filePath = join(folder, 'master.key');
    await writeFile(filePath, '', { mode: 0o600 });
    await expect(masterKeyFrom({ filePath })).rejects.toThrow('is not base64url text of 32 bytes');
  });
});
