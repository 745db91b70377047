/**
 * From the end of a transaction to what the token endpoint hands out.
 *
 * Nobody has to be there when a person signs: whoever comes next, a client that polls or a process that is about to ping,
 * looks at the transaction and settles the request. Of several at the same time one writes down how it has ended, the grant's
 * name included; carrying that out (evidence, grant, the library's record) is the same for all of them and can be repeated, so
 * a process that dies in between leaves nothing half done.
 *
 * The library's `backchannelResult` is not used: it would wait for the client's notification endpoint, call it each time, and
 * lose the description of an error.
 */
import { fault } from '../../protocol/fault.ts';
import type { OauthDeps } from '../deps.ts';
import { keepGrant, signedEnding } from '../evidence.ts';
import { errorOfFault } from '../login-failures.ts';
import { type LoginState, type StartedLogin, traceOf } from '../logins.ts';
import type { Tenant } from '../tenant.ts';
import { startLogin } from './begin.ts';
import { type BackchannelEnd, type BackchannelLogin, createBackchannelRecords } from './records.ts';

type Looked = Exclude<LoginState, { kind: 'open' }>;

/** A text that was only delivered proves nothing. */
const checked = (state: Looked): Looked =>
  state.kind === 'signed' && state.evidence.cms === undefined ? { kind: 'failed', fault: fault(900) } : state;

const endOf = (login: BackchannelLogin, state: Looked): BackchannelEnd =>
  state.kind === 'signed'
    ? signedEnding(state.evidence)
    : { how: 'failed', ...errorOfFault(state.fault, traceOf(login)) };

export const createSettlement = ({
  settings,
  logins,
  now,
  log,
}: Pick<OauthDeps, 'settings' | 'logins' | 'now' | 'log'>) => {
  const recordsOf = (tenant: Tenant) => createBackchannelRecords(tenant.store, now);

  /** The process that was to start it has died in the middle: the same transaction, while a prompt makes sense. */
  const startAgain = async (
    tenant: Tenant,
    authReqId: string,
    login: BackchannelLogin,
  ): Promise<StartedLogin | Looked | undefined> => {
    if (now() >= login.begunAt + login.promptSeconds * 1000) return { kind: 'failed', fault: fault(208) };
    const start = await startLogin(logins, tenant, login);
    switch (start.kind) {
      case 'busy':
        return undefined;
      case 'refused':
        return { kind: 'failed', fault: start.fault };
      case 'started': {
        const { kind: _, ...started } = start;
        await recordsOf(tenant).putLogin(authReqId, { ...login, started });
        return started;
      }
    }
  };

  const decide = async (tenant: Tenant, authReqId: string): Promise<BackchannelEnd | undefined> => {
    const records = recordsOf(tenant);
    const login = await records.login(authReqId);
    if (login === undefined) return undefined;
    const started = login.started ?? (await startAgain(tenant, authReqId, login));
    if (started === undefined) return undefined;
    const state = 'kind' in started ? started : await logins.look(started, login);
    if (state.kind === 'open') return undefined;
    const ended = checked(state);
    const { end, isFirst } = await records.end(authReqId, login, endOf(login, ended));
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

  const carryOut = async (tenant: Tenant, authReqId: string, end: BackchannelEnd): Promise<void> => {
    const provider = await tenant.provider();
    const request = await provider.BackchannelAuthenticationRequest.find(authReqId, {
      ignoreExpiration: true,
    });
    if (request === undefined || request.grantId !== undefined || request.error !== undefined) return;
    if (end.how === 'failed') {
      Object.assign(request, { error: end.error, errorDescription: end.description });
    } else {
      const { clientId = '', scope = 'openid' } = request;
      await keepGrant(tenant, end, { clientId, scope, seconds: settings.refreshTokenSeconds });
      const { grantId, evidence } = end;
      Object.assign(request, {
        grantId,
        acr: evidence.acr,
        amr: [...evidence.amr],
        authTime: evidence.at,
      });
    }
    // Last: from here on a poll finds everything.
    await request.save();
  };

  /**
   * @returns Whether the request has its result. Safe to call any number of times, by any number of processes.
   * @throws When Redis is unreachable.
   */
  return async (tenant: Tenant, authReqId: string): Promise<boolean> => {
    const end = (await recordsOf(tenant).ended(authReqId)) ?? (await decide(tenant, authReqId));
    if (end === undefined) return false;
    await carryOut(tenant, authReqId, end);
    return true;
  };
};

export type Settle = ReturnType<typeof createSettlement>;
