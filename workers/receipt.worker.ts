/**
 * The activities of a receipt (machines/receipt.machine.ts): show it on the phone that signed, and
 * add to the signature what the user did. A SIM shows one thing at a time, so a receipt waits until
 * the screen is free, and blocks it for signature requests.
 */
import {
  type ReceiptContext,
  type ReceiptInput,
  receiptMachine,
  receiptVersion,
  type Shown,
} from '../machines/receipt.machine.ts';
import { isOfLaterVersion, receipted, type SignatureRecord } from '../machines/record.ts';
import {
  activity,
  defineWorkflow,
  InputError,
  type InstanceInHand,
  type Later,
  later,
  type Workflow,
} from '../packages/engine/src/define.ts';
import { fault, faultLine } from '../packages/protocol/src/fault.ts';
import type { Protocol } from '../packages/protocol/src/parse.ts';
import type { SignatureRequest } from '../packages/protocol/src/requests.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import { serviceOrigin } from '../src/sscd/device.ts';
import type { Devices } from '../src/sscd/devices.ts';
import {
  type ReceiptJobData,
  type ReceiptJobResult,
  receiptJobDataSchema,
  receiptJobId,
  receiptJobName,
  type StoredReceipt,
  signatureRecordSchema,
} from '../src/transactions/contract.ts';
import { type DeviceLock, deviceKey } from '../src/transactions/device-lock.ts';
import { sscdOf } from '../src/transactions/eligibility.ts';
import { endingOf } from '../src/transactions/endings.ts';
import { shardOf } from '../src/transactions/ids.ts';
import type { ReadEnd } from '../src/transactions/outcomes.ts';
import type { Shard } from '../src/transactions/shards.ts';
import type { StepLog } from './log.ts';
import type { Upstreams } from './upstreams.ts';

/** A receipt is shown once, also after a replay of its job. */
const attempt = 1;

interface Signed {
  readonly record: SignatureRecord;
  readonly request: SignatureRequest;
}

const refused = (detail: string): Shown => ({ kind: 'refused', fault: fault(101, detail) });

const dataOf = ({ data }: InstanceInHand): ReceiptJobData => data as ReceiptJobData;

