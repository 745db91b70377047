/**
 * The activity `receipt` of workflows: an ordinary receipt (receipt.worker.ts) of the application.
 *
 * A second try finds the job of the first, by the token of the run. The job holds this token, and
 * the worker of the receipt answers with it. A job may also end without a turn. So the activity is
 * tried again after the deadline, and finds the end.
 */
import type { PromiseActorLogic } from 'xstate';
import type { ReceiptContext } from '../machines/receipt.machine.ts';
import { type ActivityArguments, activity, type InstanceInHand, later } from '../src/engine/define.ts';
import { BusyError, type Engine } from '../src/engine/engine.ts';
import type { InstanceEnd } from '../src/engine/turn.ts';
import { type Fault, fault, faultTable, parseFaultLine } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import { writeReceiptRequest } from '../src/protocol/write-request.ts';
import { shardFor } from '../src/transactions/answers.ts';
import {
  receiptJobDataSchema,
  receiptJobId,
  receiptJobResultSchema,
  type StoredReceipt,
} from '../src/transactions/contract.ts';
import { endingOf } from '../src/transactions/endings.ts';
import { fingerprintOf } from '../src/transactions/ids.ts';
import {
  createOrderReceipt,
  type ReceiptsOptions,
  unknownTransaction,
} from '../src/transactions/receipts.ts';
import type { ReceiptInput, ReceiptOutput } from '../src/workflows/service-activities.ts';
import {
  apIdOf,
  callerFor,
  isObject,
  lookAgainAfterMs,
  noInput,
  untilRedisAnswers,
} from './sign-activity.ts';

const failedBy = ({ code, detail }: Fault): ReceiptOutput => ({
  ...{ kind: 'failed', code, reason: faultTable[code].reason, detail },
});

/**
 * Tells the activity that waits for a receipt what came of it.
 *
 * @param engine Of workflows.
 */
export const createTellReceipted =
  (engine: Pick<Engine, 'answer'>) =>
  ({ data }: InstanceInHand): ((end: InstanceEnd) => Promise<void>) | undefined => {
    const { answerTo } = data as StoredReceipt;
    if (answerTo === undefined) return undefined;
    return async ({ record, failedReason }) => {
      const { receipt = 'unanswered' } = record.context as ReceiptContext;
      const output: ReceiptOutput =
        failedReason === undefined
          ? { kind: 'answered', receipt }
          : failedBy(parseFaultLine(failedReason) ?? fault(900));
      if ((await engine.answer(answerTo, { output })) === 'busy') throw new BusyError();
    };
  };

export const createReceiptActivity = (
  options: ReceiptsOptions & {
    readonly protocol: Protocol;
    /** Host part of the URIs of the request. */
    readonly authority: string;
    /** Of workflows. */
    readonly engine: Pick<Engine, 'find'>;
  },
): PromiseActorLogic<ReceiptOutput, ReceiptInput> => {
  const { find, shards, protocol, authority, engine, timeoutSeconds } = options;
  const order = createOrderReceipt(options);

  /** @returns Undefined while the receipt of this order has not ended. */
  const look = async (msspTransId: string, fingerprint: string): Promise<ReceiptOutput | undefined> => {
    const job = await shardFor(shards, msspTransId)?.receipts.jobs.read(receiptJobId(msspTransId));
    const ending = job && endingOf(job);
    if (ending === undefined) return undefined;
    if (receiptJobDataSchema.safeParse(job?.data).data?.fingerprint !== fingerprint) return undefined;
    if (ending.kind === 'failed') return failedBy(parseFaultLine(ending.failedReason) ?? fault(900));
    const { data } = receiptJobResultSchema.safeParse(ending.returnValue);
    return data === undefined ? failedBy(fault(900)) : { kind: 'answered', receipt: data.receipt };
  };

  const send = async (given: ActivityArguments<ReceiptInput>) => {
    const { input, instance, token } = given;
    if (!isObject(input)) return failedBy(noInput);
    const { msspTransId, text, language } = input;
    const { id: fingerprint } = fingerprintOf(token, 1);
    const before = await look(String(msspTransId), fingerprint);
    if (before !== undefined) return before;
    const view = await find(String(msspTransId));
    const apId = await apIdOf(engine, instance);
    if (view === undefined) return failedBy(fault(101, unknownTransaction));
    const caller = callerFor(given, { apId, authority });
    const msisdn = view.request.msisdn.number;
    // The same checks as over HTTP.
    const wire = writeReceiptRequest(caller, { msspTransId, msisdn, text, language });
    const parsed = protocol.parseReceipt(wire);
    if (!parsed.ok) return failedBy(parsed.fault);
    const ordered = await order(parsed.value, { fingerprint, answerTo: token });
    if (!ordered.ok) return failedBy(ordered.fault);
    return (ordered.value.hasEnded ? await look(msspTransId, fingerprint) : undefined) ?? later;
  };

  return activity<ReceiptInput, ReceiptOutput>(send, {
    ...untilRedisAnswers,
    // Otherwise a state that was never stored could have shown it.
    afterCommit: () => true,
    turnWaitsMs: () => 200,
    lookAgainMs: () => timeoutSeconds * 1000 + lookAgainAfterMs,
  });
};
