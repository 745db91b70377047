/**
 * Turns the end of a transaction into what the token endpoint hands out.
 *
 * A request is settled by the next process that looks at it: at a poll, or before a ping. One
 * process stores how the login ended, with the id of the grant. To carry this out (evidence, grant,
 * the library's record) gives the same in every process and can be repeated, so a process that dies
 * leaves nothing half done.
 *
 * The library's `backchannelResult` is not used: it would call the client's notification endpoint
 * and wait for it each time, and lose the description of an error.
 */

import { fault } from '../../packages/protocol/src/fault.ts';
import type { OauthDeps } from '../../src/oauth/deps.ts';
import { keepGrant, signedEnding } from '../../src/oauth/evidence.ts';
import { toLoginError } from '../../src/oauth/login-failures.ts';
import { type LoginState, type StartedLogin, traceOf } from '../../src/oauth/logins.ts';
import type { Tenant } from '../../src/oauth/tenant.ts';
import { startLogin } from './begin.ts';
import { type BackchannelEnd, type BackchannelLogin, createBackchannelRecords } from './records.ts';

type EndState = Exclude<LoginState, { kind: 'open' }>;

/** A text that was only delivered proves nothing. */
const requireSignature = (state: EndState): EndState =>
  state.kind === 'signed' && state.evidence.cms === undefined
    ? { kind: 'failed', fault: fault(900) }
    : state;

const toEnd = (login: BackchannelLogin, state: EndState): BackchannelEnd =>
  state.kind === 'signed'
    ? signedEnding(state.evidence)
    : { how: 'failed', ...toLoginError(state.fault, traceOf(login)) };

export const createSettlement = ({
  settings,
  logins,
  now,
  log,
}: Pick<OauthDeps, 'settings' | 'logins' | 'now' | 'log'>) => {
  /**
   * After a crash before the start was stored: the same transaction, while a prompt makes sense.
   */
  const startAgain = async (
    tenant: Tenant,
    authReqId: string,
    login: BackchannelLogin,
  ): Promise<StartedLogin | EndState | undefined> => {
    if (now() >= login.begunAt + login.promptSeconds * 1000)
      return { kind: 'failed', fault: fault(208) };
    const start = await startLogin(logins, tenant, login);
    if (start.kind === 'busy') return undefined;
    if (start.kind === 'refused') return { kind: 'failed', fault: start.fault };
    const { kind: _, ...started } = start;
    await createBackchannelRecords(tenant.store, now).putLogin(authReqId, { ...login, started });
    return started;
  };

  const decide = async (tenant: Tenant, authReqId: string): Promise<BackchannelEnd | undefined> => {
    const records = createBackchannelRecords(tenant.store, now);
    const login = await records.readLogin(authReqId);
    if (login === undefined) return undefined;
    const started = login.started ?? (await startAgain(tenant, authReqId, login));
    if (started === undefined) return undefined;
    const state = 'kind' in started ? started : await logins.look(started, login);
    if (state.kind === 'open') return undefined;
    const ended = requireSignature(state);
    const { end, isFirst } = await records.putEnd(authReqId, login, toEnd(login, ended));
    if (isFirst) {
      log.audit({
        event: 'login ended',
        tenant: tenant.id,
        clientId: login.clientId,
        trace: traceOf(login),
        ...('msspTransId' in started && { msspTransId: started.msspTransId }),
        ...(end.how === 'failed' && { error: end.error, code: end.code }),
        ...(ended.kind === 'failed' && { fault: ended.fault.code }),
      });
    }
    return end;
  };

  const carryOut = async (
    tenant: Tenant,
    authReqId: string,
    end: BackchannelEnd,
  ): Promise<void> => {
    const provider = await tenant.provider();
    const request = await provider.BackchannelAuthenticationRequest.find(authReqId, {
      ignoreExpiration: true,
    });
    if (request === undefined || request.grantId !== undefined || request.error !== undefined)
      return;
    if (end.how === 'failed') {
      Object.assign(request, { error: end.error, errorDescription: end.description });
    } else {
      const { clientId = '', scope = 'openid' } = request;
      await keepGrant(tenant, end, { clientId, scope, seconds: settings.refreshTokenSeconds });
      const { acr, amr, at } = end.evidence;
      Object.assign(request, { grantId: end.grantId, acr, amr: [...amr], authTime: at });
    }
    // Last: from here on a poll finds everything.
    await request.save();
  };

  /** @returns Whether the request has its result. Can be repeated, by any number of processes. */
  return async (tenant: Tenant, authReqId: string): Promise<boolean> => {
    const ended = await createBackchannelRecords(tenant.store, now).readEnd(authReqId);
    const end = ended ?? (await decide(tenant, authReqId));
    if (end !== undefined) await carryOut(tenant, authReqId, end);
    return end !== undefined;
  };
};

export type Settle = ReturnType<typeof createSettlement>;
