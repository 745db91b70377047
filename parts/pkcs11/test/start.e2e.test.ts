/** What a start says of a token that it cannot use. None of it needs a token. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { killProcesses, startProcess } from '../../../test/support/process.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-token-'));
afterAll(async () => {
  await killProcesses();
  rmSync(folder, { recursive: true, force: true });
});

const start = (custody: object, pin: Readonly<Record<string, string>>) => {
  const file = join(folder, 'paraph.json');
  const queue = { prefix: redis.prefix.slice(-32) };
  writeFileSync(file, JSON.stringify({ sandbox: true, queue, custody }));
  const environment = { PARAPH_CONFIG: file, PARAPH_DATA: folder, REDIS_URL: redis.url };
  // Where nobody has installed the package that calls tokens.
  return startProcess({ ...environment, NODE_PATH: '', ...pin });
};

it.each([
  [
    'without a PIN',
    {},
    {},
    'custody.pinFile, or the variable PARAPH_TOKEN_PIN, must give the PIN of the token.',
  ],
  [
    'without its file of the PIN',
    { pinFile: '/no/such/pin' },
    {},
    'custody.pinFile: the file cannot be read (ENOENT).',
  ],
  [
    'without the package',
    {},
    { PARAPH_TOKEN_PIN: '73914' },
    'the package pkcs11js is not installed',
  ],
])('a start with a token and %s ends with a sentence', async (_, changes, pin, sentence) => {
  const token = { kind: 'pkcs11', module: '/usr/lib/no-such-library.so', slot: 0, ...changes };
  const starting = start(token, pin);
  await expect(starting).rejects.toThrow(sentence);
  await expect(starting).rejects.not.toThrow('73914');
});
