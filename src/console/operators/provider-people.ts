/**
 * People who log in at an OpenID provider of the operator's own organisation. They are not users
 * here: their name and role come from claims of the ID token, at each login.
 *
 * The name gets a prefix that no user can have, so `provider:olga` is never taken for the user
 * `olga`, and has no access to that user's tokens and settings. The operator chooses the claim that
 * gives the name; people must not be able to change it themselves.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DeepReadonly } from '../../registry/entry.ts';
import { isSecureAddress } from '../../registry/web-address.ts';
import { includesRole, type Role, roles } from './operator.ts';

const claimName = z.string().min(1).max(255);

export const openidProvider = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(64)
    .default('your organisation')
    .describe('What the login page calls it: *Log in with …*.'),
  issuer: z
    .string()
    .max(512)
    .refine((text) => isSecureAddress(text) && !text.includes('?'), {
      error: 'must be an https URL without query or fragment, or http on this machine',
    })
    .describe('Its issuer, as its discovery document has it, to the character.'),
  clientId: z.string().min(1).max(255).describe('`client_id` of the console there.'),
  clientSecretFile: z.string().min(1).describe('File that holds the secret of this client.'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, { error: 'must be a scope' }))
    .default(['openid', 'profile'])
    .refine((scopes) => scopes.includes('openid'), { error: 'must have openid' })
    .describe('Scopes that are asked for.'),
  nameClaim: claimName
    .default('preferred_username')
    .describe('Claim of the ID token with the name of the person. One that people cannot change.'),
  roleClaim: claimName.describe(
    'Claim of the ID token with their groups or roles: a text, or a list of texts. A dot leads into an object: `realm_access.roles`.',
  ),
  roles: z
    .record(z.string().min(1).max(255), z.enum(roles))
    .refine((mapped) => Object.keys(mapped).length > 0, { error: 'must name a value at least' })
    .describe('Role here by value of that claim. Of several the highest counts.'),
});

export type OpenidProviderSettings = DeepReadonly<z.output<typeof openidProvider>>;

type Claims = Readonly<Record<string, unknown>>;

const namePrefix = 'provider:';
export const isProviderName = (name: string): boolean => name.startsWith(namePrefix);

/** Letters and digits of all languages, and the signs in e-mail addresses and names of people. */
const goodName = /^[\p{L}\p{N}][\p{L}\p{N}._@+'’ -]{0,126}[\p{L}\p{N}]$|^[\p{L}\p{N}]$/u;

/** A claim by its name or path. Some top-level names contain dots: `https://example.com/roles`. */
const claimAt = (claims: Claims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, part)
          ? (value as Claims)[part]
          : undefined,
      claims,
    );
};

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');

/**
 * person   The person may log in.
 * no-role  No value of the role claim is mapped to a role.
 * no-name  The name claim is missing, or is not usable as a name.
 */
export type ProviderPerson =
  | {
      readonly kind: 'person';
      readonly name: string;
      readonly role: Role;
      readonly subject: string;
    }
  | { readonly kind: 'no-role'; readonly name: string; readonly subject: string }
  | { readonly kind: 'no-name'; readonly subject: string };

/** @param claims The claims of a validated ID token. */
export const readProviderPerson = (
  { nameClaim, roleClaim, roles: mapped }: OpenidProviderSettings,
  claims: Claims & { readonly sub: string },
): ProviderPerson => {
  const { sub: subject } = claims;
  const found = claimAt(claims, nameClaim);
  const given = typeof found === 'string' ? found.normalize('NFC') : '';
  if (!goodName.test(given)) return { kind: 'no-name', subject };
  const name = `${namePrefix}${given}`;
  const values = textsIn(claimAt(claims, roleClaim));
  const theirs = values.flatMap((value) =>
    Object.hasOwn(mapped, value) ? (mapped[value] ?? []) : [],
  );
  const role = theirs.find((each) => theirs.every((other) => includesRole(each, other)));
  return role === undefined
    ? { kind: 'no-role', name, subject }
    : { kind: 'person', name, role, subject };
};

/**
 * The version of the settings. It changes with those that decide names and roles, and ends the
 * sessions of people of the provider.
 */
export const providerVersionOf = (settings: OpenidProviderSettings): string => {
  const { issuer, clientId, nameClaim, roleClaim, roles: mapped } = settings;
  return createHash('sha256')
    .update(JSON.stringify([issuer, clientId, nameClaim, roleClaim, Object.entries(mapped).sort()]))
    .digest('base64url');
};
