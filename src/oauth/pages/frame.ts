/** What every page knows, whatever it says. */
import type { LoginLanguage } from '../../registry/oauth-client.ts';
import type { OauthBranding } from '../../registry/oauth-settings.ts';

export interface PageFrame {
  readonly language: LoginLanguage;
  readonly tenantName: string;
  readonly branding: OauthBranding;
  /** Path of the tenant, without a slash at its end: `/oidc`. */
  readonly path: string;
  /** Who asks; absent where that is not known. */
  readonly clientName?: string;
}
