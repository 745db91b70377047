/**
 * The activity `receipt` of workflows: an ordinary receipt (receipt.worker.ts) of the application.
 *
 * A second try finds the job of the first, by the token of the run. The job holds this token, and
 * the worker of the receipt answers with it. A job may also end without a turn. So the activity is
 * tried again after the deadline, and finds the end. Both believe only the job that the run has
 * made (asked-run.ts).
 */
import type { PromiseActorLogic } from 'xstate';
import type { ReceiptContext } from '../../../machines/receipt.machine.ts';
import {
  type ActivityArguments,
  activity,
  type InstanceInHand,
  later,
} from '../../../packages/engine/src/define.ts';
import { BusyError, type Engine } from '../../../packages/engine/src/engine.ts';
import type { InstanceEnd } from '../../../packages/engine/src/turn.ts';
import {
  type Checked,
  type Fault,
  fault,
  faultTable,
  parseFaultLine,
} from '../../../packages/protocol/src/fault.ts';
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import type { ReceiptRequest } from '../../../packages/protocol/src/requests.ts';
import { writeReceiptRequest } from '../../../packages/protocol/src/write-request.ts';
import {
  type ReceiptJobData,
  receiptJobDataSchema,
  receiptJobId,
  receiptJobResultSchema,
  type StoredReceipt,
} from '../../../src/transactions/contract.ts';
import { endingOf } from '../../../src/transactions/endings.ts';
import { fingerprintOf } from '../../../src/transactions/ids.ts';
import { notBelieved } from '../../../src/transactions/outcomes.ts';
import {
  createOrderReceipt,
  type ReceiptsOptions,
  unknownTransaction,
} from '../../../src/transactions/receipts.ts';
import { shardFor } from '../../../src/transactions/shards.ts';
import type { FindTransaction } from '../../../src/transactions/transactions.ts';
import {
  type ReceiptInput,
  type ReceiptOutput,
  serviceActivities,
} from '../charts/service-activities.ts';
import {
  apIdOf,
  callerFor,
  type FindRun,
  isObject,
  lookAgainAfterMs,
  noInput,
} from './asked-run.ts';
import { untilRedisAnswers } from './until-redis.ts';

const failedBy = ({ code, detail }: Fault): ReceiptOutput => ({
  kind: 'failed',
  code,
  reason: faultTable[code].reason,
  detail,
});

interface ReceiptRuns {
  readonly find: FindTransaction;
  readonly protocol: Protocol;
  /** Host part of the URIs of the request. */
  readonly authority: string;
  /** The engine of workflows. */
  readonly engine: Pick<Engine, 'find'>;
}

type Run = Pick<ActivityArguments<unknown>, 'input' | 'now'> & {
  readonly instance: Pick<InstanceInHand, 'id' | 'data'>;
};

/** The request of a run. */
const requestOf = (
  { protocol, authority }: ReceiptRuns,
  run: Run,
  { apId, msisdn }: { readonly apId: string; readonly msisdn: string },
): Checked<ReceiptRequest> => {
  const { msspTransId, text, language } = run.input as ReceiptInput;
  const caller = callerFor(run, { apId, authority });
  // The same checks as over HTTP.
  return protocol.parseReceipt(
    writeReceiptRequest(caller, { msspTransId, msisdn, text, language }),
  );
};

/**
 * Whether a job is the one that a run has made: of its signature and its text, for its application.
 * Whether the number is that of the signature, the worker of the receipt has checked.
 */
const createIsOf =
  (options: ReceiptRuns) =>
  async (run: Run, token: string, data: ReceiptJobData): Promise<boolean> => {
    if (!isObject(run.input)) return false;
    const apId = apIdOf(run.instance);
    const asked = requestOf(options, run, { apId, msisdn: data.msisdn });
    const isSame =
      asked.ok &&
      data.apId === apId &&
      data.fingerprint === fingerprintOf(token, 1).id &&
      data.msspTransId === asked.value.msspTransId &&
      data.message === asked.value.message;
    if (!isSame) return false;
    const view = await options.find(data.msspTransId);
    // Its retention may be over.
    return view === undefined || view.request.caller.apId === apId;
  };

