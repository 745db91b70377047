/** Everything that is known about a run when it is over: what the checks judge by. */
import type { SignatureRecord } from '../../machines/record.ts';
import type { Verdict } from '../../packages/engine/src/redis/instance-store.ts';
import { recordIn } from '../../src/transactions/contract.ts';
import type { PhoneNote } from './browser-phones.ts';
import type { Delivery, Mark, Message } from './gateway.ts';
import type { Entry, Told } from './journal.ts';
import type { BulkRun } from './loads/bulks.ts';
import type { DocumentRun } from './loads/documents.ts';
import type { LoginRun } from './loads/logins.ts';
import type { ArrivedMail, MailRun, RefusedMail } from './loads/mails.ts';
import type { ChartRun } from './loads/own-charts.ts';
import type { InjectedFault } from './nemesis.ts';
import type { News, StoredFields, StoredInstance } from './operator.ts';
import type { ProcessRun } from './process-clients.ts';
import type { Asked, Clash } from './witness.ts';

export interface FinalJob {
  readonly id: string;
  readonly apTransId: string;
  readonly msisdn: string;
  readonly text: string;
  readonly timeoutSeconds: number;
  readonly timestamp: number;
  /** How it ended; undefined when it has not. */
  readonly end: 'completed' | 'failed' | undefined;
  readonly failedReason: string | undefined;
  /** The record where its end put it: the return value, or the job's progress. */
  readonly record: SignatureRecord | undefined;
  /** What has become of each answer that came from elsewhere. */
  readonly answers: readonly (Verdict[1] | 'waiting' | 'accepted')[];
}

export interface Violation {
  /** Which promise was broken, in a few words. */
  readonly rule: string;
  readonly id?: string | undefined;
  readonly says: string;
}

export interface Evidence {
  readonly journal: readonly Entry[];
  readonly faults: readonly InjectedFault[];
  /** When everything had been healed. */
  readonly healedAt: number;
  readonly jobs: ReadonlyMap<string, FinalJob>;
  /** What the queues said of each job, by the clock of Redis; oldest first. */
  readonly timeline: ReadonlyMap<string, readonly News[]>;
  /** What a last status request of each known transaction was told. */
  readonly finals: ReadonlyMap<string, Told>;
  /** Jobs that had not ended when there was nothing left to wait for. */
  readonly stuck: readonly { readonly id: string; readonly state: string }[];
  readonly asked: readonly Asked[];
  readonly clashes: readonly Clash[];
  readonly deliveries: readonly Delivery[];
  /** What phones in browsers were shown and told. */
  readonly phones: readonly PhoneNote[];
  readonly crashes: readonly string[];
  /** Callbacks about transactions, as they first came: `webhook-id`. */
  readonly notices: ReadonlySet<string>;
  /** The serialNumbers that the service names for a number, by the MSISDN. */
  readonly people: ReadonlyMap<string, readonly string[]>;
  readonly processes: {
    readonly runs: readonly ProcessRun[];
    /** Callbacks about them. */
    readonly messages: readonly Message[];
    /** Of workflows, with children. */
    readonly instances: readonly StoredInstance[];
    /** When the machine gave a part of the service no time. */
    readonly starved: readonly InjectedFault[];
  };
  readonly loads: {
    readonly bulks: readonly BulkRun[];
    readonly mails: {
      readonly runs: readonly MailRun[];
      readonly mails: readonly ArrivedMail[];
      readonly refused: readonly RefusedMail[];
    };
    readonly logins: readonly LoginRun[];
    readonly documents: readonly DocumentRun[];
    readonly charts: {
      readonly runs: readonly ChartRun[];
      readonly marks: readonly Mark[];
      /** Callbacks about them. */
      readonly ends: readonly Message[];
    };
  };
  /** DER. */
  readonly roots: readonly Uint8Array[];
}

/** One promise: yields where the evidence contradicts it. */
export type Check = (evidence: Evidence) => Iterable<Violation>;

/** What may be why something is late: the faults, and a machine without time for the service. */
export const hindrances = ({
  faults,
  processes: { starved },
}: Pick<Evidence, 'faults' | 'processes'>): readonly InjectedFault[] => [...faults, ...starved];

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));

/** Where an open or failed transaction stands; undefined before its first turn. */
export const recordOf = ({ progress }: StoredFields): SignatureRecord | undefined =>
  recordIn(parse(progress)) as SignatureRecord | undefined;

/**
 * Begins the fields that keep what became of events from elsewhere
 * (packages/engine/src/redis/instance-store.ts).
 */
const answerField = 'key:out/';

export const finalJob = (id: string, fields: StoredFields): FinalJob => {
  const { MSS_SignatureReq: request } = parse(fields.data) ?? {};
  const failed = fields.failedReason !== undefined;
  const end = fields.finishedOn === undefined ? undefined : failed ? 'failed' : 'completed';
  return {
    id,
    apTransId: request?.AP_Info?.AP_TransID ?? '',
    msisdn: request?.MobileUser?.MSISDN ?? '',
    text: request?.DataToBeSigned?.Data ?? '',
    timeoutSeconds: Number(request?.TimeOut ?? 0),
    timestamp: Number(fields.timestamp),
    end,
    failedReason: fields.failedReason,
    record: end === 'completed' ? parse(fields.returnvalue) : recordOf(fields),
    answers: Object.entries(fields)
      .filter(([name]) => name.startsWith(answerField))
      .map(([, value]) => value as FinalJob['answers'][number]),
  };
};

/** When the attempts of a job ended, in order. */
export const endsOf = (evidence: Pick<Evidence, 'timeline'>, id: string): readonly number[] =>
  (evidence.timeline.get(id) ?? [])
    .filter(({ event }) => event === 'completed' || event === 'failed')
    .map(({ at }) => at);
