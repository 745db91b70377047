/**
 * `paraph backup`, `paraph restore`: all data of a service in Redis, as one file.
 *
 * Both work directly on Redis, beside a running service or in the data directory of a stopped one.
 * The modules that they need are loaded when they run.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { refused } from '../../src/command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  CommandEnd,
  ok,
  type Report,
  type Store,
  UsageError,
} from '../../src/command-line/context.ts';
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { worksAt } from '../../src/command-line/place.ts';
import type { Environment } from '../../src/environment/environment.ts';
import { productVersion } from '../../src/environment/product-version.ts';
import type { Service } from './own-keys.ts';

/** Turns errors with sentences for operators into ends; all other errors are unexpected. */
const toEnd = async (error: unknown): Promise<unknown> => {
  const [{ BackupFileError }, { SnapshotError }, { RestoreError }] = await Promise.all([
    import('./backup-file.ts'),
    import('./snapshot.ts'),
    import('./restore.ts'),
  ]);
  if (error instanceof BackupFileError) return refused('refused', 'file', error.message);
  if (error instanceof SnapshotError || error instanceof RestoreError) {
    return new CommandEnd({ outcome: 'unexpected', document: {}, problem: error.message });
  }
  return error;
};

const withStage = (
  context: CliContext,
  check: (environment: Environment) => void,
  work: (store: Store, service: Service) => Promise<Report>,
): Promise<Report> =>
  context.withStore(context, check, async (store) => {
    const slots = context.parts.flatMap((part) => part.slots ?? []);
    try {
      return await work(store, { prefix: store.queue.prefix, slots });
    } catch (error) {
      throw await toEnd(error);
    }
  });

const sizeOf = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** @throws UsageError when the key does not open the stored data. */
const assertServiceKey = async ({ openCustody }: Store): Promise<void> => {
  const custody = await openCustody();
  if (!(await custody.hasAuthority())) {
    throw refused(
      'refused',
      'empty',
      'Redis holds no service under queue.prefix: there is nothing to back up.',
    );
  }
  await custody.trust().catch((error: unknown) => {
    throw new UsageError(`${toError(error).message}.`);
  });
};

/**
 * Tries the keys that the custody names: those in another place, such as a token, are not in the
 * backup.
 *
 * @returns A sentence; undefined when all can be used.
 */
const problemOfKeys = async ({ openCustody }: Store): Promise<string | undefined> => {
  const unusable = await (await openCustody()).unusableKeys();
  const [first] = unusable;
  if (first === undefined) return undefined;
  const names = unusable.map(({ name }) => name).join(', ');
  return `Redis is restored, but the service cannot use its keys ${names}: ${first.why}. See docs/operations/backup.md; do not start it before.`;
};

const backup = (context: CliContext, path: string): Promise<Report> =>
  withStage(
    context,
    ({ redisUrl, dataDirectory }) => {
      if (redisUrl !== undefined || existsSync(join(dataDirectory, 'redis'))) return;
      const problem = `No Paraph has kept anything in ${dataDirectory}: set PARAPH_DATA or REDIS_URL as it has them.`;
      throw new CommandEnd({ outcome: 'unreachable', document: {}, problem });
    },
    async (store, service) => {
      const [{ createBackupFile }, { takeSnapshot }] = await Promise.all([
        import('./backup-file.ts'),
        import('./snapshot.ts'),
      ]);
      const { masterKey, redis, queue, version } = store;
      await assertServiceKey(store);
      const { prefix, shards } = queue;
      const file = await createBackupFile(path, masterKey, {
        product: productVersion() ?? 'unknown',
        startedAt: new Date(context.now()).toISOString(),
        store: version,
        prefix,
        shards,
      });
      try {
        const { at, heldMs } = await takeSnapshot(redis, service, file.add);
        const bytes = await file.finish(at);
        const document = { file: path, at: at.toISOString(), bytes, heldMs: Math.round(heldMs) };
        return ok(
          document,
          `${sizeOf(bytes)}: everything as it was at ${document.at}. Writes were held for ${document.heldMs} ms.\nIt is worth nothing without the master key, which is not in it.\n`,
        );
      } catch (error) {
        await file.abandon();
        throw error;
      }
    },
  );

const restore = async (
  context: CliContext,
  path: string,
  { replace = false }: { readonly replace?: boolean },
): Promise<Report> =>
  withStage(
    context,
    () => undefined,
    async (store, service) => {
      const { queue, masterKey, redis, version, embeddedRuns } = store;
      const [
        { readBackupHeader },
        { isEmpty, restoreBackup },
        { readProcesses },
        { createAudit },
        { readUndone, repeatDocument, restoreText },
      ] = await Promise.all([
        import('./backup-file.ts'),
        import('./restore.ts'),
        import('../../src/transactions/history/processes.ts'),
        import('../../src/console/operators/audit.ts'),
        import('./restore-report.ts'),
      ]);
      const { prefix, shards } = queue;
      const header = await readBackupHeader(path);
      if (header.store !== version) {
        throw refused(
          'refused',
          'version',
          'The backup is of another release, whose store this one does not read.',
        );
      }
      if (header.prefix !== prefix || header.shards !== shards) {
        throw new UsageError(
          `The backup is of queue.prefix ${header.prefix} and queue.shards ${header.shards}: set both in the configuration.`,
        );
      }
      if (embeddedRuns || (await readProcesses(redis, prefix, context.now())).length > 0) {
        throw refused('refused', 'running', 'The service runs: stop all of its processes first.');
      }
      if (!replace && !(await isEmpty(redis, service))) {
        throw refused(
          'refused',
          'not-empty',
          'Redis holds a service under queue.prefix already: with --replace it is thrown away.',
        );
      }
      const { keys, at, kept } = await restoreBackup(redis, service, { path, masterKey });
      const audit = createAudit({ redis, prefix, log: { audit: () => undefined } });
      const repeat = kept === undefined ? [] : await readUndone(audit, at);
      const document = {
        file: path,
        at,
        keys,
        kept: kept ?? null,
        repeat: kept === undefined ? null : repeatDocument(repeat),
      };
      const problem = await problemOfKeys(store);
      if (problem !== undefined) throw new CommandEnd({ outcome: 'unexpected', document, problem });
      return ok(document, restoreText(at, keys, kept, repeat));
    },
  );

const addBackup: AddCommand = (program, context, done) => {
  const backing = program
    .command('backup')
    .description('write all that the service keeps in Redis into one file, while it runs')
    .argument('<file>', 'a new file; it is encrypted under the master key')
    .action(async (file: string) => done(await backup(context, resolve(file))));
  const restoring = program
    .command('restore')
    .description('put a backup into an empty Redis')
    .argument('<file>', 'what paraph backup has written')
    .option('--replace', 'throw away what Redis holds of the service')
    .action(async (file: string, flags: { readonly replace?: boolean }) =>
      done(await restore(context, resolve(file), flags)),
    );
  for (const command of [backing, restoring]) worksAt('redis', command);
};

export const backupCommands: PartCommands = {
  add: { 'Administer:': [addBackup] },
  examples: {
    backup: ['/backups/paraph-monday.backup'],
    restore: ['/backups/paraph-monday.backup'],
  },
};
