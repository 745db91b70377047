/**
 * MSS_SignatureReq: asks a mobile user to sign.
 *
 * Both messaging modes submit the same transaction. `asynch` answers as soon as it is durable; `synch` waits for its
 * end. A caller that hangs up changes nothing: the transaction goes on and its status can be asked for.
 *
 * Source: interface section 4.1.
 */
import { fault } from '../protocol/fault.ts';
import type { Protocol } from '../protocol/parse.ts';
import { type ApplicationProviders, checkSignatureRequest } from '../registry/application-providers.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import type { App2App } from '../transactions/app2app.ts';
import { eligibility } from '../transactions/eligibility.ts';
import type { Transactions } from '../transactions/transactions.ts';
import {
  answer,
  authorizeCaller,
  faultAnswer,
  type OperationHandler,
  refusedCaller,
  refusedUnread,
  traceOf,
} from './operation.ts';
import { presentAccepted, presentSigned } from './present.ts';

export const createSign =
  (deps: {
    readonly protocol: Protocol;
    readonly providers: ApplicationProviders;
    readonly subscribers: SubscriberRegistry;
    readonly transactions: Transactions;
    readonly app2app: App2App;
    readonly now: () => number;
  }): OperationHandler =>
  async (body, evidence, turn) => {
    const { protocol, providers, subscribers, transactions, app2app, now } = deps;
    const parsed = protocol.parseSign(body);
    if (!parsed.ok) return refusedUnread(parsed.fault, turn);
    const { request, wire } = parsed.value;
    const authorized = authorizeCaller(providers, request.caller, evidence, turn);
    const provider = authorized instanceof Promise ? await authorized : authorized;
    if (!provider.ok) return refusedCaller(provider.fault, traceOf(request.caller));
    const allowed = checkSignatureRequest(provider.value, request);
    if (!allowed.ok) return faultAnswer(allowed.fault, traceOf(request.caller));
    const eligible = eligibility(request, subscribers);
    if (!eligible.ok) return faultAnswer(eligible.fault, traceOf(request.caller));
    const profile = eligible.value.chosen.answerProfile;

    if (request.messagingMode === 'asynch') {
      const { msspTransId } = await transactions.submit(wire);
      const { app2app: wanted } = request.services;
      const authUri = wanted && app2app.authUri(wanted.redirectUri, msspTransId, request.msisdn.number);
      return answer(
        presentAccepted({ request, msspTransId, profile, now: now() }, authUri),
        traceOf(request.caller, msspTransId),
      );
    }
    const { msspTransId, state } = await transactions.submitAndWait(request, wire, turn.waits);
    const ended = traceOf(request.caller, msspTransId);
    switch (state.kind) {
      case 'signed':
        return answer(presentSigned({ request, msspTransId, profile, now: now() }, state.signed), ended);
      case 'failed':
        return faultAnswer(state.fault, ended);
      case 'open':
        // No worker ended it in time: the service is at fault, not the user.
        return faultAnswer(fault(900), ended);
    }
  };
