import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The `openssl` command as a second opinion: it is what clients of the interface really run. */
const run = promisify(execFile);

export const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`;

interface Files {
  read(name: string): Promise<Buffer>;
  write(name: string, content: Uint8Array | string): Promise<void>;
}

/** Works in a folder with these files, which is removed afterwards. */
export const inFolder = async <T>(
  files: Readonly<Record<string, Uint8Array | string | undefined>>,
  work: (folder: string, use: Files) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'paraph-pki-'));
  const use: Files = {
    read: (name) => readFile(join(folder, name)),
    write: (name, content) => writeFile(join(folder, name), content),
  };
  try {
    for (const [name, content] of Object.entries(files)) await use.write(name, content ?? '');
    return await work(folder, use);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Runs `openssl` there. @returns What it says, on either stream. @throws When it refuses; the
 * message has what it says.
 */
export const openssl = async (folder: string, command: string): Promise<string> => {
  const { stdout, stderr } = await run('openssl', command.split(' '), { cwd: folder }).catch(
    (error) => {
      throw new Error(`${error.stdout}${error.stderr}`);
    },
  );
  return `${stdout}${stderr}`;
};

/** What `openssl req` is told to make a key as well. */
export const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const;

/**
 * Makes a key and a certificate that it has signed itself: `<name>.key` and `<name>.crt`.
 *
 * @param name Also the name in the certificate.
 * @param more Told to `openssl req`.
 */
export const createSelfSigned = (folder: string, name: string, ...more: string[]): void => {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
  const words = [
    'req',
    '-x509',
    ...newKey,
    ...more,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    ...files,
  ];
  execFileSync('openssl', words, { stdio: 'ignore', cwd: folder });
};

/** @returns A certificate as of {@link createSelfSigned}, PEM, whose key nobody needs. */
export const selfSigned = (name: string, ...more: string[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-certificate-'));
  try {
    createSelfSigned(folder, name, ...more);
    return readFileSync(join(folder, `${name}.crt`), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/**
 * `openssl cms -verify -purpose sslclient` at a given time. @returns The signed content. @throws
 * When it refuses.
 */
export const opensslVerify = (cms: Uint8Array, root: Uint8Array, at: Date): Promise<Buffer> =>
  inFolder({ 'cms.der': cms, 'root.pem': pem(root) }, async (folder) => {
    const { stdout } = await run(
      'openssl',
      [
        'cms',
        '-verify',
        '-binary',
        '-inform',
        'DER',
        '-in',
        'cms.der',
        '-CAfile',
        'root.pem',
      ].concat(['-purpose', 'sslclient', '-attime', String(Math.floor(at.getTime() / 1000))]),
      { cwd: folder, encoding: 'buffer' },
    );
    return stdout;
  });

/** Subjects of the certificates in a signature, in the order in which they are written. */
export const opensslSubjects = (cms: Uint8Array): Promise<readonly string[]> =>
  inFolder({ 'cms.der': cms }, async (folder) => {
    const { stdout } = await run(
      'openssl',
      ['pkcs7', '-inform', 'DER', '-in', 'cms.der', '-print_certs', '-noout'],
      { cwd: folder },
    );
    return stdout
      .split('\n')
      .flatMap((line) => (line.startsWith('subject=') ? [line.slice(8)] : []));
  });
