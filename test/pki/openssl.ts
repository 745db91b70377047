import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The `openssl` command as a second opinion: it is what clients of the interface really run. */
const run = promisify(execFile);

const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`;

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'paraph-pki-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * `openssl cms -verify -purpose sslclient` at a given time. @returns The signed content. @throws
 * When it refuses.
 */
export const opensslVerify = (cms: Uint8Array, root: Uint8Array, at: Date): Promise<Buffer> =>
  inFolder(async (folder) => {
    await writeFile(join(folder, 'cms.der'), cms);
    await writeFile(join(folder, 'root.pem'), pem(root));
    const { stdout } = await run(
      'openssl',
      ['cms', '-verify', '-binary', '-inform', 'DER', '-in', 'cms.der', '-CAfile', 'root.pem'].concat([
        '-purpose',
        'sslclient',
        '-attime',
        String(Math.floor(at.getTime() / 1000)),
      ]),
      { cwd: folder, encoding: 'buffer' },
    );
    return stdout;
  });

/** Subjects of the certificates in a signature, in the order in which they are written. */
export const opensslSubjects = (cms: Uint8Array): Promise<readonly string[]> =>
  inFolder(async (folder) => {
    await writeFile(join(folder, 'cms.der'), cms);
    const { stdout } = await run(
      'openssl',
      ['pkcs7', '-inform', 'DER', '-in', 'cms.der', '-print_certs', '-noout'],
      { cwd: folder },
    );
    return stdout.split('\n').flatMap((line) => (line.startsWith('subject=') ? [line.slice(8)] : []));
  });
