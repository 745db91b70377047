/** Rules for addresses of the web. They judge text and never resolve or fetch anything. */
import { isLoopbackHost } from '../../packages/protocol/src/loopback.ts';

/**
 * @returns Undefined for a text that is not an absolute URL, and for a URL with user or password.
 */
const readUrl = (text: string): URL | undefined => {
  // The parser ignores spaces and line feeds; later comparisons of the text do not.
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : undefined;
};

/** Whether a text is an https address, or an http address of this machine. */
export const isSecureAddress = (text: string): boolean => {
  const url = readUrl(text);
  if (url === undefined || url.hash !== '' || text.includes('#')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
};

/** The words for an address that {@link isHttps} refuses. */
export const mustBeHttps = 'must be https, unless this is a sandbox';

/** The rule for addresses that the service itself calls. */
export const isHttps = (text: string, sandbox: boolean): boolean =>
  sandbox || /^https:/i.test(text);

/** The origin of a URL without path and query: `https://sign.example.com`. */
export const readOrigin = (text: string): string | undefined => {
  const url = readUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) return undefined;
  return url.pathname === '/' ? url.origin : undefined;
};

/**
 * An address of an app on the device: `com.example.app:/callback`. The scheme is a reversed domain
 * name with a dot, so no other app has it by accident (RFC 8252 7.1).
 */
export const isAppAddress = (text: string): boolean =>
  /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:/.test(text) &&
  readUrl(text) !== undefined &&
  !text.includes('#');

/** Whether an app may listen at this host. RFC 8252 7.3 allows three names of this machine. */
export const isListeningApp = (hostname: string): boolean =>
  /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);

const local = /^(http:\/\/([^/?#:@[\]]+|\[[^\]]*\]))(?::\d{1,5})?([/?][^#]*)?$/;

const withoutPort = (uri: string): string | undefined => {
  const [, origin = '', host = '', rest = ''] = local.exec(uri) ?? [];
  return isListeningApp(host) && URL.canParse(uri) ? `${origin}${rest}` : undefined;
};

/**
 * Redirect addresses must equal a registered one (RFC 9700 2.1). One on the user's own machine may
 * have any port (RFC 8252 7.3).
 */
export const isRegistered = (uri: string, registered: readonly string[]): boolean => {
  const given = withoutPort(uri);
  return (
    registered.includes(uri) ||
    (given !== undefined && registered.some((each) => withoutPort(each) === given))
  );
};
