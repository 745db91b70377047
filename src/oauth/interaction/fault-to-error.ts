/**
 * What a client is told when a person could not be logged in: the one table from the fault of the transaction to the OAuth
 * error, for the browser's login and for backchannel requests alike.
 *
 * The texts are fixed. What a device or a subscriber's entry says in its own words stays here.
 */
import type { Fault, FaultCode } from '../../protocol/fault.ts';
import { type CodedDescription, describeError, type ErrorCause } from '../error-codes.ts';

export interface LoginError extends CodedDescription {
  readonly error: 'access_denied' | 'login_required' | 'server_error';
}

type Row = readonly [error: LoginError['error'], cause: ErrorCause, text: string];

const other: Row = ['access_denied', 'otherAuthentication', 'the user could not be authenticated'];

const table: Readonly<Record<FaultCode, Row>> = {
  101: other,
  102: other,
  103: other,
  104: other,
  105: ['access_denied', 'noMethod', 'the user has no method that can authenticate as requested'],
  107: other,
  108: other,
  109: ['access_denied', 'noMethod', 'the user has no method that can authenticate as requested'],
  208: ['access_denied', 'noResponse', 'the user did not respond in time'],
  209: other,
  401: ['access_denied', 'rejectedByUser', 'the user rejected the authentication'],
  402: other,
  403: other,
  404: ['access_denied', 'needsActivation', 'the user must activate the account first'],
  406: ['access_denied', 'busyPhone', 'another request is in progress on the device of the user'],
  422: other,
  450: other,
  900: ['server_error', 'internal', 'internal error'],
};

const described = ([error, cause, text]: Row, trace?: string): LoginError => ({
  error,
  ...describeError(cause, text, trace),
});

/** @param trace By which the person's page and the log name the same login; without it a new one. */
export const errorOfFault = ({ code }: Pick<Fault, 'code'>, trace?: string): LoginError =>
  described(table[code], trace);

/** Somebody has logged in, but not the person of the `id_token_hint` (OpenID Connect Core section 3.1.2.1). */
export const otherPersonError = (trace?: string): LoginError =>
  described(
    ['login_required', 'otherAuthentication', 'somebody else than id_token_hint names has logged in'],
    trace,
  );

/** For endings that no transaction has a fault for, such as a wrong one-time password. */
export const otherLoginError = (trace?: string): LoginError => described(other, trace);
