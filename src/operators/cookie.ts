/**
 * The cookie of a session. It is sent to the console alone, by pages of the console alone, and no script reads it.
 */
const sessionCookieName = 'paraph_admin';

const attributes = (secure: boolean): string =>
  `Path=/admin; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;

/** A `Set-Cookie` header. It ends with the browser; the session itself ends earlier. @param secure Behind https. */
export const sessionCookie = (handle: string, secure: boolean): string =>
  `${sessionCookieName}=${handle}; ${attributes(secure)}`;

export const endedSessionCookie = (secure: boolean): string =>
  `${sessionCookieName}=; Max-Age=0; ${attributes(secure)}`;

/** @param header `Cookie`. @returns The handle; undefined when there is none. */
export const readSessionCookie = (header: string | undefined): string | undefined => {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.split('=').map((part) => part.trim());
    if (name === sessionCookieName && value) return value;
  }
  return undefined;
};
