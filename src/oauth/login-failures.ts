/**
 * The table from the fault of a transaction to the text of the page and to the OAuth error, for
 * logins with and without a browser: by the kind of the fault, or by a row of its own. The texts are
 * fixed: what a device says in its own words is
 * not passed on.
 */
import {
  type Fault,
  type FaultCode,
  type FaultKind,
  faultTable,
} from '../../packages/protocol/src/fault.ts';
import { type CodedDescription, describeError, type ErrorCause } from './error-codes.ts';
import type { FailureCause } from './pages/views.ts';

export interface LoginError extends CodedDescription {
  readonly error: 'access_denied' | 'login_required' | 'server_error';
}

type Row = readonly [page: FailureCause, cause: ErrorCause, text: string];

/** The client is told no more than this. */
const other = (page: FailureCause): Row => [
  page,
  'otherAuthentication',
  'the user could not be authenticated',
];
/** Our own mistake, or one that the person cannot correct. */
const ours = other('internal');

const byKind: Readonly<Record<FaultKind, Row>> = {
  request: ours,
  method: ['no-method', 'noMethod', 'the user has no method that can authenticate as requested'],
  refusal: ['rejected', 'rejectedByUser', 'the user rejected the authentication'],
  person: ours,
  service: ['internal', 'internal', 'internal error'],
};

/** Faults that the page explains in a way of their own. */
const byCode: Readonly<Partial<Record<FaultCode, Row>>> = {
  208: ['no-response', 'noResponse', 'the user did not respond in time'],
  209: other('unreachable'),
  402: other('pin-blocked'),
  403: other('suspended'),
  404: ['needs-activation', 'needsActivation', 'the user must activate the account first'],
  406: ['busy-phone', 'busyPhone', 'another request is in progress on the device of the user'],
  422: other('certificate'),
  450: other('location'),
};

const rowOf = ({ code }: Pick<Fault, 'code'>): Row => byCode[code] ?? byKind[faultTable[code].kind];

export const findFailureCause = (fault: Pick<Fault, 'code'>): FailureCause => rowOf(fault)[0];

const described = ([, cause, text]: Row, trace: string | undefined): LoginError => ({
  error: cause === 'internal' ? 'server_error' : 'access_denied',
  ...describeError(cause, text, trace),
});

/** @param trace Names the login on the page and in the log; without it a new one is made. */
export const toLoginError = (fault: Pick<Fault, 'code'>, trace?: string): LoginError =>
  described(rowOf(fault), trace);

/** The error of a login that failed without a fault, such as by a wrong one-time password. */
export const otherLoginError = (trace?: string): LoginError => described(ours, trace);

/**
 * Another person than the one of the `id_token_hint` has logged in (OpenID Connect Core 3.1.2.1).
 */
export const otherPersonError = (trace?: string): LoginError => ({
  error: 'login_required',
  ...describeError(
    'otherAuthentication',
    'somebody else than id_token_hint names has logged in',
    trace,
  ),
});
