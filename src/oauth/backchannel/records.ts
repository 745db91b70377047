/**
 * What is remembered of a backchannel login beside the library's own record of the request; all of it in the tenant's
 * sealed store, until the request expires.
 *
 * backchannel      By auth_req_id: what the transaction is made of, and once it is durable, which it is.
 * backchannel-end  By auth_req_id: how it has ended. Written once, by whoever sees the end first.
 * ping             By the login's reference: whom to tell. The queue of pings names the reference, so that the auth_req_id
 *                  stands nowhere in the open.
 */
import type { AcrValue, LoginLanguage } from '../../registry/oauth-client.ts';
import type { SignedEnding } from '../evidence.ts';
import type { LoginError } from '../login-failures.ts';
import type { StartedLogin } from '../logins.ts';
import type { SealedStore } from '../sealed-store.ts';

export interface BackchannelLogin {
  readonly clientId: string;
  /** Digits without plus; also the account id. */
  readonly msisdn: string;
  readonly language: LoginLanguage;
  readonly acrValues: readonly AcrValue[];
  readonly scopes: readonly string[];
  readonly dtbd: string | undefined;
  readonly sessionCode: string;
  /** AP_TransID of the transaction. Random, and not computed from the auth_req_id. */
  readonly reference: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
  readonly promptSeconds: number;
  /** When the request expires; milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Undefined until the transaction is durable. */
  readonly started: StartedLogin | undefined;
}

export type BackchannelEnd = SignedEnding | ({ readonly how: 'failed' } & LoginError);

interface PingRecord {
  readonly authReqId: string;
}

/** How much longer than the request: whoever is late reads why, and does not begin anew. */
const marginSeconds = 60;

export const createBackchannelRecords = (store: SealedStore, now: () => number) => {
  const ttlOf = ({ expiresAt }: BackchannelLogin): number => (expiresAt - now()) / 1000 + marginSeconds;
  return {
    putLogin: (authReqId: string, login: BackchannelLogin) =>
      store.put('backchannel', authReqId, login, ttlOf(login)),
    login: async (authReqId: string) =>
      (await store.get('backchannel', authReqId)) as BackchannelLogin | undefined,
    /** @returns The end that counts: this one, or that of somebody who was first; and whether it is this one. */
    end: async (authReqId: string, login: BackchannelLogin, end: BackchannelEnd) => {
      if (await store.putOnce('backchannel-end', authReqId, end, ttlOf(login))) return { end, isFirst: true };
      const first = (await store.get('backchannel-end', authReqId)) as BackchannelEnd | undefined;
      return { end: first ?? end, isFirst: false };
    },
    ended: async (authReqId: string) =>
      (await store.get('backchannel-end', authReqId)) as BackchannelEnd | undefined,
    putPing: (login: BackchannelLogin, ping: PingRecord) =>
      store.put('ping', login.reference, ping, ttlOf(login)),
    ping: async (reference: string) => (await store.get('ping', reference)) as PingRecord | undefined,
  };
};
