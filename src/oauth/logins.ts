/**
 * Logins, with and without a browser. Each is one transaction of the signature workflow, for an
 * application provider that exists inside this service only. At its end the signature is verified
 * again: over the text of this login, up to our root, by the right number. So write access to the
 * queue is not enough to log in as another person.
 */
import { hash } from 'node:crypto';
import { createBoundedCache } from '../../packages/pki/src/bounded-cache.ts';
import { type Verification, verifySignature } from '../../packages/pki/src/verify.ts';
import { type Fault, fault } from '../../packages/protocol/src/fault.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import { bytesToSign } from '../../packages/protocol/src/requests.ts';
import { writeSignRequest } from '../../packages/protocol/src/write-request.ts';
import type { PageLanguage } from '../http/pages/languages.ts';
import { loginApId } from '../registry/login-ap-id.ts';
import type { AcrValue, OauthClient } from '../registry/oauth-client.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import { eligibility } from '../transactions/eligibility.ts';
import type { SignedView, TransactionView } from '../transactions/outcomes.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { UpstreamTrust } from '../transactions/verify-outcome.ts';
import type { JoinedPhone, LoginEvidence } from './evidence.ts';
import { findAcr, findMethod, listAmr, profileFor } from './evidence.ts';
import { codeText, fillLoginText, loginTextFor } from './pages/session-text.ts';
import type { Tenant } from './tenant.ts';

export interface LoginRequest {
  readonly tenant: Tenant;
  readonly client: OauthClient;
  /** Digits without plus. */
  readonly msisdn: string;
  readonly language: PageLanguage;
  /** What the client asked for, best first. */
  readonly acrValues: readonly AcrValue[];
  readonly scopes: ReadonlySet<string>;
  /** The client's text, in place of the configured one. */
  readonly dtbd: string | undefined;
  /** Shown by the browser and by the phone. */
  readonly sessionCode: string;
  /** Two digits, for clients with number matching. */
  readonly matchNumber: string | undefined;
  /**
   * Names the login. The same reference and instant give the same transaction, not a new prompt.
   */
  readonly reference: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
  /** Delivers this one-time password by text message instead of asking for a signature. */
  readonly code?: string | undefined;
  /** Shortens the configured time of the prompt. */
  readonly promptSeconds?: number | undefined;
}

export interface StartedLogin {
  readonly msspTransId: string;
  /** When the prompt expires; milliseconds since the epoch. */
  readonly deadline: number;
  /** What the phone shows, and what is signed. */
  readonly text: string;
}

/** What a transaction must be about to count for a login. */
export interface ExpectedLogin {
  readonly reference: string;
  readonly msisdn: string;
  readonly acrValues: readonly AcrValue[];
  /** The only one that may sign; undefined for any of the number. */
  readonly phone?: JoinedPhone | undefined;
}

/**
 * started  The transaction is durable.
 * refused  The number is unknown, or has no device that fits.
 * busy     The service is overloaded.
 */
export type LoginStart =
  | ({ readonly kind: 'started' } & StartedLogin)
  | { readonly kind: 'refused'; readonly fault: Fault }
  | { readonly kind: 'busy' };

export type LoginState =
  | { readonly kind: 'open' }
  | { readonly kind: 'signed'; readonly evidence: LoginEvidence }
  | { readonly kind: 'failed'; readonly fault: Fault };

export type Logins = ReturnType<typeof createLogins>;

/** The name of a login on the page, in the log and in the client's error. */
export const traceOf = ({ reference }: { readonly reference: string }): string =>
  reference.slice(-8);

export interface LoginsOptions {
  readonly protocol: Protocol;
  readonly transactions: Transactions;
  readonly subscribers: SubscriberRegistry;
  /** Host part of the profile and service URIs. */
  readonly authority: string;
  readonly promptSeconds: number;
  /** Roots (DER) of our own certificates. */
  readonly trust: () => Promise<readonly Uint8Array[]>;
  readonly serialNumberOf: (msisdn: string) => Promise<string>;
  /** Roots (DER) of the certificates of another service. */
  readonly upstreamTrust?: UpstreamTrust;
  /** True when there is no room for more transactions of this application provider. */
  readonly busy: (apId: string) => boolean;
  readonly now: () => number;
}

const textOf = (request: LoginRequest): string => {
  const { client, tenant, language, dtbd, sessionCode, matchNumber, code } = request;
  if (code !== undefined) return codeText(language, { client: client.name, code });
  const template = dtbd ?? loginTextFor(language, client.loginText, tenant.settings.loginText);
  return fillLoginText(template, {
    client: client.name,
    session: sessionCode,
    number: matchNumber,
  });
};

/**
 * A transaction from the queue could be a planted one, over another text that the same person has
 * signed.
 */
const isAbout = (
  { request }: TransactionView,
  { text }: StartedLogin,
  { reference, msisdn }: ExpectedLogin,
): boolean =>
  request.caller.apTransId === reference &&
  request.msisdn.number === msisdn &&
  request.data.kind === 'text' &&
  request.data.text === text;

/** The page that shows a signature and the way back to the client look at it within seconds. */
const maxVerifications = 200;

