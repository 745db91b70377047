/**
 * A private PostgreSQL on a unix socket, at its full durability: `fsync`, `synchronous_commit` and
 * `full_page_writes` on, which is the default and is said again so that nobody has to look it up.
 * Memory and the size of the log are set as its documentation advises for a server that writes
 * much, so that no checkpoint falls into a round.
 *
 * PostgreSQL refuses to run as root. Then it runs as `nobody`, who gets a folder of its own, and a
 * copy of the program where the project lies in a folder that others may not enter.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Guarded, startGuarded, type User } from './guarded-process.ts';
import { type PostgresProgram, providePostgres } from './provide-postgres.ts';

const settings = {
  listen_addresses: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  max_connections: '200',
  jit: 'off',
} as const;

/** A superuser in a private server, reached through a private socket. */
const superuser = 'paraph';
const port = '5432';

const nobody = (): User | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
};

const reachable = (
  program: PostgresProgram,
  folder: string,
  user: User | undefined,
): PostgresProgram => {
  const postgres = join(program.folder, program.programs, 'postgres');
  if (
    user === undefined ||
    spawnSync(postgres, ['--help'], { ...user, cwd: '/' }).error === undefined
  )
    return program;
  const copy = join(folder, 'program');
  cpSync(program.folder, copy, { recursive: true, verbatimSymlinks: true });
  return { ...program, folder: copy };
};

/**
 * @param folder  Empty; everything goes there.
 * @returns The process, and the address for `pg`.
 * @throws When there is no PostgreSQL to be had, or it does not start.
 */
export const startPostgres = async (
  folder: string,
  say: (line: string) => void,
): Promise<Guarded & { readonly url: string }> => {
  const user = nobody();
  const program = reachable(await providePostgres(say), folder, user);
  const data = join(folder, 'data');
  mkdirSync(data);
  for (const owned of user === undefined ? [] : [folder, data])
    chownSync(owned, user?.uid ?? 0, user?.gid ?? 0);
  const environment = {
    LD_LIBRARY_PATH: program.libraries.map((library) => join(program.folder, library)).join(':'),
  };
  const bin = (name: string): string => join(program.folder, program.programs, name);
  const initialise = ['-D', data, '-U', superuser, '--auth=trust', '--no-locale', '-E', 'UTF8'];
  await promisify(execFile)(bin('initdb'), initialise, {
    ...user,
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', ...environment },
  });
  const own = { ...settings, port, unix_socket_directories: folder };
  const server = await startGuarded({
    name: 'postgres',
    command: bin('postgres'),
    args: [
      '-D',
      data,
      ...Object.entries(own).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    environment,
    folder,
    // TERM would wait for its clients.
    signal: 'INT',
    user,
  });
  try {
    await server.says(/database system is ready to accept connections/);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const query = `host=${encodeURIComponent(folder)}&port=${port}`;
  return { ...server, url: `postgresql://${superuser}@localhost/paraph_peer?${query}` };
};
