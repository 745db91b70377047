/**
 * What kind of end a fault is. From it follow who may replay it and what a login makes of it,
 * unless a login has a row for the fault.
 *
 * request   The request itself is wrong.
 * method    The person has no device that could do what is asked.
 * refusal   The person has said no.
 * person    The person did not answer, or something of theirs stands in the way.
 * service   The service is at fault.
 */
export type FaultKind = 'request' | 'method' | 'refusal' | 'person' | 'service';

/**
 * All faults. The code decides the reason. The default `detail` is that of the live service, word
 * for word. For an error in a request it names the member instead, and never its value.
 *
 * Source: interface sections 2.5 and 7; the published table of test numbers.
 */
export const faultTable = {
  101: {
    reason: 'WRONG_PARAM',
    blame: 'Sender',
    kind: 'request',
    detail: 'Error among the arguments of the request',
  },
  102: {
    reason: 'MISSING_PARAM',
    blame: 'Sender',
    kind: 'request',
    detail: 'An argument in the request is missing',
  },
  103: {
    reason: 'WRONG_DATA_LENGTH',
    blame: 'Sender',
    kind: 'request',
    detail:
      'The DataToBeSigned are too large. Limitations are due to the Mobile Signature technology implemented by the MSSP.',
  },
  104: {
    reason: 'UNAUTHORIZED_ACCESS',
    blame: 'Sender',
    kind: 'request',
    detail:
      'The AP is unknown, or the client authentication failed, or the AP asks for an additional service for which it has not subscribed.',
  },
  105: { reason: 'UNKNOWN_CLIENT', blame: 'Sender', kind: 'method', detail: 'MSISDN is unknown' },
  107: {
    reason: 'INAPPROPRIATE_DATA',
    blame: 'Sender',
    kind: 'request',
    detail: 'DTBD matching failed',
  },
  108: {
    reason: 'INCOMPATIBLE_INTERFACE',
    blame: 'Sender',
    kind: 'request',
    detail:
      'The minor version and/or major version parameters are inappropriate for the receiver of the message.',
  },
  109: {
    reason: 'UNSUPPORTED_PROFILE',
    blame: 'Receiver',
    kind: 'method',
    detail: 'The user does not support this Mobile Signature Profile',
  },
  208: {
    reason: 'EXPIRED_TRANSACTION',
    blame: 'Receiver',
    kind: 'person',
    detail: 'Timed out waiting for an answer from user.',
  },
  209: {
    reason: 'OTA_ERROR',
    blame: 'Receiver',
    kind: 'person',
    // The live service has lost the opening parenthesis, too.
    detail:
      "The MSSP has not succeeded to contact the end-user's mobile equipment Bad connection...)",
  },
  401: {
    reason: 'USER_CANCEL',
    blame: 'Receiver',
    kind: 'refusal',
    detail: 'User cancelled the request',
  },
  402: {
    reason: 'PIN_BLOCKED',
    blame: 'Receiver',
    kind: 'person',
    detail: 'PIN of the mobile user is blocked',
  },
  403: {
    reason: 'CARD_BLOCKED',
    blame: 'Receiver',
    kind: 'person',
    detail: 'Mobile user account has state INACTIVE or no SIM assigned',
  },
  404: {
    reason: 'NO_KEY_FOUND',
    blame: 'Receiver',
    kind: 'person',
    detail: 'Mobile user account needs to be activated',
  },
  406: {
    reason: 'PB_SIGNATURE_PROCESS',
    blame: 'Receiver',
    kind: 'person',
    detail: 'Signature request already in progress.',
  },
  422: {
    reason: 'NO_CERT_FOUND',
    blame: 'Receiver',
    kind: 'person',
    detail: 'Certificate is expired',
  },
  450: {
    reason: 'GEOFENCING_POLICY_VIOLATION',
    blame: 'Receiver',
    kind: 'person',
    detail: 'The location of the device violates the policy of the request',
  },
  900: { reason: 'INTERNAL_ERROR', blame: 'Receiver', kind: 'service', detail: 'Unknown Error' },
} as const satisfies Record<
  number,
  { reason: string; blame: 'Sender' | 'Receiver'; kind: FaultKind; detail: string }
>;

/** Detail of fault 208 in the answer to a status request. */
export const statusExpiredDetail = 'Original request timed out.';

export type FaultCode = keyof typeof faultTable;
export const faultCodes = Object.keys(faultTable).map(Number) as FaultCode[];
export type FaultReason = (typeof faultTable)[FaultCode]['reason'];

export interface Fault {
  readonly code: FaultCode;
  readonly detail: string;
}

/** Makes a fault. Default: the detail of the table. */
export const fault = (code: FaultCode, detail: string = faultTable[code].detail): Fault => ({
  code,
  detail,
});

/** The faults USER_CANCEL without an answer of the person: another party cancelled the prompt. */
export const takenBackBy = {
  application: fault(401, 'The application cancelled the request'),
  operator: fault(401, 'The operator cancelled the request'),
  workflow: fault(401, 'The workflow no longer asks'),
  newerRequest: fault(401, 'A newer request to the same App has replaced the request'),
} as const;

/** Whether a fault is one of {@link takenBackBy}. Any other 401 is the answer of the person. */
export const isTakenBack = ({ code, detail }: Fault): boolean =>
  Object.values(takenBackBy).some((one) => one.code === code && one.detail === detail);

export const isFaultCode = (code: number): code is FaultCode => Object.hasOwn(faultTable, code);

/** The `failedReason` of a failed job: `_401 USER_CANCEL: User cancelled the request`. */
export const faultLine = ({ code, detail }: Fault): string =>
  `_${code} ${faultTable[code].reason}: ${detail}`;

/** Reads {@link faultLine} back. Undefined for any other text. */
export const parseFaultLine = (line: string): Fault | undefined => {
  const match = /^_(\d{3}) [A-Z_]+: (.*)$/s.exec(line);
  const code = Number(match?.[1]);
  return isFaultCode(code) ? { code, detail: match?.[2] ?? '' } : undefined;
};

/** The result of a check: a value, or the fault for the caller. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault };

export const ok = <T>(value: T): Checked<T> => ({ ok: true, value });
export const refuse = (code: FaultCode, detail?: string): Checked<never> => ({
  ok: false,
  fault: fault(code, detail),
});
