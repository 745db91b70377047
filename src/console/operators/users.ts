/**
 * Users: those of the configuration file and those that an admin added.
 *
 * Every change of a user changes its version. Sessions and tokens carry the version under which
 * they were made, so a change ends all of them without looking for them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Sealing } from '../../../packages/pki/src/sealed-json.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { type Audit, type AuditAction, doneBy, noted } from './audit.ts';
import { localName, type Operator, type Role, roles } from './operator.ts';
import { isProviderName } from './provider-people.ts';
import { isOperatorName, type OperatorSettings } from './settings.ts';
import type { Views } from './views.ts';

const storedSchema = z.object({
  role: z.enum(roles),
  oidcSubject: z.string().optional(),
  version: z.string(),
});
type Stored = z.infer<typeof storedSchema>;

export interface User extends Readonly<Stored> {
  readonly name: string;
  readonly origin: 'configuration' | 'stored';
}

export interface NewUser {
  readonly name: string;
  readonly role: Role;
  readonly oidcSubject?: string | undefined;
}

export type UserError = 'bad-name' | 'bad-subject';
/** `exists`: another user has the name or the subject. */
export type AddResult = 'added' | 'exists' | UserError;
/** `configured`: the user is in the configuration file and must be changed there. */
export type ChangeResult = 'changed' | 'unknown' | 'configured';
export type SubjectResult = ChangeResult | 'exists' | 'bad-subject';

/** Replaces a value if it is still the expected one. Empty stands for none. */
const swapScript = `
local before = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if before ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1`;

const maxRounds = 20;

export const isGoodSubject = (subject: string): boolean => subject !== '' && subject.length <= 255;

const newVersion = (): string => randomBytes(12).toString('base64url');

const configuredUser = (entry: OperatorSettings['users'][number]): User => ({
  ...entry,
  version: createHash('sha256')
    .update(JSON.stringify([entry.name, entry.role, entry.oidcSubject]))
    .digest('base64url'),
  origin: 'configuration',
});

