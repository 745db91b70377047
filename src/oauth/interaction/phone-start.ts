/**
 * Begins a login from the phone: whoever begins it at a browser lets their own phone join it. A
 * number alone proves nothing about the browser, so somebody who knows it could begin a login and
 * hope that its owner confirms it.
 *
 * qr      The page shows a code for the camera of another device. It holds an HMAC under a secret
 *         of this login and the time, changes every three seconds and counts for fifteen. So a copy
 *         that is passed on by hand is too late.
 * device  A button opens the phone in the same browser. The code counts only together with a cookie
 *         that this browser got with it, so a copy in another browser is nothing.
 *
 * A code also names the round of the login (facts.ts), and a prompt begins the next one: it can be
 * used once. Only the phone that joined can then sign (`logins.ts`).
 */

import { createHmac } from 'node:crypto';
import { parse } from 'hono/utils/cookie';
import { isEqual } from '../../pki/is-equal.ts';
import { randomBytesOf } from '../../pki/random.ts';
import { deriveKey } from '../../pki/sealed-json.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import type { OauthDeps } from '../deps.ts';
import type { PhoneStart } from '../evidence.ts';
import type { Tenant } from '../tenant.ts';
import type { Beginning } from './begin.ts';
import { isCurrent, progressOf } from './facts.ts';
import { findVisit } from './visit.ts';

const slotMs = 3000;
/** How long a code counts. To unlock a phone and to follow the link takes some seconds. */
const lifeSlots: Readonly<Record<PhoneStart, number>> = { qr: 5, device: 20 };

const macBytes = 16;
const pattern =
  /^(q|d)\.([a-z0-9-]{1,32})\.([\w-]{1,64})\.(\d{1,3})\.([a-z0-9]{1,12})\.([\w-]{22})$/;

interface Login {
  readonly tenant: Pick<Tenant, 'id'>;
  readonly uid: string;
}

interface ReadCode {
  readonly tenant: string;
  readonly uid: string;
  readonly round: number;
  readonly start: PhoneStart;
}

export type StartCodes = ReturnType<typeof createStartCodes>;

/** @param key Of the forms of logins. */
export const createStartCodes = (key: Uint8Array, now: () => number) => {
  const slotNow = (): number => Math.floor(now() / slotMs);

  const macOf = ({ tenant, uid, round, start }: ReadCode, slot: string, cookie: string): string =>
    createHmac('sha256', deriveKey(key, `phone start ${tenant} ${uid}`))
      .update(`${start} ${round} ${slot} ${cookie}`)
      .digest()
      .subarray(0, macBytes)
      .toString('base64url');

  const write = (
    { tenant: { id }, uid }: Login,
    round: number,
    start: PhoneStart,
    cookie: string,
  ): string => {
    const slot = slotNow().toString(36);
    const mac = macOf({ tenant: id, uid, round, start }, slot, cookie);
    return [start === 'qr' ? 'q' : 'd', id, uid, round, slot, mac].join('.');
  };

  return {
    /** What a QR code says now. */
    forQr: (login: Login, round: number): string => write(login, round, 'qr', ''),
    /** `cookie`: a new one, for the browser that opens the phone. */
    forDevice: (
      login: Login,
      round: number,
    ): { readonly code: string; readonly cookie: string } => {
      const cookie = randomBytesOf(16).toString('base64url');
      return { code: write(login, round, 'device', cookie), cookie };
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
export const browserCookie = (cookie: string, secure: boolean): string => {
  const seconds = (lifeSlots.device * slotMs) / 1000;
  const attributes = `Path=/phone; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  return `${cookieName}=${cookie}; ${attributes}`;
};

/** A phone that joins, and the browser that it runs in. */
export interface JoiningPhone {
  readonly code: string;
  /** The Cookie header of the browser. */
  readonly cookies: string | undefined;
  /** Digits without plus. */
  readonly msisdn: string;
  /** SHA-256 of its certificate, base64url. */
  readonly certificateHash: string;
  readonly acceptLanguage: string | undefined;
  readonly address: Source;
}

/**
 * joined    The phone is asked. `returnTo`: where this browser goes on, when it is the login's.
 * unknown   The code is none of ours, of another browser, too old or used; or the login is over.
 * number    The application expects another person.
 */
export type Joined =
  | { readonly kind: 'joined'; readonly returnTo: string | undefined }
  | { readonly kind: 'unknown' | 'number' | 'limited' | 'busy' };

export type Join = (phone: JoiningPhone) => Promise<Joined>;

export const createJoin =
  (
    codes: StartCodes,
    beginning: Beginning,
    { tenants, isTestNumber, now }: Pick<OauthDeps, 'tenants' | 'isTestNumber' | 'now'>,
  ): Join =>
  async ({ code, cookies, msisdn, certificateHash, ...browser }: JoiningPhone): Promise<Joined> => {
    const read = codes.read(code, parse(cookies ?? '', cookieName)[cookieName]);
    const tenant = read && tenants.find(read.tenant);
    const visit = tenant && (await findVisit(tenant, read.uid, browser, { isTestNumber, now }));
    if (read === undefined || visit === undefined || visit.client.phoneStart === 'off')
      return { kind: 'unknown' };
    const { uid, offer, facts } = visit;
    if (!isCurrent(progressOf(await facts.read(uid)), read.round)) return { kind: 'unknown' };
    // A test number, too: somebody has made it their own.
    if (!offer.manualInput && !offer.hints.some((hint) => hint.msisdn === msisdn))
      return { kind: 'number' };
    const { round, start } = read;
    const phone = { start, certificateHash };
    const error = await beginning.begin(visit, { round, method: 'sign', msisdn, phone });
    if (error !== undefined) return { kind: error.problem === 'busy' ? 'busy' : 'limited' };
    // Another phone, or a number, may have been first.
    const { attempt } = progressOf(await facts.read(uid));
    if (attempt?.phone?.certificateHash !== certificateHash) return { kind: 'unknown' };
    return { kind: 'joined', returnTo: start === 'device' ? visit.pagePath : undefined };
  };
