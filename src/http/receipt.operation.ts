/**
 * MSS_ReceiptReq: shows the user a receipt on the phone that signed, and waits for what the user does with it.
 *
 * Whatever that is, the answer is 200: the user's reaction is in the extension, and only there.
 *
 * Source: interface section 4.3.
 */
import type { Protocol } from '../protocol/parse.ts';
import type { ApplicationProviders } from '../registry/application-providers.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import { testFault } from '../transactions/eligibility.ts';
import type { Receipts } from '../transactions/receipts.ts';
import { answer, createOperation, faultAnswer, type OperationHandler } from './operation.ts';
import { presentReceipt } from './present.ts';

export const createReceipt = ({
  protocol,
  providers,
  subscribers,
  receipts,
  now,
}: {
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly receipts: Receipts;
  readonly now: () => number;
}): OperationHandler =>
  createOperation({
    parse: protocol.parseReceipt,
    callerOf: (request) => request,
    providers,
    serve: async (request, { trace, turn }) => {
      const always = testFault(subscribers.find(request.msisdn.number));
      if (always !== undefined) return faultAnswer(always, trace);
      const sent = await receipts.send(request, turn.waits);
      if (!sent.ok) return faultAnswer(sent.fault, trace);
      const shown = request.extension === undefined ? undefined : sent.value;
      return answer(presentReceipt(request.caller, shown, now()), trace);
    },
  });
