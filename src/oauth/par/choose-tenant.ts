/**
 * Which tenant a request is for: its address says so, or one of two headers at the first tenant's address. What is said more
 * than once has to agree.
 *
 * Source: interface section 4.5.
 */
import type { Tenant, Tenants } from '../tenant.ts';

export type TenantChoice =
  | { readonly ok: true; readonly tenant: Tenant }
  | { readonly ok: false; readonly reason: 'tenantUnknown' | 'tenantsDisagree' };

const unknown: TenantChoice = { ok: false, reason: 'tenantUnknown' };

/** @param fromPath Undefined at the first tenant's address, which is everybody's. */
export const chooseTenant = (
  tenants: Tenants,
  fromPath: Tenant | undefined,
  header: (name: 'tenant-id' | 'issuer') => string | undefined,
): TenantChoice => {
  const id = header('tenant-id');
  const issuer = header('issuer');
  if (id === undefined && issuer === undefined) return { ok: true, tenant: fromPath ?? tenants.main };
  const byId = id === undefined ? undefined : tenants.find(id);
  const byIssuer = issuer === undefined ? undefined : tenants.findByIssuer(issuer);
  if ((id !== undefined && byId === undefined) || (issuer !== undefined && byIssuer === undefined)) {
    return unknown;
  }
  const [tenant, ...others] = new Set([fromPath, byId, byIssuer].filter((each) => each !== undefined));
  if (others.length > 0) return { ok: false, reason: 'tenantsDisagree' };
  return tenant === undefined ? unknown : { ok: true, tenant };
};
