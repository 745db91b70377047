import { z } from 'zod';
import { consoleClientId } from '../registry/console-client.ts';
import { type AcrValue, acrValues } from '../registry/oauth-client.ts';

/** `operations.openid`: the people who run the service log in to the console with their phones. */

/** Whoever runs the service signs: a password by text message would not do. */
const signed = acrValues.filter((value) => value !== 'mid_al2_any') as Exclude<AcrValue, 'mid_al2_any'>[];

export const operationsOpenid = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Users log in to the console with the phone. It is offered when one of them has an `oidcSubject`, and in a sandbox.',
      ),
    tenant: z
      .string()
      .min(1)
      .optional()
      .describe(
        '`id` of the tenant at which they log in. Without it: the first. Every `oidcSubject` is of it.',
      ),
    acrValues: z
      .array(z.enum(signed))
      .min(1)
      .default(['mid_al4_any'])
      .describe('Levels of which the login must have one, best first.'),
  })
  .prefault({});

interface Values {
  readonly oidc: {
    readonly tenants: readonly {
      readonly id: string;
      readonly clients: readonly { readonly id: string }[];
    }[];
  };
  readonly operations: {
    readonly openid: z.output<typeof operationsOpenid>;
    readonly users: readonly { readonly passwordHash?: string | undefined }[];
  };
}

/** At which tenant the console's people log in. */
export const openidTenantOf = ({ oidc: { tenants }, operations: { openid } }: Values): string =>
  openid.tenant ?? tenants[0]?.id ?? '';

interface Problem {
  readonly path: PropertyKey[];
  readonly message: string;
}

/** Where it and the rest of the file do not fit each other. */
export const openidProblems = ({ oidc: { tenants }, operations }: Values): readonly Problem[] => {
  const { enabled, tenant } = operations.openid;
  const problems: Problem[] = [];
  if (tenant !== undefined && tenants.every(({ id }) => id !== tenant)) {
    problems.push({
      path: ['operations', 'openid', 'tenant'],
      message: 'must be the id of one of oidc.tenants',
    });
  }
  for (const [at, { clients }] of tenants.entries()) {
    const index = clients.findIndex(({ id }) => id === consoleClientId);
    if (index === -1) continue;
    problems.push({
      path: ['oidc', 'tenants', at, 'clients', index, 'id'],
      message: 'is one that the service uses itself',
    });
  }
  for (const [index, { passwordHash }] of operations.users.entries()) {
    if (enabled || passwordHash !== undefined) continue;
    problems.push({
      path: ['operations', 'users', index],
      message: 'must have a passwordHash, because operations.openid.enabled is false',
    });
  }
  return problems;
};
