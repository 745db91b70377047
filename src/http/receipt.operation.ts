/**
 * MSS_ReceiptReq: shows a receipt on the phone that signed, and waits for the user's reaction. The
 * answer is 200 for any reaction; the extension says which.
 *
 * Source: interface section 4.3.
 */
import { testFault } from '../transactions/eligibility.ts';
import {
  answer,
  createOperation,
  faultAnswer,
  type OperationDeps,
  type OperationHandler,
} from './operation.ts';
import { presentReceipt } from './present.ts';

export const createReceipt = ({
  protocol,
  providers,
  subscribers,
  receipts,
  now,
}: OperationDeps): OperationHandler =>
  createOperation({
    parse: protocol.parseReceipt,
    callerOf: (request) => request,
    providers,
    serve: async (request, { trace, turn }) => {
      const always = testFault(await subscribers.find(request.msisdn.number));
      if (always !== undefined) return faultAnswer(always, trace);
      const sent = await receipts.send(request, turn.onAccepted);
      if (!sent.ok) return faultAnswer(sent.fault, trace);
      const shown = request.extension === undefined ? undefined : sent.value;
      return answer(presentReceipt(request.caller, shown, now()), trace);
    },
  });
