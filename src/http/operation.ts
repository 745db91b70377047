/**
 * What every operation of the signature interface is given, and what it gives back.
 */
import type { Fault, FaultCode } from '../protocol/fault.ts';
import type { Caller } from '../protocol/requests.ts';
import {
  type ApplicationProviders,
  rateExceeded,
  type WorkingPlace,
} from '../registry/application-providers.ts';
import type { Waits } from '../transactions/endings.ts';
import { maxShards, shardOf } from '../transactions/ids.ts';
import { busyFault } from './admission.ts';
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

export interface Trace {
  readonly apId?: string;
  readonly apTransId?: string;
  readonly msspTransId?: string;
  readonly fault?: FaultCode;
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

/** To a caller of whom nothing is known, since his request cannot be read. */
export const refusedUnread = (why: Fault, turn: Turn): Answer => {
  turn.stepAside();
  return faultAnswer(why);
};

/** To a caller who was not let in. Who comes too often, or finds no room, may come again. */
export const refusedCaller = (why: Fault, trace: Trace): Answer => ({
  ...faultAnswer(why, trace),
  retryLater: why === rateExceeded || why === busyFault,
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
export const traceOf = ({ apId, apTransId }: Caller, msspTransId?: string): Trace => ({
  apId: printable(apId),
  apTransId,
  ...(msspTransId !== undefined && shardOf(msspTransId, maxShards) !== undefined && { msspTransId }),
});

export const authorizeCaller = (
  providers: ApplicationProviders,
  { apId, apPassword }: Caller,
  evidence: Evidence,
  turn: Turn,
): ReturnType<ApplicationProviders['authorize']> =>
  providers.authorize({ apId, apPassword, ...evidence }, turn);
