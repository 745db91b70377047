/**
 * Programs of the Go module proxy. They are built once, into .cache: Helm has seven hundred packages,
 * which take two cores five minutes.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../docs/pages.ts';

const run = promisify(execFile);

/** Of the output of `go`, the line that says what is wrong. */
const reasonIn = (error: unknown): string => {
  const { stderr = '', message } = error as { stderr?: string; message: string };
  return stderr.trim().split('\n').at(-1) || message;
};

/**
 * @param path The package of the program. `go` fetches a newer toolchain as a module where it needs one.
 * @returns The program; undefined, and a line that says why, where it cannot be built.
 */
export const goJudge = async (
  name: string,
  path: string,
  version: string,
): Promise<string | undefined> => {
  const folder = join(root, '.cache/judges', `${name}-${version}`);
  const program = join(folder, basename(path));
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  try {
    await run('go', ['install', `${path}@${version}`], {
      env: { ...process.env, GOBIN: folder, GOTOOLCHAIN: 'auto', GOFLAGS: '-buildvcs=false' },
      maxBuffer: 1 << 26,
    });
    return program;
  } catch (error) {
    process.stdout.write(`NOT TRIED: ${name} (Go) cannot be built: ${reasonIn(error)}\n`);
    return undefined;
  }
};
