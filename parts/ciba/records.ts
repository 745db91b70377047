/**
 * What is stored of a backchannel login beside the library's own record; all of it in the tenant's
 * sealed store, until the request expires.
 *
 * backchannel      By auth_req_id: what the transaction is made of and, once it is durable, its id.
 * backchannel-end  By auth_req_id: how it ended. Written once, by the first process that sees it.
 * ping             By the login's reference: the auth_req_id. The queue of pings holds the
 *                  reference, so that no auth_req_id is stored in clear.
 */
import type { SignedEnding } from '../../src/oauth/evidence.ts';
import type { LoginError } from '../../src/oauth/login-failures.ts';
import type { LoginRequest, StartedLogin } from '../../src/oauth/logins.ts';
import type { SealedStore } from '../../src/redis/sealed-store.ts';

/** The reference is random, and not computed from the auth_req_id. */
export interface BackchannelLogin
  extends Omit<LoginRequest, 'tenant' | 'client' | 'scopes' | 'matchNumber' | 'code'> {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly promptSeconds: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Undefined until the transaction is durable. */
  readonly started: StartedLogin | undefined;
}

export type BackchannelEnd = SignedEnding | ({ readonly how: 'failed' } & LoginError);

/** Records outlive the request by this, so that a late poll reads the result and starts nothing. */
const marginSeconds = 60;

export const createBackchannelRecords = (store: SealedStore, now: () => number) => {
  const toTtl = ({ expiresAt }: BackchannelLogin): number =>
    (expiresAt - now()) / 1000 + marginSeconds;
  const readEnd = async (authReqId: string) =>
    (await store.get('backchannel-end', authReqId)) as BackchannelEnd | undefined;
  return {
    readEnd,
    /** @returns The end that counts, this one or an earlier one, and whether it is this one. */
    putEnd: async (authReqId: string, login: BackchannelLogin, end: BackchannelEnd) => {
      const isFirst = await store.putOnce('backchannel-end', authReqId, end, toTtl(login));
      return { end: isFirst ? end : ((await readEnd(authReqId)) ?? end), isFirst };
    },
    readLogin: async (authReqId: string) =>
      (await store.get('backchannel', authReqId)) as BackchannelLogin | undefined,
    putLogin: (authReqId: string, login: BackchannelLogin) =>
      store.put('backchannel', authReqId, login, toTtl(login)),
    readPing: async (reference: string) =>
      (await store.get('ping', reference)) as { readonly authReqId: string } | undefined,
    putPing: (login: BackchannelLogin, authReqId: string) =>
      store.put('ping', login.reference, { authReqId }, toTtl(login)),
  };
};
