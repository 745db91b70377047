/** What people get to see of the service: the names of applications, and how pages look. */
import type { Tenants } from '../oauth/tenant.ts';
import { loginApId } from '../registry/login-ap-id.ts';
import type { Core } from './core.ts';

/** Gives the public address of this service; undefined where this process does not know it. */
export type PublicUrl = () => string | undefined;

/**
 * Gives the name that people see for an AP_ID: of the application or, for a login, of the tenant.
 */
export const namesOf = ({
  configuration: { applicationProviders, oidc },
}: Pick<Core, 'configuration'>) => {
  const names = new Map([
    ...applicationProviders.map(({ id, name }) => [id, name ?? id] as const),
    ...oidc.tenants.map(({ id, name }) => [loginApId(id), name] as const),
  ]);
  return (apId: string): string => names.get(apId) ?? apId;
};

/** Gives the look of pages outside of a login: that of the first tenant. */
export const frameOf = (tenants: Tenants) => () => {
  const { settings, path } = tenants.main;
  return { tenantName: settings.name, branding: settings.branding, path };
};
