import type { Configuration } from 'oidc-provider';

/** Cookies of different tenants reach each other's paths, so their names differ. */
const cookieNames = (tenantId: string) => ({
  session: `paraph_${tenantId}_session`,
  interaction: `paraph_${tenantId}_login`,
  resume: `paraph_${tenantId}_resume`,
});

export const providerCookies = ({
  tenantId,
  issuer,
  path,
  cookieKeys,
}: {
  readonly tenantId: string;
  readonly issuer: string;
  readonly path: string;
  readonly cookieKeys: readonly string[];
}): NonNullable<Configuration['cookies']> => {
  const cookie = { httpOnly: true, sameSite: 'lax', secure: issuer.startsWith('https:') } as const;
  return {
    names: cookieNames(tenantId),
    keys: [...cookieKeys],
    long: { ...cookie, path: `${path}/`, signed: true },
    short: { ...cookie, signed: true },
  };
};
