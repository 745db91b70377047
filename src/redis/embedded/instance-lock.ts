/**
 * One Paraph per data directory: two processes would destroy its append-only file.
 *
 * The lock must vanish with its holder, also after `kill -9`, and Node has no `flock`. So a holder
 * is named by process id *and* start time, which no later process can share.
 *
 * The trap is the takeover: "see that the holder is dead, delete, create" lets two starts both
 * succeed. So locks are numbered, `instance-1.lock`, `instance-2.lock` …; the highest number
 * counts, and a start may only create the number after a dead one. Creating a symbolic link is
 * atomic and carries the holder in its target. A number is deleted only once a higher one exists,
 * so a start that was asleep in between finds the higher one and withdraws.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export type InstanceLock =
  | {
      readonly held: true;
      /** Safe to call again, and not needed before the process ends. */
      readonly release: () => void;
    }
  | {
      readonly held: false;
      /** One sentence for the operator, naming the data directory and the process that has it. */
      readonly error: string;
    };

/**
 * Takes the lock of a data directory, and creates the directory (mode 0700) when it is missing.
 * `held: false` when a living process has it, this one included.
 *
 * @throws When the directory cannot be created or written.
 */
export function acquireInstanceLock(dataDir: string): InstanceLock {
  createDirectory(dataDir);
  for (;;) {
    const newest = generations(dataDir).at(-1) ?? 0;
    const holder = newest === 0 ? released : holderOf(lockPath(dataDir, newest));
    // It is gone: a higher number exists by now.
    if (holder === undefined) continue;
    if (isAlive(holder)) {
      const [processId] = holder.split('@');
      return {
        held: false,
        error: `Another Paraph (process ${processId}) already uses the data directory ${dataDir}: stop it, or set PARAPH_DATA to another directory.`,
      };
    }
    const mine = newest + 1;
    const path = lockPath(dataDir, mine);
    if (!createLink(nameOf(process.pid), path)) continue;
    const present = generations(dataDir);
    if (present.at(-1) !== mine) {
      rmSync(path, { force: true });
      continue;
    }
    for (const older of present.slice(0, -1)) rmSync(lockPath(dataDir, older), { force: true });
    return { held: true, release: () => markReleased(dataDir, path) };
  }
}

/**
 * Creates a directory (mode 0700) and what is missing above it. Node's own `recursive` never
 * returns where a file system has the parent and answers ENOENT, as /proc does.
 */
export function createDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(resolve(path));
  if (!existsSync(parent)) createDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was first.
    if (!isCode(error, 'EEXIST') || !statSync(path).isDirectory()) throw error;
  }
}

/** The content of the lock once it is given back, instead of `<process id>@<start of process>`. */
const released = 'released';

function lockPath(dataDir: string, generation: number): string {
  return join(dataDir, `instance-${generation}.lock`);
}

/** Numbers that exist, lowest first. */
function generations(dataDir: string): readonly number[] {
  return readdirSync(dataDir)
    .map((name) => Number(/^instance-(\d+)\.lock$/.exec(name)?.[1] ?? 0))
    .filter((generation) => generation > 0)
    .sort((left, right) => left - right);
}

function createLink(target: string, path: string): boolean {
  try {
    symlinkSync(target, path);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function holderOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Only the holder changes: a deleted number could be created again by a start that was asleep. */
function markReleased(dataDir: string, path: string): void {
  if (holderOf(path) !== nameOf(process.pid)) return;
  const replacement = join(dataDir, `instance-${randomUUID()}.tmp`);
  symlinkSync(released, replacement);
  renameSync(replacement, path);
}

function isAlive(holder: string): boolean {
  const processId = Number(holder.split('@')[0]);
  if (!Number.isInteger(processId) || !answersSignals(processId)) return false;
  const current = startOf(processId);
  // When the start time cannot be read, refusing to start is the safe error.
  return current === undefined || holder === `${processId}@${current}`;
}

function answersSignals(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to another user.
    return isCode(error, 'EPERM');
  }
}

function nameOf(processId: number): string {
  return `${processId}@${startOf(processId) ?? 'unknown'}`;
}

/**
 * When a process started, as text that is equal only for the same process; `dead` for a zombie.
 * Linux: boot id and clock ticks since boot (proc(5), field 22 of stat). Elsewhere: what ps prints,
 * to the second.
 */
function startOf(processId: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      const environment = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
      const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(processId)], {
        env: environment,
      });
      return started.toString().trim().replaceAll(/\s+/g, '-');
    }
    // The second field is the program's name, which may hold spaces and parentheses.
    const stat = readFileSync(`/proc/${processId}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    if (state === 'Z' || state === 'X') return 'dead';
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot}-${fields[19]}`;
  } catch {
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
