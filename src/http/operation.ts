/** The arguments and results of every operation of the signature interface. */
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import type { Checked, Fault } from '../../packages/protocol/src/fault.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { Caller } from '../../packages/protocol/src/requests.ts';
import {
  type ApplicationProvider,
  type ApplicationProviders,
  type Evidence,
  rateExceeded,
  type WorkingPlace,
} from '../registry/application-providers.ts';
import type { OtherServices } from '../registry/other-services.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import type { App2App } from '../transactions/app2app.ts';
import type { OnAccepted } from '../transactions/endings.ts';
import { maxShards, shardOf } from '../transactions/ids.ts';
import type { Receipts } from '../transactions/receipts.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { isOfAdmission } from './admission.ts';
import type { Trace } from './log.ts';
import { presentFault } from './present.ts';

/** 200 with a response wrapper, or 500 with a Fault. */
export interface Answer {
  readonly status: 200 | 500;
  readonly body: object;
  readonly trace: Trace;
  /** Whether the request may be sent again, because it was not accepted or not answered. */
  readonly retryLater?: boolean;
}

/** The dependencies of all operations; each uses some of them. */
export interface OperationDeps {
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly transactions: Transactions;
  readonly receipts: Receipts;
  readonly app2app: App2App;
  readonly services: Pick<OtherServices, 'askProfile'>;
  readonly custody: KeyCustody;
  /** The accepted dialects; the first is for callers whose MSSP_ID names none of them. */
  readonly authorities: readonly string[];
  readonly now: () => number;
}

/** The place of a request among those that are worked on. */
export interface Turn extends WorkingPlace {
  /** Call it when the request is accepted: from then on it only waits for a person. */
  readonly onAccepted: OnAccepted;
}

/** @param body A JSON object of the operation's own wrapper; nothing else about it is known. */
export type OperationHandler = (
  body: unknown,
  evidence: () => Evidence,
  turn: Turn,
) => Answer | Promise<Answer>;

export const answer = (body: object, trace: Trace): Answer => ({ status: 200, body, trace });

/** Answers with a fault that does not refuse this request, such as the end of a transaction. */
export const endAnswer = (fault: Fault, trace: Trace): Answer => ({
  status: 500,
  body: presentFault(fault),
  trace: { ...trace, fault: fault.code },
});

/** Answers with a fault that refuses the request. */
export const faultAnswer = (fault: Fault, trace: Trace = {}): Answer =>
  endAnswer(fault, { ...trace, refused: fault.detail });

/** The longest AP_ID that can be registered. */
const maxApIdLength = 256;

/** Control characters and changes of text direction: anyone can write any AP_ID. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

const plain = /^[ -~]*$/;

/** An unverified AP_ID in the form for the log: at most 256 characters, all printable. */
export const printable = (apId: string): string => {
  const shown = apId.slice(0, maxApIdLength);
  return plain.test(shown) ? shown : shown.replace(unprintable, '\ufffd');
};

/** Logs only well-formed ids as MSSP_TransID: callers may send a password by mistake. */
const traceOf = ({ apId, apTransId }: Caller, msspTransId?: string): Trace => ({
  apId: printable(apId),
  apTransId,
  ...(msspTransId !== undefined &&
    shardOf(msspTransId, maxShards) !== undefined && { msspTransId }),
});

/**
 * The common beginning of all operations: reads the request and authorises its caller.
 *
 * @param callerOf The caller of a request, and the transaction that it is about.
 * @param serve The operation itself. The trace names caller and transaction.
 */
export const createOperation =
  <Request>({
    parse,
    callerOf,
    providers,
    serve,
  }: {
    readonly parse: (body: unknown) => Checked<Request>;
    readonly callerOf: (request: Request) => {
      readonly caller: Caller;
      readonly msspTransId?: string;
    };
    readonly providers: ApplicationProviders;
    readonly serve: (
      request: Request,
      context: {
        readonly provider: ApplicationProvider;
        readonly trace: Trace;
        readonly turn: Turn;
      },
    ) => Answer | Promise<Answer>;
  }): OperationHandler =>
  (body, evidence, turn) => {
    const parsed = parse(body);
    if (!parsed.ok) {
      // The caller is unknown, so the request takes no room from known ones.
      turn.stepAside();
      return faultAnswer(parsed.fault);
    }
    const { caller, msspTransId } = callerOf(parsed.value);
    const trace = traceOf(caller, msspTransId);
    const { apId, apPassword } = caller;
    const proceed = (provider: Checked<ApplicationProvider>): Answer | Promise<Answer> => {
      if (provider.ok) return serve(parsed.value, { provider: provider.value, trace, turn });
      const why = provider.fault;
      // The admission has already counted this refusal.
      if (isOfAdmission(why)) return { ...endAnswer(why, trace), retryLater: true };
      return { ...faultAnswer(why, trace), retryLater: why === rateExceeded };
    };
    const authorized = providers.authorize({ apId, apPassword, evidence }, turn);
    return authorized instanceof Promise ? authorized.then(proceed) : proceed(authorized);
  };
