/** What every page knows, whatever it says. */
import type { LoginLanguage, OauthBranding } from '../../registry/oauth-client.ts';

export interface PageFrame {
  readonly language: LoginLanguage;
  readonly tenantName: string;
  readonly branding: OauthBranding;
  /** Path of the tenant, without a slash at its end: `/oidc`. */
  readonly path: string;
  /** Who asks; absent where that is not known. */
  readonly clientName?: string;
}
