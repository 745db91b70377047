/**
 * Codes by which a phone begins the login of a browser (src/oauth/interaction/device-start.ts).
 *
 * qr      For the camera of another device. It holds an HMAC under a secret of this login and the
 *         time, changes every three seconds and counts for fifteen. So a copy that is passed on by
 *         hand is too late.
 * device  For the phone in the same browser. It counts only together with a cookie that this browser
 *         got with it, so a copy in another browser is refused.
 *
 * A code is stored nowhere. It stands in the fragment of an address, which no server and no log
 * sees.
 */

import { createHmac } from 'node:crypto';
import { parse } from 'hono/utils/cookie';
import { isEqual } from '../../packages/pki/src/is-equal.ts';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import { deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type {
  DeviceStart,
  JoiningDevice,
  ShownLogin,
} from '../../src/oauth/interaction/device-start.ts';

type ReadCode = JoiningDevice['login'];
type Start = ReadCode['start'];

const slotMs = 3000;
/** The slots that a code is valid for: to unlock a phone and follow the link takes seconds. */
const lifeSlots: Readonly<Record<Start, number>> = { qr: 5, device: 20 };

const macBytes = 16;
const pattern =
  /^(q|d)\.([a-z0-9-]{1,32})\.([\w-]{1,64})\.(\d{1,3})\.([a-z0-9]{1,12})\.([\w-]{22})$/;

export type StartCodes = ReturnType<typeof createStartCodes>;

/** @param now The clock of this machine, milliseconds since the epoch. */
export const createStartCodes = (serviceKey: Uint8Array, now: () => number) => {
  // The same label as in earlier releases, because their processes may run beside this one.
  const key = deriveKey(serviceKey, 'paraph oidc forms');
  const slotNow = (): number => Math.floor(now() / slotMs);

  const macOf = ({ tenant, uid, round, start }: ReadCode, slot: string, cookie: string): string =>
    createHmac('sha256', deriveKey(key, `phone start ${tenant} ${uid}`))
      .update(`${start} ${round} ${slot} ${cookie}`)
      .digest()
      .subarray(0, macBytes)
      .toString('base64url');

  const write = (login: Omit<ReadCode, 'start'>, start: Start, cookie: string): string => {
    const { tenant, uid, round } = login;
    const slot = slotNow().toString(36);
    const mac = macOf({ tenant, uid, round, start }, slot, cookie);
    return [start === 'qr' ? 'q' : 'd', tenant, uid, round, slot, mac].join('.');
  };

  return {
    /** What a QR code says now. */
    forQr: (login: Omit<ReadCode, 'start'>): string => write(login, 'qr', ''),
    /** `cookie`: a new one, for the browser that opens the phone. */
    forDevice: (
      login: Omit<ReadCode, 'start'>,
    ): { readonly code: string; readonly cookie: string } => {
      const cookie = randomBytesOf(16).toString('base64url');
      return { code: write(login, 'device', cookie), cookie };
    },
    /** @returns Undefined for a code of others, of another browser, or of another time. */
    read: (code: string, cookie: string | undefined): ReadCode | undefined => {
      const [, kind, tenant = '', uid = '', round, slot = '', mac = ''] = pattern.exec(code) ?? [];
      if (kind === undefined) return undefined;
      const start = kind === 'q' ? 'qr' : 'device';
      const age = slotNow() - Number.parseInt(slot, 36);
      const read = { tenant, uid, round: Number(round), start } as const;
      const right = macOf(read, slot, start === 'device' ? (cookie ?? '') : '');
      if (!isEqual(mac, right)) return undefined;
      // The clock of the process that wrote it may be a little ahead.
      return age >= -1 && age < lifeSlots[start] ? read : undefined;
    },
  };
};

const cookieName = 'paraph-login';

/** Goes to the phone alone, for as long as its code counts. */
const browserCookie = (cookie: string, { origin }: ShownLogin): string => {
  const seconds = (lifeSlots.device * slotMs) / 1000;
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  return `${cookieName}=${cookie}; Path=/phone; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
};

const linkWith = ({ origin }: ShownLogin, code: string): string => `${origin}/phone#login=${code}`;

/** What the pages of logins show and send. */
export const createPhoneStart = (codes: StartCodes): DeviceStart => ({
  forQr: (login) => linkWith(login, codes.forQr(login)),
  forDevice: (login) => {
    const { code, cookie } = codes.forDevice(login);
    return { link: linkWith(login, code), cookie: browserCookie(cookie, login) };
  },
});

/**
 * Reads a code that a phone has got.
 *
 * @param cookies The Cookie header of its browser.
 * @returns Undefined for a code of others, of another browser, or of another time.
 */
export const readStartCode = (
  codes: StartCodes,
  code: string,
  cookies: string | undefined,
): ReadCode | undefined => codes.read(code, parse(cookies ?? '', cookieName)[cookieName]);