export const createReceiptWorkflow = (options: {
  readonly shard: Shard;
  readonly place: { readonly shard: number; readonly shards: number };
  readonly protocol: Protocol;
  readonly providers: Pick<ApplicationProviders, 'checkReceipt'>;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly deviceLock: DeviceLock;
  readonly upstreams: Upstreams;
  readonly readEnd: ReadEnd;
  readonly log: StepLog;
}): Workflow => {
  const {
    shard,
    place,
    protocol,
    providers,
    subscribers,
    devices,
    deviceLock,
    upstreams,
    readEnd,
    log,
  } = options;
  const { jobs } = shard.signatures;

  /**
   * The signature of a receipt. Other services can add receipts, but only one with a signature is
   * shown.
   *
   * @returns Undefined when there is none.
   * @throws For a signature that only a later release understands.
   */
  const readSigned = async (instance: InstanceInHand): Promise<Signed | undefined> => {
    const { msspTransId, msisdn } = dataOf(instance);
    const stored = await jobs.read(msspTransId);
    if (isOfLaterVersion(Object(stored?.returnValue).version))
      throw new Error('The signature of a receipt is of a later release');
    const record = signatureRecordSchema.safeParse(stored?.returnValue).data;
    const written = stored?.data as { readonly MSS_SignatureReq?: unknown } | undefined;
    const request = protocol.parseStoredSign(written?.MSS_SignatureReq);
    const ending = stored && endingOf(stored);
    if (record === undefined || ending === undefined || !request.ok) return undefined;
    if (request.value.msisdn.number !== msisdn) return undefined;
    const of = { id: msspTransId, request: request.value, endedAt: stored?.finishedOn };
    const state = await readEnd(ending, of);
    if (state.kind !== 'signed' || state.signed.signature === undefined) return undefined;
    return { record, request: request.value };
  };

  const originOf = (instance: InstanceInHand): string | undefined => {
    const { gateway } = dataOf(instance);
    return gateway === undefined ? undefined : serviceOrigin(gateway);
  };

  const holder = ({ id }: InstanceInHand) => ({ transactionId: id, attempt });

  const show = async (
    instance: InstanceInHand,
    deadline: number,
    answerTo: string,
  ): Promise<Shown | Later> => {
    const { msspTransId, msisdn, message, language, sscdId } = dataOf(instance);
    const signed = await readSigned(instance);
    if (signed === undefined)
      return refused('A receipt follows a successful signature of the same number');
    const allowed = providers.checkReceipt(signed.request.caller.apId, message);
    if (!allowed.ok) return { kind: 'refused', fault: allowed.fault };
    const subscriber = await subscribers.find(msisdn);
    const sscd = sscdOf(subscriber, sscdId);
    if (sscd === undefined) return { kind: 'answered', receipt: 'unanswered' };
    const device = devices.deviceFor({ method: sscd.kind, sscd });
    if (device.screen && sscd.kind === 'sim') {
      const held = await deviceLock.claim(deviceKey(msisdn, sscd.id), holder(instance), deadline);
      if (held !== undefined) return { kind: 'not-now' };
    }
    const result = await device.receipt({
      transactionId: msspTransId,
      apId: signed.request.caller.apId,
      answerTo,
      msisdn,
      subscriber,
      sscd,
      message,
      language: language ?? subscriber?.language,
      deadline,
      upstream: signed.record.outcome?.upstream,
    });
    if (result.kind === 'later') return later;
    if (result.kind !== 'unreachable') return result;
    log.unreachable(msspTransId, attempt, 1, result.cause, signed.request);
    return { kind: 'not-now' };
  };

  /** The first receipt stands. After a crash it is written again. */
  const tellSignature = async (
    instance: InstanceInHand,
    {
      receipt,
      at,
    }: { readonly receipt: NonNullable<ReceiptContext['receipt']>; readonly at: number },
  ): Promise<void> => {
    const { msspTransId } = dataOf(instance);
    const signed = await readSigned(instance);
    // Its retention is over.
    if (signed === undefined) return;
    await jobs.amend(msspTransId, receipted(signed.record, receipt, at));
    log.receipted(msspTransId, receipt, signed.request);
  };

  const instanceIn = (args: unknown): InstanceInHand =>
    (args as { readonly instance: InstanceInHand }).instance;

  return defineWorkflow({
    name: receiptJobName,
    version: receiptVersion,
    // The transaction tells of it.
    journal: false,
    chart: receiptMachine.provide({
      actors: {
        show: activity<{ readonly deadline: number }, Shown>(
          ({ input, instance, token }) => show(instance, input.deadline, token),
          {
            gate: {
              turn: (_, instance) => {
                const origin = originOf(instance);
                if (origin === undefined) return { kind: 'place', end: () => undefined };
                return upstreams.turn(origin, dataOf(instance).apId ?? '');
              },
              verdictOf: (output) => ((output as Shown).kind === 'not-now' ? 'failed' : 'answered'),
            },
            turnWaitsMs: (_, instance) => (originOf(instance) === undefined ? 10_000 : 0),
          },
        ),
      },
      actions: {
        tellSignature: (args, told) => tellSignature(instanceIn(args), told) as never,
        releaseScreen: (args) => {
          const { msisdn, sscdId } = dataOf(instanceIn(args));
          const released =
            sscdId === undefined
              ? undefined
              : deviceLock.release(deviceKey(msisdn, sscdId), holder(instanceIn(args)));
          return released as never;
        },
      },
    }),
    input: {
      parse: (given): StoredReceipt => {
        const data = receiptJobDataSchema.safeParse(given);
        const { answerTo } = Object(given) as { readonly answerTo?: unknown };
        if (data.success)
          return { ...data.data, ...(typeof answerTo === 'string' && { answerTo }) };
        const path = data.error.issues[0]?.path.map(String).join('.') ?? '';
        const detail = `The job data is not usable: ${path || 'it must be an object'}`;
        throw new InputError(faultLine(fault(101, detail)));
      },
    },
    begin: ({ msspTransId, timeoutSeconds }: ReceiptJobData, { id, at, addedAt }): ReceiptInput => {
      if (shardOf(msspTransId, place.shards) !== place.shard || id !== receiptJobId(msspTransId)) {
        const detail = 'The job id must be that of the receipt of a transaction of this shard';
        throw new InputError(faultLine(fault(101, detail)));
      }
      return { at, timeoutSeconds, deadline: addedAt + timeoutSeconds * 1000 };
    },
    // Reads the data, so that a job whose data was spoiled by another program fails.
    check: (_, { data }) => void data,
    resultOf: ({ context }): ReceiptJobResult => ({
      receipt: (context as ReceiptContext).receipt ?? 'unanswered',
    }),
    reasonOf: (context: ReceiptContext) => faultLine(context.fault ?? fault(900)),
  });
};
