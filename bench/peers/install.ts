/** Installs the packages of the peers. None of them needs an install script. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { project } from '../harness/program.ts';

const folder = join(project, 'bench/peers');
/** Goes when the packages go. */
const installed = join(folder, 'node_modules/.paraph-installed');

const fingerprint = (): string =>
  createHash('sha256')
    .update(process.version)
    .update(readFileSync(join(folder, 'package.json')))
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');

/** @throws With npm's own words. */
export const installPeers = async (say: (line: string) => void): Promise<void> => {
  if (existsSync(installed) && readFileSync(installed, 'utf8') === fingerprint()) return;
  say('installing the packages of the peers (npm ci in bench/peers, 240 MB)');
  await promisify(execFile)('npm', ['ci', '--loglevel=error'], { cwd: folder, maxBuffer: 1 << 26 });
  writeFileSync(installed, fingerprint());
};
