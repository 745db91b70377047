/**
 * The transaction of a run of the activity `sign` (sign-activity.ts): its request, its result, and
 * how the worker of the signature tells this result.
 */
import { isDeepStrictEqual } from 'node:util';
import type { SignatureContext } from '../../../machines/signature.machine.ts';
import type { InstanceInHand } from '../../../packages/engine/src/define.ts';
import { BusyError, type Engine } from '../../../packages/engine/src/engine.ts';
import type { InstanceEnd } from '../../../packages/engine/src/turn.ts';
import {
  type Fault,
  fault,
  faultTable,
  isTakenBack,
  parseFaultLine,
} from '../../../packages/protocol/src/fault.ts';
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import type { SignatureRequest } from '../../../packages/protocol/src/requests.ts';
import { writeSignRequest } from '../../../packages/protocol/src/write-request.ts';
import { transactionOfRun } from '../../../src/transactions/ids.ts';
import { isInstanceOf } from '../../../src/transactions/jobs/instance-ids.ts';
import { notBelieved } from '../../../src/transactions/outcomes.ts';
import type { Seals } from '../../../src/transactions/seal.ts';
import type { Shard } from '../../../src/transactions/shards.ts';
import type { SignatureData } from '../../../src/transactions/signature-workflow.ts';
import {
  type SignAsk,
  type Signed,
  type SignResult,
  serviceActivities,
} from '../charts/service-activities.ts';
import type { HostedWorkflows } from '../hosted.ts';
import { type AskedRun, apIdOf, callerFor, type FindRun, isObject } from './asked-run.ts';

export const failedBy = ({ code, detail }: Fault, msspTransId?: string): SignResult => ({
  kind: 'failed',
  code,
  reason: faultTable[code].reason,
  detail,
  ...(isTakenBack({ code, detail }) && { takenBack: true }),
  ...(msspTransId !== undefined && { msspTransId }),
});

/** @param keepsProof Whether the instance needs it later; the transaction may be gone by then. */
export const signedWith = (
  outcome: SignatureContext['outcome'],
  keepsProof: boolean,
  signed: Pick<Signed, 'msspTransId' | 'at' | 'attempt'>,
): SignResult => ({
  kind: 'signed',
  ...signed,
  ...(outcome?.kind === 'signature' &&
    keepsProof && {
      proof: { cms: outcome.cms, certificates: outcome.certificates, upstream: outcome.upstream },
    }),
});

type Hosted = readonly Pick<HostedWorkflows, 'names' | 'signs'>[];

/** Whether an instance is of a part whose activity asks for signatures ({@link HostedWorkflows}). */
const keepsProof = (hosted: Hosted, instance: string): boolean =>
  hosted.some(
    ({ names = [], signs }) =>
      signs !== undefined && names.some((name) => isInstanceOf(instance, name)),
  );

/** The request of a run: the same at each try, but for its instant. */
export const createAsk =
  ({ protocol, authority }: { readonly protocol: Protocol; readonly authority: string }) =>
  (
    given: { readonly instance: Pick<InstanceInHand, 'id'>; readonly now: number },
    { msisdn, text, language, profile, timeoutSeconds }: SignAsk,
    apId: string,
  ) => {
    const asked = { msisdn, text, language, profile: profile as never, timeoutSeconds };
    return protocol.parseSign(
      writeSignRequest(callerFor(given, { apId, authority }), 'asynch', asked),
    );
  };

/** Whether a transaction asks what a run asks: the same person, the same text, for the same AP. */
export const isAskedBy = (
  run: SignatureRequest,
  { caller, msisdn, data, profile }: SignatureRequest,
): boolean =>
  caller.apId === run.caller.apId &&
  msisdn.number === run.msisdn.number &&
  profile.name === run.profile.name &&
  isDeepStrictEqual(data, run.data);

/**
 * Tells the activity that waits for a signature how it has ended.
 *
 * The signature was verified, or made, by a worker over the text and the number of its own job: it
 * has the seal. So it remains to be proven that this job is the one that the run has made.
 *
 * @param options.findRun Of the engine of workflows, and so is `engine`.
 * @param options.onError Gets {@link notBelieved} for a job that names a run which is not its own.
 */
export const createTellSigned = (options: {
  readonly engine: Pick<Engine, 'answer' | 'find'>;
  readonly findRun: FindRun;
  readonly shards: readonly Shard[];
  readonly protocol: Protocol;
  readonly authority: string;
  readonly seals: Pick<Seals, 'fits'>;
  readonly hosted: Hosted;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { engine, findRun, shards, seals, hosted, now, onError } = options;
  const ask = createAsk(options);

  const isOf = async ({ instance, input, mayBe }: AskedRun, request: SignatureRequest) => {
    if (!isObject(input)) return false;
    const ofOwnChart = mayBe(serviceActivities.sign);
    if (!ofOwnChart && !hosted.some(({ signs }) => signs !== undefined && mayBe(signs)))
      return false;
    const given = input as SignAsk;
    const apId = ofOwnChart ? apIdOf(instance) : given.apId;
    const asked = ask({ instance, now: now() }, given, apId);
    return asked.ok && isAskedBy(asked.value.request, request);
  };

  return ({ id, data }: InstanceInHand): ((end: InstanceEnd) => Promise<void>) | undefined => {
    const { request, answerTo } = data as SignatureData;
    if (answerTo === undefined) return undefined;
    return async ({ record, failedReason }) => {
      const { attempt, outcome, history } = record.context as SignatureContext;
      const isNamed = transactionOfRun(answerTo, shards.length) === id;
      const run = isNamed ? await findRun(answerTo) : undefined;
      // The state was left meanwhile.
      if (isNamed && run === undefined) return;
      const isSealed =
        outcome?.kind === 'signature' && seals.fits({ id, attempt, request, outcome });
      const isBelieved = run !== undefined && (await isOf(run, request));
      if (run === undefined || !isBelieved || (failedReason === undefined && !isSealed)) {
        onError(notBelieved(id));
        return;
      }
      const output: SignResult =
        failedReason === undefined
          ? signedWith(outcome, keepsProof(hosted, run.instance.id), {
              msspTransId: id,
              at: history.at(-1)?.at ?? 0,
              attempt,
            })
          : failedBy(parseFaultLine(failedReason) ?? fault(900), id);
      if ((await engine.answer(answerTo, { output }, run.instance)) === 'busy')
        throw new BusyError();
    };
  };
};
