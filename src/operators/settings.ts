/**
 * The members of `operations` in the configuration that say who runs the service. Users of the file
 * cannot be changed while the service runs; `paraph users` adds others.
 */
import { z } from 'zod';
import { allowance, type DeepReadonly, refuseRepeats, section, whole } from '../registry/entry.ts';
import { storedPassword } from '../registry/passwords.ts';
import { localName, nobodyName, roles } from './operator.ts';

const reservedNames: readonly string[] = [localName, nobodyName];

/** Lower case only, so that no two names look the same. */
const operatorName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._@-]{0,63}$/, {
    error: 'must be 1 to 64 lower-case letters, digits, ., _, @ or -, beginning with a letter or digit',
  })
  .refine((name) => !reservedNames.includes(name), { error: 'is a name that the service uses itself' });

const operatorEntry = z
  .strictObject({
    name: operatorName.describe('Name to log in with, also in the audit log.'),
    role: z.enum(roles).describe('What the user may do: each role includes the ones before it.'),
    passwordHash: storedPassword
      .optional()
      .describe('Stored form of the password. Without it there is no login by password.'),
    oidcSubject: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('For a login with the phone; `paraph users subject` prints it for a number.'),
  })
  .refine(({ passwordHash, oidcSubject }) => passwordHash !== undefined || oidcSubject !== undefined, {
    error: 'must have a passwordHash or an oidcSubject',
  });

export const operatorUsers = z
  .array(operatorEntry)
  .superRefine(
    refuseRepeats(
      ['name', 'oidcSubject'],
      (key, first) => `is the same as operations.users[${first}].${key}`,
    ),
  );

export const operatorSessions = section({
  idleSeconds: whole(60, 86_400, 1800).describe('An unused session ends after this time.'),
  absoluteSeconds: whole(60, 604_800, 43_200).describe('Every session ends after this time.'),
});

export const operatorLogins = section({
  perAddress: allowance(20, 60).describe('Failed logins and begun logins with the phone, from one address.'),
  perNameAndAddress: allowance(10, 300).describe('Failed logins by password for one name from one address.'),
  perName: allowance(100, 300).describe('Failed logins by password for one name from all addresses.'),
});

/** What the configuration says of operators. */
export interface OperatorSettings {
  readonly users: DeepReadonly<z.output<typeof operatorUsers>>;
  readonly sessions: DeepReadonly<z.output<typeof operatorSessions>>;
  readonly logins: DeepReadonly<z.output<typeof operatorLogins>>;
}

export const isOperatorName = (name: string): boolean => operatorName.safeParse(name).success;
