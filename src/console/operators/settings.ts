/**
 * The members of `operations` in the configuration about operators. Users of the file cannot be
 * changed while the service runs; `paraph users` adds others.
 */
import { z } from 'zod';
import {
  allowance,
  type DeepReadonly,
  refuseRepeats,
  section,
  whole,
} from '../../registry/entry.ts';
import { localName, nobodyName, roles } from './operator.ts';
import type { OpenidProviderSettings } from './provider-people.ts';

const reservedNames: readonly string[] = [localName, nobodyName];

/** Lower case only, so that no two names look the same. */
const operatorName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._@-]{0,63}$/, {
    error:
      'must be 1 to 64 lower-case letters, digits, ., _, @ or -, beginning with a letter or digit',
  })
  .refine((name) => !reservedNames.includes(name), {
    error: 'is a name that the service uses itself',
  });

const operatorEntry = z.strictObject({
  name: operatorName.describe('Name of the user, also in the audit log.'),
  role: z.enum(roles).describe('What the user may do: each role includes the ones before it.'),
  oidcSubject: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'For a login with the phone; `paraph users subject` prints it for a number. Without it the user logs in by links and acts by tokens.',
    ),
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
  perAddress: allowance(20, 60).describe(
    'Failed logins by a link, and begun logins with the phone or at the provider, from one address.',
  ),
});

/** The configuration of operators. */
export interface OperatorSettings {
  readonly users: DeepReadonly<z.output<typeof operatorUsers>>;
  readonly sessions: DeepReadonly<z.output<typeof operatorSessions>>;
  readonly logins: DeepReadonly<z.output<typeof operatorLogins>>;
  readonly openidProvider?: OpenidProviderSettings | undefined;
}

export const isOperatorName = (name: string): boolean => operatorName.safeParse(name).success;
