/** Rules for addresses of the web. They judge text and never resolve or fetch anything. */
const loopbackName = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const isLoopbackHost = (hostname: string): boolean => loopbackName.test(hostname);

/** @returns Undefined for no absolute URL, and for one with a user or password. */
const readUrl = (text: string): URL | undefined => {
  // The parser ignores spaces and line feeds; later comparisons of the text do not.
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : undefined;
};

/** https, or http to this machine. */
export const isSecureAddress = (text: string): boolean => {
  const url = readUrl(text);
  if (url === undefined || url.hash !== '' || text.includes('#')) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
};

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
  /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:/.test(text) && readUrl(text) !== undefined && !text.includes('#');