export const createUsers = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly sealed: Sealing;
  readonly audit: Audit;
  /** Users of the file. They cannot be changed here, and hide stored users of the same name. */
  readonly configured: OperatorSettings['users'];
  readonly views: Pick<Views, 'remove' | 'names'>;
  /** Whether the views of people of an OpenID provider are kept, because they may come back. */
  readonly keepsProviderNames: boolean;
}) => {
  const { redis, sealed, audit, views, keepsProviderNames } = options;
  const key = `${options.prefix}:operators:users`;
  const configured = new Map(
    options.configured.map((entry) => [entry.name, configuredUser(entry)]),
  );
  const placeOf = (name: string): string => `user ${name}`;

  const read = (name: string, text: string | null | undefined): Stored | undefined =>
    storedSchema.safeParse(sealed.text.open(placeOf(name), text)).data;

  const userOf = (name: string, stored: Stored): User => ({ ...stored, name, origin: 'stored' });

  const swap = async (
    name: string,
    before: string,
    after: Stored | undefined,
  ): Promise<boolean> => {
    const text = after === undefined ? '' : sealed.text.seal(placeOf(name), after);
    return (await redis.eval(swapScript, 1, key, name, before, text)) === 1;
  };

  /** @param next Gives the new state, or the reason of a refusal. */
  const change = async <Refusal extends string>(
    name: string,
    next: (
      stored: Stored | undefined,
    ) => { readonly after: Stored | undefined } | Refusal | 'unknown',
  ): Promise<ChangeResult | Refusal> => {
    if (configured.has(name)) return 'configured';
    for (let round = 0; round < maxRounds; round += 1) {
      const text = await redis.hget(key, name);
      const following = text === null ? 'unknown' : next(read(name, text));
      if (text === null || typeof following === 'string') return following as Refusal | 'unknown';
      if (await swap(name, text, following.after)) return 'changed';
    }
    throw new Error('Too many changes of one operator at the same time');
  };

  const update = (name: string, changes: Partial<Stored>): Promise<ChangeResult> =>
    change<never>(name, (stored) =>
      stored === undefined
        ? 'unknown'
        : { after: { ...stored, ...changes, version: newVersion() } },
    );

  const list = async (): Promise<readonly User[]> => {
    const stored = Object.entries(await redis.hgetall(key)).flatMap(([name, text]) => {
      const record = configured.has(name) ? undefined : read(name, text);
      return record === undefined ? [] : [userOf(name, record)];
    });
    return [...configured.values(), ...stored].sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  const findBySubject = async (subject: string): Promise<User | undefined> => {
    if (subject === '') return undefined;
    const found = (await list()).filter(({ oidcSubject }) => oidcSubject === subject);
    return found.find(({ origin }) => origin === 'configuration') ?? found[0];
  };

  const findError = ({ name, oidcSubject }: NewUser): UserError | undefined => {
    if (!isOperatorName(name)) return 'bad-name';
    return oidcSubject !== undefined && !isGoodSubject(oidcSubject) ? 'bad-subject' : undefined;
  };

  /** Records a change and does it. An invalid name is not recorded, because it may be a secret. */
  const onUser = async <T extends string>(
    by: Operator,
    action: AuditAction,
    name: string,
    details: Readonly<Record<string, string>>,
    act: () => Promise<T>,
  ): Promise<T | 'unknown'> =>
    isOperatorName(name)
      ? noted(
          audit,
          { ...doneBy(by), action, target: name, details },
          act,
          (result) => result === 'changed',
        )
      : 'unknown';

  const add = async ({ name, role, oidcSubject }: NewUser): Promise<'added' | 'exists'> => {
    if (configured.has(name)) return 'exists';
    if (oidcSubject !== undefined && (await findBySubject(oidcSubject))) return 'exists';
    const stored: Stored = {
      role,
      ...(oidcSubject !== undefined && { oidcSubject }),
      version: newVersion(),
    };
    return (await swap(name, '', stored)) ? 'added' : 'exists';
  };

  const setSubject = async (
    name: string,
    oidcSubject: string | undefined,
  ): Promise<SubjectResult> => {
    const owner = oidcSubject === undefined ? undefined : await findBySubject(oidcSubject);
    if (owner !== undefined && owner.name !== name) return 'exists';
    return change<never>(name, (stored) => {
      if (stored === undefined) return 'unknown';
      const { oidcSubject: _, ...rest } = stored;
      return {
        after: {
          ...rest,
          ...(oidcSubject !== undefined && { oidcSubject }),
          version: newVersion(),
        },
      };
    });
  };

  return {
    /** All users, ordered by name. */
    list,
    /** Finds the user with a subject. If two have it, the user of the configuration file counts. */
    findBySubject,

    find: async (name: string): Promise<User | undefined> => {
      const known = configured.get(name);
      if (known !== undefined || !isOperatorName(name)) return known;
      const stored = read(name, await redis.hget(key, name));
      return stored === undefined ? undefined : userOf(name, stored);
    },

    add: async (by: Operator, user: NewUser): Promise<AddResult> => {
      const error = findError(user);
      if (error !== undefined) return error;
      const { name, role, oidcSubject: subject } = user;
      const details = { role, ...(subject !== undefined && { subject }) };
      const entry = { ...doneBy(by), action: 'user-add', target: name, details } as const;
      return noted(
        audit,
        entry,
        () => add(user),
        (result) => result === 'added',
      );
    },

    /**
     * Removes a user, and before that the user's view, so that a later user of the same name does
     * not get it. Also removes a user that cannot be read because the master key has changed.
     */
    remove: (by: Operator, name: string) =>
      onUser(by, 'user-remove', name, {}, async () => {
        if (!configured.has(name)) await views.remove(name);
        return change<never>(name, () => ({ after: undefined }));
      }),

    /** Removes the views of former users, who are no longer in the configuration file. */
    forgetFormer: async (): Promise<void> => {
      const names = await views.names();
      const known = new Set([localName, ...configured.keys(), ...(await redis.hkeys(key))]);
      for (const name of names) {
        const isPerson = keepsProviderNames && isProviderName(name);
        if (!known.has(name) && !isPerson) await views.remove(name);
      }
    },

    setRole: (by: Operator, name: string, role: Role) =>
      onUser(by, 'user-role', name, { role }, () => update(name, { role })),

    /** @param subject Undefined removes the login with the phone. */
    setSubject: async (
      by: Operator,
      name: string,
      subject: string | undefined,
    ): Promise<SubjectResult> => {
      if (subject !== undefined && !isGoodSubject(subject)) return 'bad-subject';
      const details = subject === undefined ? { phone: 'removed' } : { subject };
      return onUser(by, 'user-phone', name, details, () => setSubject(name, subject));
    },
  };
};

export type Users = ReturnType<typeof createUsers>;
