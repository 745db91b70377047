/** Rules that several keys share for addresses of the web. They judge text, and never resolve or fetch anything. */

const loopbackName = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** This machine, as the host part of a URL spells it. */
const isLoopbackHost = (hostname: string): boolean => loopbackName.test(hostname);

/** @returns Undefined for what is no absolute URL, or names a user or a password. */
const readUrl = (text: string): URL | undefined => {
  // The parser forgives spaces and line feeds; whoever compares the text letter by letter later on does not.
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : undefined;
};

/** https; or http to this machine, where nobody listens in. */
export const isSecureAddress = (text: string): boolean => {
  const url = readUrl(text);
  if (url === undefined || url.hash !== '' || text.includes('#')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
};

/** The origin of a URL that has nothing else: `https://sign.example.com`. Undefined for any other text. */
export const readOrigin = (text: string): string | undefined => {
  const url = readUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) return undefined;
  return url.pathname === '/' ? url.origin : undefined;
};

/**
 * An address of an app on the device: `com.example.app:/callback`. The scheme has a dot, as RFC 8252 section 7.1 wants it:
 * it is a domain name turned round, and so no other app's by accident.
 */
export const isAppAddress = (text: string): boolean =>
  /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:/.test(text) && readUrl(text) !== undefined && !text.includes('#');