/**
 * Tells the activity that waits for a receipt what came of it.
 *
 * @param options.findRun Of the engine of workflows, and so is `engine`.
 * @param options.onError Gets {@link notBelieved} for a job that names a run which is not its own.
 */
export const createTellReceipted = (
  options: ReceiptRuns & {
    readonly engine: Pick<Engine, 'answer' | 'find'>;
    readonly findRun: FindRun;
    readonly now: () => number;
    readonly onError: (error: Error) => void;
  },
) => {
  const { engine, findRun, now, onError } = options;
  const isOf = createIsOf(options);

  return ({ id, data }: InstanceInHand): ((end: InstanceEnd) => Promise<void>) | undefined => {
    const stored = data as StoredReceipt;
    const { answerTo } = stored;
    if (answerTo === undefined) return undefined;
    return async ({ record, failedReason }) => {
      const run = await findRun(answerTo);
      // The state was left meanwhile.
      if (run === undefined) return;
      const isNamed = run.mayBe(serviceActivities.receipt);
      if (!isNamed || !(await isOf({ ...run, now: now() }, answerTo, stored))) {
        onError(notBelieved(id));
        return;
      }
      const { receipt = 'unanswered' } = record.context as ReceiptContext;
      const output: ReceiptOutput =
        failedReason === undefined
          ? { kind: 'answered', receipt }
          : failedBy(parseFaultLine(failedReason) ?? fault(900));
      if ((await engine.answer(answerTo, { output }, run.instance)) === 'busy')
        throw new BusyError();
    };
  };
};

export const createReceiptActivity = (
  options: ReceiptRuns & ReceiptsOptions,
): PromiseActorLogic<ReceiptOutput, ReceiptInput> => {
  const { find, shards, timeoutSeconds } = options;
  const order = createOrderReceipt(options);
  const isOf = createIsOf(options);

  /** @returns Undefined while the receipt of this run has not ended. */
  const look = async (
    given: ActivityArguments<ReceiptInput>,
  ): Promise<ReceiptOutput | undefined> => {
    const msspTransId = String(given.input.msspTransId);
    const job = await shardFor(shards, msspTransId)?.receipts.jobs.read(receiptJobId(msspTransId));
    const ending = job && endingOf(job);
    const { data } = receiptJobDataSchema.safeParse(job?.data);
    if (ending === undefined || data === undefined || !(await isOf(given, given.token, data)))
      return undefined;
    if (ending.kind === 'failed')
      return failedBy(parseFaultLine(ending.failedReason) ?? fault(900));
    const { data: result } = receiptJobResultSchema.safeParse(ending.returnValue);
    return result === undefined
      ? failedBy(fault(900))
      : { kind: 'answered', receipt: result.receipt };
  };

  const send = async (given: ActivityArguments<ReceiptInput>) => {
    const { input, instance, token } = given;
    if (!isObject(input)) return failedBy(noInput);
    const before = await look(given);
    if (before !== undefined) return before;
    const view = await find(String(input.msspTransId));
    const apId = apIdOf(instance);
    if (view === undefined) return failedBy(fault(101, unknownTransaction));
    const asked = requestOf(options, given, { apId, msisdn: view.request.msisdn.number });
    if (!asked.ok) return failedBy(asked.fault);
    const ordered = await order(asked.value, {
      fingerprint: fingerprintOf(token, 1).id,
      answerTo: token,
    });
    if (!ordered.ok) return failedBy(ordered.fault);
    return (ordered.value.hasEnded ? await look(given) : undefined) ?? later;
  };

  return activity<ReceiptInput, ReceiptOutput>(send, {
    ...untilRedisAnswers,
    // Otherwise a state that was never stored could have shown it.
    afterCommit: () => true,
    turnWaitsMs: () => 200,
    lookAgainMs: () => timeoutSeconds * 1000 + lookAgainAfterMs,
  });
};
