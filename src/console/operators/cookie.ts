/**
 * The cookies of the console. Scripts cannot read them.
 *
 * The session cookie is `Strict`: only pages of the console send it. The cookie of a login with the
 * phone is `Lax`, because the provider sends the browser back, often from another site. Over https
 * it has the prefix `__Host-`, so that a neighbour (`other.example.com`) cannot plant the login of
 * another person.
 *
 * Source: RFC 6265bis sections 4.1.2.7 (SameSite) and 4.1.3.2 (`__Host-`).
 */
const sessionCookieName = 'paraph_admin';

const attributes = (secure: boolean): string =>
  `Path=/admin; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;

/** A `Set-Cookie` header. The cookie ends with the browser. @param secure True behind https. */
export const sessionCookie = (handle: string, secure: boolean): string =>
  `${sessionCookieName}=${handle}; ${attributes(secure)}`;

export const endedSessionCookie = (secure: boolean): string =>
  `${sessionCookieName}=; Max-Age=0; ${attributes(secure)}`;

/** Several cookies of one name count as none: a neighbour may have planted one. */
const readCookie = (header: string | undefined, wanted: string): string | undefined => {
  const values = (header?.split(';') ?? []).flatMap((pair) => {
    const [name, value] = pair.split('=').map((part) => part.trim());
    return name === wanted && value ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
};

/** @param header The header `Cookie`. @returns The handle; undefined when there is none. */
export const readSessionCookie = (header: string | undefined): string | undefined =>
  readCookie(header, sessionCookieName);

const loginCookieName = (secure: boolean): string =>
  secure ? '__Host-paraph_login' : 'paraph_login';

const loginAttributes = (secure: boolean): string =>
  `Path=/${secure ? '' : 'admin/login'}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

/** The `Set-Cookie` header of a pending login. */
export const loginCookie = (handle: string, seconds: number, secure: boolean): string =>
  `${loginCookieName(secure)}=${handle}; Max-Age=${seconds}; ${loginAttributes(secure)}`;

export const endedLoginCookie = (secure: boolean): string =>
  `${loginCookieName(secure)}=; Max-Age=0; ${loginAttributes(secure)}`;

/** @param header The header `Cookie`. @returns The handle; undefined when there is none. */
export const readLoginCookie = (header: string | undefined, secure: boolean): string | undefined =>
  readCookie(header, loginCookieName(secure));
