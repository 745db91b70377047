/**
 * Logins that a device begins: whoever begins one at a browser lets their own device join it. A
 * number alone proves nothing about the browser, so somebody who knows it could begin a login and
 * hope that its owner confirms it.
 *
 * qr      The page shows a code for the camera of another device.
 * device  A button opens the device in the same browser.
 *
 * A part has the devices. It writes the codes and reads them again; only then it joins. A code names
 * the round of the login (facts.ts), and a prompt begins the next one: it can be used once. Only the
 * device that joined can then sign (`logins.ts`).
 */
import type { OauthClient } from '../../registry/oauth-client.ts';
import type { Source } from '../../registry/rate-limiter.ts';
import type { OauthDeps } from '../deps.ts';
import type { PhoneStart } from '../evidence.ts';
import type { Beginning } from './begin.ts';
import { isCurrent, progressOf } from './facts.ts';
import { findVisit } from './visit.ts';

/** A login whose page is shown. */
export interface ShownLogin {
  /** Id of the tenant. */
  readonly tenant: string;
  readonly uid: string;
  readonly round: number;
  /** `https://sign.example.com` */
  readonly origin: string;
}

export interface DeviceStart {
  /** What a QR code says now: an address that the device opens. */
  forQr(login: ShownLogin): string;
  /** The address to which the browser of the page goes, and the value of its `Set-Cookie`. */
  forDevice(login: ShownLogin): { readonly link: string; readonly cookie: string };
}

/** A device that joins, by a code that was read. */
export interface JoiningDevice {
  readonly login: Pick<ShownLogin, 'tenant' | 'uid' | 'round'> & { readonly start: PhoneStart };
  /** Digits without plus. */
  readonly msisdn: string;
  /** SHA-256 of its certificate, base64url. */
  readonly certificateHash: string;
  readonly acceptLanguage: string | undefined;
  readonly address: Source;
}

/**
 * joined    The device is asked. `returnTo`: where its browser goes on, when it is the login's.
 * unknown   The code is used, or the login is over.
 * number    The application expects another person.
 */
export type Joined =
  | { readonly kind: 'joined'; readonly returnTo: string | undefined }
  | { readonly kind: 'unknown' | 'number' | 'limited' | 'busy' };

export type JoinLogin = (device: JoiningDevice) => Promise<Joined>;

/** What a client wants, where no part has such devices: a login by number, unless it refuses that. */
export const startRuleOf = (
  { phoneStart }: Pick<OauthClient, 'phoneStart'>,
  start: DeviceStart | undefined,
): OauthClient['phoneStart'] =>
  start === undefined && phoneStart === 'offered' ? 'off' : phoneStart;

export const createJoin =
  (
    beginning: Beginning,
    { tenants, isTestNumber, now }: Pick<OauthDeps, 'tenants' | 'isTestNumber' | 'now'>,
  ): JoinLogin =>
  async ({ login, msisdn, certificateHash, ...browser }) => {
    const { round, start } = login;
    const tenant = tenants.find(login.tenant);
    const visit = tenant && (await findVisit(tenant, login.uid, browser, { isTestNumber, now }));
    if (visit === undefined || visit.client.phoneStart === 'off') return { kind: 'unknown' };
    const { uid, offer, facts } = visit;
    if (!isCurrent(progressOf(await facts.read(uid)), round)) return { kind: 'unknown' };
    // Also for a test number: a person has enrolled a phone for it.
    if (!offer.manualInput && !offer.hints.some((hint) => hint.msisdn === msisdn))
      return { kind: 'number' };
    const phone = { start, certificateHash };
    const error = await beginning.begin(visit, { round, method: 'sign', msisdn, phone });
    if (error !== undefined) return { kind: error.problem === 'busy' ? 'busy' : 'limited' };
    // Another device, or a number, may have been first.
    const { attempt } = progressOf(await facts.read(uid));
    if (attempt?.phone?.certificateHash !== certificateHash) return { kind: 'unknown' };
    return { kind: 'joined', returnTo: start === 'device' ? visit.pagePath : undefined };
  };