export const createLogins = (options: LoginsOptions) => {
  const { protocol, transactions, subscribers, authority, promptSeconds, busy, now } = options;
  const { trust, upstreamTrust, serialNumberOf } = options;
  const verifications = createBoundedCache<Verification>(maxVerifications);

  /**
   * What was found good is not verified again with the same roots, for a minute: certificates end.
   */
  const verify = async (
    cms: string,
    data: Uint8Array,
    gateway: string | undefined,
  ): Promise<Verification> => {
    const roots = gateway === undefined ? await trust() : (upstreamTrust?.(gateway) ?? []);
    const at = new Date(now());
    const parts = [Buffer.from(cms, 'base64'), data, ...roots].map((part) =>
      hash('sha256', part, 'base64'),
    );
    const name = [Math.floor(now() / 60_000), ...parts].join(' ');
    const verification = verifications.get(name, () =>
      verifySignature(Buffer.from(cms, 'base64'), data, { trust: roots, at }),
    );
    if (!verification.ok) verifications.delete(name);
    return verification;
  };

  const bodyOf = (request: LoginRequest, text: string, timeoutSeconds: number): object => {
    const { tenant, msisdn, language, acrValues, scopes, reference, begunAt, code } = request;
    const caller = {
      dialect: { authority },
      apId: loginApId(tenant.id),
      apTransId: reference,
      instant: new Date(begunAt),
    };
    return writeSignRequest(caller, 'asynch', {
      msisdn: `+${msisdn}`,
      text,
      profile: code === undefined ? profileFor(acrValues) : 'MID/v1/OtpProfileText',
      timeoutSeconds,
      language,
      geofencing: code === undefined && scopes.has('mid_location'),
    });
  };

  const evidenceOf = async (
    { request, endedAt }: TransactionView,
    signed: SignedView,
    { acrValues: requested, phone }: ExpectedLogin,
  ): Promise<LoginEvidence | undefined> => {
    const method = findMethod(signed);
    const acr = findAcr(requested, method);
    if (acr === undefined) return undefined;
    const located = signed.geofencing !== undefined && !('errorCode' in signed.geofencing);
    const common = {
      msisdn: request.msisdn.number,
      at: Math.floor((endedAt ?? now()) / 1000),
      acr,
      amr: listAmr(method, located, phone?.start),
      location: signed.geofencing,
    };
    if (signed.signature === undefined)
      return { ...common, serialNumber: undefined, cms: undefined };
    const { upstream } = signed;
    const verification = await verify(
      signed.signature,
      bytesToSign(request.data),
      upstream?.gateway,
    );
    if (!verification.ok) return undefined;
    const { serialNumber, certificate } = verification.signer;
    if (phone !== undefined && hash('sha256', certificate, 'base64url') !== phone.certificateHash)
      return undefined;
    // A good signature of another person does not count. Which number has which serial number
    // at another service is known there alone.
    const isTheirs =
      upstream !== undefined || serialNumber === (await serialNumberOf(request.msisdn.number));
    if (!isTheirs) return undefined;
    return { ...common, serialNumber, cms: signed.signature };
  };

  return {
    /** @throws When Redis is unreachable; the login can be started again. */
    start: async (request: LoginRequest): Promise<LoginStart> => {
      if (busy(loginApId(request.tenant.id))) return { kind: 'busy' };
      const timeoutSeconds = Math.min(promptSeconds, request.promptSeconds ?? promptSeconds);
      const text = textOf(request);
      const parsed = protocol.parseSign(bodyOf(request, text, timeoutSeconds));
      if (!parsed.ok) return { kind: 'refused', fault: parsed.fault };
      const eligible = await eligibility(parsed.value.request, subscribers);
      if (!eligible.ok) return { kind: 'refused', fault: eligible.fault };
      const { msspTransId } = await transactions.submitOnce(parsed.value.wire);
      return {
        kind: 'started',
        msspTransId,
        text,
        deadline: request.begunAt + timeoutSeconds * 1000,
      };
    },

    /** A transaction that is gone, or is about something else, has failed with 900. */
    look: async (started: StartedLogin, expected: ExpectedLogin): Promise<LoginState> => {
      const view = await transactions.find(started.msspTransId);
      if (view === undefined || !isAbout(view, started, expected)) {
        return { kind: 'failed', fault: fault(900) };
      }
      switch (view.state.kind) {
        case 'open':
          return { kind: 'open' };
        case 'failed':
          return { kind: 'failed', fault: view.state.fault };
        case 'signed': {
          const evidence = await evidenceOf(view, view.state.signed, expected);
          return evidence === undefined
            ? { kind: 'failed', fault: fault(900) }
            : { kind: 'signed', evidence };
        }
      }
    },

    /**
     * Resolves at the end, at a time in milliseconds since the epoch, or when the signal aborts.
     */
    ended: transactions.waitForEnd,

    /** Cancels the prompt, if it is still there: the transaction fails with 401. */
    cancel: async (msspTransId: string): Promise<void> => {
      // A login is never replayed, so its first attempt is the only one.
      await transactions.answer(msspTransId, 1, { kind: 'fault', fault: fault(401) });
    },
  };
};
