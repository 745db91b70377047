/**
 * MSS_StatusReq: what became of an asynchronous request.
 *
 * An AP sees its own transactions only. A foreign one, an unknown one and one whose retention is over are answered with
 * the same words.
 *
 * Source: interface section 4.2.
 */
import { fault } from '../protocol/fault.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { ApplicationProviders } from '../registry/application-providers.ts';
import { unknownTransaction } from '../transactions/receipts.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { answer, createOperation, faultAnswer, type OperationHandler } from './operation.ts';
import { asStatusFault, presentStatus } from './present.ts';

export const createStatus = ({
  protocol,
  providers,
  transactions,
  now,
}: {
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly transactions: Transactions;
  readonly now: () => number;
}): OperationHandler =>
  createOperation({
    parse: protocol.parseStatus,
    callerOf: (request) => request,
    providers,
    serve: async ({ caller, msspTransId }, { trace }) => {
      const view = await transactions.findOwn(caller.apId, msspTransId);
      if (view === undefined) return faultAnswer(fault(101, unknownTransaction), trace);
      switch (view.state.kind) {
        case 'open':
          return answer(presentStatus(caller, view, undefined, now()), trace);
        case 'signed':
          return answer(presentStatus(caller, view, view.state.signed, now()), trace);
        case 'failed':
          return faultAnswer(asStatusFault(view.state.fault), trace);
      }
    },
  });
