/**
 * `paraph master-key`: which master keys open the service, and their replacement while it runs.
 *
 * It works at Redis itself and has no counterpart in the admin API: a master key goes over no
 * connection.
 */
import { existsSync } from 'node:fs';
import { replaceKeyFile } from '../../packages/pki/src/master-key.ts';
import type { KeyVault } from '../../packages/pki/src/ports.ts';
import {
  addMasterKey,
  type KeySlots,
  listMasterKeys,
  masterKeyId,
  OtherMasterKeyError,
  removeOtherMasterKeys,
} from '../../packages/pki/src/service-key.ts';
import {
  type AddCommand,
  type CliContext,
  environmentIn,
  ok,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { iso } from '../command-line/transactions-row.ts';
import { acquireInstanceLock } from '../redis/embedded/instance-lock.ts';
import type { OperationsSession } from './local-api.ts';
import { withOperations } from './operations.ts';
import { existingMasterKey } from './service-redis.ts';

interface Stage {
  readonly slots: KeySlots;
  readonly masterKey: Uint8Array;
  /** Undefined where PARAPH_NEW_MASTER_KEY is not set. */
  readonly newKey: Uint8Array | undefined;
  readonly serviceKey: Uint8Array;
  readonly record: (details: Readonly<Record<string, string>>) => Promise<unknown>;
}

const openStage = async (
  context: CliContext,
  { redis, configuration, audit, operator }: OperationsSession,
  vault: KeyVault,
): Promise<Stage> => {
  const [{ createKeySlots, unlockStore }, { createCustodyStore }] = await Promise.all([
    import('../app/key-slots.ts'),
    import('../app/custody-store.ts'),
  ]);
  const { prefix } = configuration.queue;
  const masterKey = await existingMasterKey(context);
  const { newMasterKey } = environmentIn(context);
  const slots = createKeySlots(redis, prefix);
  if ((await createCustodyStore(redis, prefix).get('ca:root')) === undefined) {
    throw new UsageError(
      'The service has never been started: it has nothing under a master key yet.',
    );
  }
  return {
    slots,
    masterKey,
    newKey: newMasterKey === undefined ? undefined : Buffer.from(newMasterKey, 'base64url'),
    serviceKey: await unlockStore({ redis, prefix, masterKey, vault, now: context.now }),
    record: (details) =>
      audit.record({ who: operator.name, via: operator.via, action: 'master-key', details }),
  };
};

const withStage = (context: CliContext, work: (stage: Stage) => Promise<Report>): Promise<Report> =>
  withOperations(context, async (session, { vaultIn }) => {
    try {
      const vault = await vaultIn(context, session.configuration);
      return await work(await openStage(context, session, vault));
    } catch (error) {
      if (!(error instanceof OtherMasterKeyError)) throw error;
      throw new UsageError(`${error.message}.`);
    }
  });

const shown = async ({ slots, masterKey }: Pick<Stage, 'slots' | 'masterKey'>): Promise<Report> => {
  const own = masterKeyId(masterKey);
  const keys = (await listMasterKeys(slots)).map(({ id, since }) => ({
    id,
    since: iso(since),
    isThis: id === own,
  }));
  const lines = keys.map(
    ({ id, since, isThis }) => `${id}  since ${since}${isThis ? '  this one' : ''}\n`,
  );
  return ok({ keys }, lines.join(''));
};

/**
 * In a store that began before there were service keys, the first master key is the service key.
 */
const changed = async (stage: Stage, masterKey: Uint8Array): Promise<Report> => {
  const { document, text = '' } = await shown({ slots: stage.slots, masterKey });
  if (Buffer.compare(stage.serviceKey, stage.masterKey) !== 0) return ok(document, text);
  const warning =
    'This service began before there were service keys: its first master key is its service key. Also when it is removed, it opens what Redis and backups hold. Keep it as secret as the new one.';
  return ok({ ...document, warning }, `${text}${warning}\n`);
};

const add = async (stage: Stage, context: CliContext): Promise<Report> => {
  const { slots, serviceKey, newKey, masterKey } = stage;
  if (newKey === undefined) {
    throw new UsageError(
      'The new master key is missing: set PARAPH_NEW_MASTER_KEY beside the present one.',
    );
  }
  await stage.record({ order: 'add', key: masterKeyId(newKey) });
  await addMasterKey(slots, serviceKey, newKey, context.now);
  return changed(stage, masterKey);
};

const removeOthers = async (stage: Stage): Promise<Report> => {
  await stage.record({ order: 'remove-others', key: masterKeyId(stage.masterKey) });
  await removeOtherMasterKeys(stage.slots, stage.masterKey);
  return shown(stage);
};

/**
 * Cut off anywhere, the key in the file opens the service, and the next one ends what was begun.
 */
const rotate = async (stage: Stage, context: CliContext): Promise<Report> => {
  const { masterKey: given, dataDirectory } = environmentIn(context);
  const { masterKeyFileIn } = await import('../../packages/pki/src/master-key.ts');
  const filePath = masterKeyFileIn(dataDirectory);
  if (given !== undefined || !existsSync(filePath)) {
    throw new UsageError(
      'This replaces the key in PARAPH_DATA, and the service has its key from PARAPH_MASTER_KEY: see paraph master-key add.',
    );
  }
  // Of two at the same time, each would remove the key of the other.
  const lock = acquireInstanceLock(`${filePath}.rotation`);
  if (!lock.held) throw new UsageError('Another command replaces the key in this directory.');
  try {
    const { slots, serviceKey } = stage;
    await stage.record({ order: 'rotate', key: masterKeyId(stage.masterKey) });
    const masterKey = await replaceKeyFile(filePath, (added) =>
      addMasterKey(slots, serviceKey, added, context.now),
    );
    await removeOtherMasterKeys(slots, masterKey);
    return await changed(stage, masterKey);
  } finally {
    lock.release();
  }
};

export const addMasterKeys: AddCommand = (program, context, done) => {
  const group = program
    .command('master-key')
    .description('which master keys open the service, and their replacement');
  const orders = {
    list: ['show the master keys that open the service', (stage: Stage) => shown(stage)],
    add: ['have PARAPH_NEW_MASTER_KEY open the service, too', add],
    'remove-others': ['have no master key but the present one open the service', removeOthers],
    rotate: ['replace the master key in PARAPH_DATA', rotate],
  } as const;
  for (const [name, [description, work]] of Object.entries(orders)) {
    const command = group
      .command(name)
      .description(description)
      .action(async () => done(await withStage(context, (stage) => work(stage, context))));
    worksAt('redis', command);
  }
};
