/**
 * `npm start`, in whatever shell npm finds. A shell that becomes the program hands it the signals
 * of npm, and npm ends after it. A shell that stays between dies of a signal without passing it on.
 * That of Windows stays, and knows no `exec`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const root = join(import.meta.dirname, '../..');
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

/** Processes of this machine with a mark in their environment. */
const markedBy = (mark: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(join('/proc', pid, 'environ'), 'latin1').includes(mark)
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });

const newFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'paraph-start-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** @returns What is left of it when npm has ended, at once and later. */
const startAndStop = async (shell?: string) => {
  const folder = newFolder();
  const file = join(folder, 'shell');
  if (shell !== undefined) writeFileSync(file, `#!/bin/sh\n${shell}\n`, { mode: 0o755 });
  const { REDIS_URL: _, ...inherited } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: {
      ...inherited,
      ...(shell !== undefined && { npm_config_script_shell: file }),
      PORT: '0',
      PARAPH_DATA: join(folder, 'data'),
      PARAPH_START_MARK: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(npm, 'exit');
  let output = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [npm.stdout, npm.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
        if (/ready at http:\S+\n/.test(output)) resolve();
      });
    ended.then(() => reject(new Error(output)), reject);
  });
  const left = () => markedBy(`PARAPH_START_MARK=${folder}`);
  expect(left().length).toBeGreaterThan(1);
  npm.kill('SIGTERM');
  await ended;
  return left;
};

describe('npm start', () => {
  it('ends on SIGTERM, after everything that it has started', async () => {
    const left = await startAndStop();
    // Whoever waits for npm, as a container does, ends the rest at once.
    expect(left()).toEqual([]);
  });

  it('ends with everything that it has started where the shell stays and passes no signal on', async () => {
    // The last command of npm's script, as a shell without exec comes to it.
    const left = await startAndStop('eval "$(echo "$2" | sed "s/.*|| //")"\nexit $?');
    await vi.waitFor(() => expect(left()).toEqual([]), 20_000);
  });

  it('uses exec only where the shell knows it', () => {
    const [guard, start, otherwise] = scripts.start?.split(/ && | \|\| /) ?? [];
    expect([guard, start, otherwise]).toEqual([
      'node scripts/has-exec.mjs',
      `exec ${otherwise}`,
      'node scripts/start.mjs',
    ]);
    const statusOn = (platform: string): number | null => {
      const script = join(newFolder(), 'platform.mjs');
      writeFileSync(
        script,
        `Object.defineProperty(process, 'platform', { value: '${platform}' });`,
      );
      return spawnSync(process.execPath, ['--import', script, 'scripts/has-exec.mjs'], {
        cwd: root,
      }).status;
    };
    expect(['linux', 'darwin', 'win32'].map(statusOn)).toEqual([0, 0, 1]);
  });

  it('and all other scripts use nothing of one shell alone', () => {
    const { start: _, ...others } = scripts;
    const programs = Object.values(others)
      .flatMap((script) => script.split(' && '))
      .map((command) => command.split(' ')[0]);
    expect([...new Set(programs)].toSorted()).toEqual(['biome', 'knip', 'node', 'tsc', 'tsx']);
  });
});
