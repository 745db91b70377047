/**
 * MSS_SignatureReq: asks a mobile user to sign.
 *
 * Both messaging modes submit the same transaction. `asynch` answers as soon as it is durable;
 * `synch` waits for its end. The transaction goes on when the caller hangs up.
 *
 * Source: interface section 4.1.
 */
import { fault } from '../../packages/protocol/src/fault.ts';
import { checkSignatureRequest } from '../registry/application-providers.ts';
import { eligibilityOf, refusedNumber } from '../transactions/eligibility.ts';
import {
  answer,
  createOperation,
  endAnswer,
  faultAnswer,
  type OperationDeps,
  type OperationHandler,
} from './operation.ts';
import { presentSignature } from './present.ts';

export const createSign = ({
  protocol,
  providers,
  subscribers,
  transactions,
  app2app,
  now,
}: OperationDeps): OperationHandler =>
  createOperation({
    parse: protocol.parseSign,
    callerOf: ({ request }) => request,
    providers,
    serve: async ({ request, wire }, { provider, trace, turn }) => {
      // Monitoring uses the test number without the prefix of the AP.
      const found = subscribers.find(request.msisdn.number);
      const subscriber = found instanceof Promise ? await found : found;
      const refused = refusedNumber(subscriber);
      if (refused !== undefined) return faultAnswer(refused, trace);
      const allowed = checkSignatureRequest(provider, request);
      if (!allowed.ok) return faultAnswer(allowed.fault, trace);
      const eligible = eligibilityOf(request, subscriber);
      if (!eligible.ok) return faultAnswer(eligible.fault, trace);
      const profile = eligible.value.chosen.answerProfile;

      if (request.messagingMode === 'asynch') {
        const { msspTransId } = await transactions.submit(wire);
        const { app2app: wanted } = request.services;
        const authUri =
          wanted && app2app.authUri(wanted.redirectUri, msspTransId, request.msisdn.number);
        const accepted = presentSignature({ request, msspTransId, profile, now: now(), authUri });
        return answer(accepted, { ...trace, msspTransId });
      }
      const { msspTransId, state } = await transactions.submitAndWait(
        request,
        wire,
        turn.onAccepted,
      );
      const ended = { ...trace, msspTransId };
      switch (state.kind) {
        case 'signed':
          return answer(
            presentSignature({ request, msspTransId, profile, now: now() }, state.signed),
            ended,
          );
        case 'failed':
          return endAnswer(state.fault, ended);
        case 'open':
          // No worker ended it in time: the service is at fault, not the user.
          return endAnswer(fault(900), ended);
      }
    },
  });
