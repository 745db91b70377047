/**
 * Whether a client may be answered at an address: exactly as registered, letter by letter (RFC 9700 section 2.1).
 *
 * The one exception is an app that listens on this machine for its answer, on a port that it is given by the system
 * (RFC 8252 section 7.3). An app is, as for the library, whoever has an address of another scheme than http.
 */
import type { OauthClient } from '../../registry/oauth-client.ts';

const loopback = /^(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]))(?::\d{1,5})?([/?][^#]*)?$/;

const withoutPort = (uri: string): string | undefined => {
  const [matched, host = '', rest = ''] = loopback.exec(uri) ?? [];
  return matched !== undefined && URL.canParse(uri) ? `${host}${rest}` : undefined;
};

export const isRegistered = (uri: string, { redirectUris }: OauthClient): boolean => {
  if (redirectUris.includes(uri)) return true;
  if (redirectUris.every((registered) => /^https?:/.test(registered))) return false;
  const given = withoutPort(uri);
  return given !== undefined && redirectUris.some((registered) => withoutPort(registered) === given);
};
