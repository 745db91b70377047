/**
 * The signature as a workflow: reads the data of its job, begins and checks its chart, and makes
 * the result. The data is checked like a request from the wire, because other services can write
 * it.
 */
import { recordOf } from '../../machines/record.ts';
import {
  type SignatureContext,
  type SignatureInput,
  signatureMachine,
  signatureVersion,
} from '../../machines/signature.machine.ts';
import {
  type BegunJob,
  defineWorkflow,
  InputError,
  type Workflow,
} from '../../packages/engine/src/define.ts';
import { type Fault, fault, faultLine } from '../../packages/protocol/src/fault.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { SignatureRequest } from '../../packages/protocol/src/requests.ts';
import { signatureContextSchema, signatureJobName, signatureOrderSchema } from './contract.ts';
import { shardOf } from './ids.ts';
import type { Seals } from './seal.ts';

/** The data of a job. `others` are the names of unknown members. */
export interface SignatureData {
  readonly request: SignatureRequest;
  /** The token of the activity that gets the end. */
  readonly answerTo: string | undefined;
  readonly others: readonly string[];
  /** Whether the job contains AP_PWD. */
  readonly hasPassword: boolean;
}

const refused = (reason: Fault): InputError => new InputError(faultLine(reason));

const beginWith = (
  { request: { timeoutSeconds }, others, hasPassword }: SignatureData,
  { at, addedAt }: BegunJob,
): SignatureInput => {
  // Checked only at the begin, so that jobs of an earlier release go on.
  if (hasPassword)
    throw refused(
      fault(101, 'MSS_SignatureReq.AP_Info.AP_PWD must not be in a job, because Redis keeps it'),
    );
  if (others.length > 0)
    throw refused(
      fault(101, 'The job data may hold MSS_SignatureReq only; the rest is the workers’ own'),
    );
  return { at, addedAt, timeoutSeconds };
};

export interface SignatureWorkflowOptions {
  readonly protocol: Protocol;
  /** The shard of a worker, to check the ids of its jobs. */
  readonly place?: { readonly shard: number; readonly shards: number };
  /** Undefined in programs without the master key. They run no turns. */
  readonly seals?: Pick<Seals, 'fits'>;
  /** Called for a record that another program has written. */
  readonly onPlanted?: (id: string) => void;
  /** The chart with the activities of the workers. */
  readonly chart?: typeof signatureMachine;
  /** The version of the chart. Default: the latest. */
  readonly version?: number | undefined;
}

export const defineSignature = (options: SignatureWorkflowOptions): Workflow => {
  const {
    protocol,
    place,
    seals,
    onPlanted,
    chart = signatureMachine,
    version = signatureVersion,
  } = options;
  return defineWorkflow({
    name: signatureJobName,
    version,
    // No journal: the context already has the history.
    journal: false,
    chart,
    input: {
      parse: (data): SignatureData => {
        const {
          MSS_SignatureReq: given,
          answerTo,
          ...others
        } = Object(data) as { MSS_SignatureReq?: unknown; answerTo?: unknown };
        if (given === undefined || given === null) throw refused(fault(102, 'MSS_SignatureReq'));
        const request = protocol.parseStoredSign(given);
        if (!request.ok) throw refused(request.fault);
        if (answerTo !== undefined && typeof answerTo !== 'string')
          throw refused(fault(101, 'answerTo: the token of an activity'));
        const { AP_Info } = Object(given) as { readonly AP_Info?: { readonly AP_PWD?: unknown } };
        // An empty password does not count: some programs write every member.
        const hasPassword = Boolean(AP_Info?.AP_PWD);
        return { request: request.value, answerTo, others: Object.keys(others), hasPassword };
      },
    },
    begin: (data: SignatureData, job) => {
      if (place !== undefined && shardOf(job.id, place.shards) !== place.shard)
        throw refused(fault(101, 'The job id must be an MSSP_TransID of this shard'));
      return beginWith(data, job);
    },
    check: (context, { id, data }) => {
      const read = signatureContextSchema.safeParse(context).data;
      const { attempt = 1, outcome } = read ?? {};
      const { request } = data as SignatureData;
      if (
        read !== undefined &&
        (outcome === undefined || seals?.fits({ id, attempt, request, outcome }))
      )
        return;
      onPlanted?.(id);
      throw refused(fault(900));
    },
    events: signatureOrderSchema,
    resultOf: (record) => recordOf(record.context as SignatureContext, record.version),
    reasonOf: (context: SignatureContext) => faultLine(context.fault ?? fault(900)),
  });
};
