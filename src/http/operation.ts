/**
 * What every operation of the signature interface is given, and what it gives back.
 */
import type { Checked, Fault } from '../protocol/fault.ts';
import type { Caller } from '../protocol/requests.ts';
import {
  type ApplicationProvider,
  type ApplicationProviders,
  rateExceeded,
  type WorkingPlace,
} from '../registry/application-providers.ts';
import type { Waits } from '../transactions/endings.ts';
import { maxShards, shardOf } from '../transactions/ids.ts';
import { busyFault } from './admission.ts';
import type { Trace } from './log.ts';
import { presentFault } from './present.ts';

/** 200 with a response wrapper, or 500 with a Fault: the interface knows nothing else. */
export interface Answer {
  readonly status: 200 | 500;
  readonly body: object;
  /** What the log may say about it. */
  readonly trace: Trace;
  /** The request was not looked at, and may be sent again as it is. */
  readonly retryLater?: boolean;
}

/** What the connection says about the caller, beside what the body says. */
export interface Evidence {
  /** SHA-256 of the client's certificate, lower-case hex without colons. */
  readonly clientCertificateFingerprint: string | undefined;
  /** Where it comes from, for turns among those who wait for a password. */
  readonly origin?: () => string;
}

/** What a request can do with its place among those that are worked on. */
export interface Turn extends WorkingPlace {
  /** From here on it only waits for a person. */
  readonly waits: Waits;
}

/** @param body A JSON object of the operation's own wrapper; nothing else about it is known. */
export type OperationHandler = (body: unknown, evidence: Evidence, turn: Turn) => Promise<Answer>;

export const answer = (body: object, trace: Trace): Answer => ({ status: 200, body, trace });

export const faultAnswer = (fault: Fault, trace: Trace = {}): Answer => ({
  status: 500,
  body: presentFault(fault),
  trace: { ...trace, fault: fault.code },
});

/** No longer AP_ID can be registered. */
const longestApId = 256;

/**
 * What gives orders to a terminal or turns the text around it: the log is read by people, and whoever has not proven who he
 * is may put anything into an AP_ID. JSON escapes only some of it.
 */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** An AP_ID that nobody has vouched for, as the log shows it. */
export const printable = (apId: string): string => apId.slice(0, longestApId).replace(unprintable, '\ufffd');

/**
 * How the log names a caller and a transaction. A request may hold any text as MSSP_TransID, such as a password in the wrong
 * place; only what can be an id of ours is logged.
 */
const traceOf = ({ apId, apTransId }: Caller, msspTransId?: string): Trace => ({
  apId: printable(apId),
  apTransId,
  ...(msspTransId !== undefined && shardOf(msspTransId, maxShards) !== undefined && { msspTransId }),
});

/**
 * The beginning that all operations have in common: the request is read, and its caller is let in.
 *
 * @param callerOf What a request that was read says of its caller, and of the transaction that it is about.
 * @param serve What is particular to the operation. The trace names caller and transaction.
 */
export const createOperation =
  <Request>({
    parse,
    callerOf,
    providers,
    serve,
  }: {
    readonly parse: (body: unknown) => Checked<Request>;
    readonly callerOf: (request: Request) => { readonly caller: Caller; readonly msspTransId?: string };
    readonly providers: ApplicationProviders;
    readonly serve: (
      request: Request,
      context: { readonly provider: ApplicationProvider; readonly trace: Trace; readonly turn: Turn },
    ) => Answer | Promise<Answer>;
  }): OperationHandler =>
  async (body, evidence, turn) => {
    const parsed = parse(body);
    if (!parsed.ok) {
      // Nothing is known of the caller, so it takes no room from those who are.
      turn.stepAside();
      return faultAnswer(parsed.fault);
    }
    const { caller, msspTransId } = callerOf(parsed.value);
    const trace = traceOf(caller, msspTransId);
    const { apId, apPassword } = caller;
    const authorized = providers.authorize({ apId, apPassword, ...evidence }, turn);
    const provider = authorized instanceof Promise ? await authorized : authorized;
    if (provider.ok) return serve(parsed.value, { provider: provider.value, trace, turn });
    const why = provider.fault;
    // A caller that comes too often, or finds no room, may come again.
    return { ...faultAnswer(why, trace), retryLater: why === rateExceeded || why === busyFault };
  };
