/**
 * Protects the forms against being sent by somebody else's page: each carries an HMAC over the interaction and the round
 * (`facts.ts`) for which it was made. The interaction's cookie alone would not do where a browser does not know SameSite.
 *
 * Pages are sent with `Referrer-Policy: no-referrer`, which makes browsers write `Origin: null` even for our own forms; so
 * that origin says nothing, and any other than ours says that the form is not ours.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const macOf = (key: Uint8Array, uid: string, round: number): Buffer =>
  createHmac('sha256', key).update(`form ${round} ${uid}`).digest();

/** `<round>.<43 base64url characters>` */
export const formToken = (key: Uint8Array, uid: string, round: number): string =>
  `${round}.${macOf(key, uid, round).toString('base64url')}`;

/** @returns The round for which the form was made; undefined when it is not one of this interaction's. */
export const roundOfForm = (key: Uint8Array, uid: string, token: string): number | undefined => {
  const [, round, mac] = /^(\d{1,3})\.([\w-]{43})$/.exec(token) ?? [];
  if (round === undefined || mac === undefined) return undefined;
  const given = Buffer.from(mac, 'base64url');
  const right = macOf(key, uid, Number(round));
  return given.length === right.length && timingSafeEqual(given, right) ? Number(round) : undefined;
};

/** @param origin That of the issuer. */
export const isFromOurPage = (
  {
    origin: sent,
    fetchSite,
  }: { readonly origin: string | undefined; readonly fetchSite: string | undefined },
  origin: string,
): boolean =>
  (sent === undefined || sent === 'null' || sent === origin) &&
  (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none');
