/**
 * A backchannel login as a transaction: everything that it is made of is in the record, so starting it again is the same
 * transaction and not a second prompt.
 */
import { fault } from '../../protocol/fault.ts';
import type { LoginStart, Logins } from '../logins.ts';
import type { Tenant } from '../tenant.ts';
import type { BackchannelLogin } from './records.ts';

export { traceOf } from '../interaction/login-trace.ts';

export const startLogin = async (
  logins: Logins,
  tenant: Tenant,
  login: BackchannelLogin,
): Promise<LoginStart> => {
  const client = tenant.clients.get(login.clientId);
  // The client was taken out of the configuration meanwhile.
  if (client === undefined) return { kind: 'refused', fault: fault(900) };
  const { msisdn, language, acrValues, scopes, dtbd, sessionCode, reference, begunAt, promptSeconds } = login;
  return logins.start({
    tenant,
    client,
    msisdn,
    language,
    acrValues,
    scopes: new Set(scopes),
    dtbd,
    sessionCode,
    // There is no page that could show a number beside it: the binding message is what a person compares here.
    matchNumber: undefined,
    reference,
    begunAt,
    promptSeconds,
  });
};
