/**
 * MSS_StatusReq: the state of a transaction. Transactions of other APs, unknown and expired ones
 * get the same answer.
 *
 * Source: interface section 4.2.
 */
import { fault } from '../../packages/protocol/src/fault.ts';
import { unknownTransaction } from '../transactions/receipts.ts';
import {
  answer,
  createOperation,
  endAnswer,
  faultAnswer,
  type OperationDeps,
  type OperationHandler,
} from './operation.ts';
import { asStatusFault, presentStatus } from './present.ts';

export const createStatus = ({
  protocol,
  providers,
  transactions,
  now,
}: Pick<OperationDeps, 'protocol' | 'providers' | 'transactions' | 'now'>): OperationHandler =>
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
          return endAnswer(asStatusFault(view.state.fault), trace);
      }
    },
  });
