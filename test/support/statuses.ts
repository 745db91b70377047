/**
 * Every status code and fault of the interface, as another service writes it, and what it means to
 * a client. Source: interface section 7; TS 102 204 section 8.
 */
import { faultCodes, faultTable } from '../../packages/protocol/src/fault.ts';

const status = (value: string, message: string) => ({
  StatusCode: { Value: value, ValueNs: 'http://uri.etsi.org/TS102204/v1.1.2#' },
  StatusMessage: message,
});

interface Row {
  readonly code: string;
  readonly message: string;
  readonly meaning:
    | 'open'
    | 'signed'
    /** The fault by which the transaction ends. */
    | { readonly code: number; readonly detail: string };
}

const revoked = {
  code: 422,
  detail: 'The certificate of the user is revoked (status 501 REVOKED_CERTIFICATE)',
};
const invalid = { code: 900, detail: 'The signature is not valid (status 503 INVALID_SIGNATURE)' };
const unsigned = (code: string) => ({
  code: 900,
  detail: `The service says that the user has signed, and gives no signature (status ${code})`,
});

/** In a 200, with the message that the interface has and others that were seen. */
export const statusRows: readonly (Row & { readonly signature?: true })[] = [
  { code: '100', message: 'REQUEST_OK', meaning: 'open' },
  { code: '504', message: 'OUTSTANDING_TRANSACTION', meaning: 'open' },
  { code: '500', message: 'SIGNATURE', signature: true, meaning: 'signed' },
  { code: '502', message: 'VALID_SIGNATURE', signature: true, meaning: 'signed' },
  { code: '501', message: 'REVOKED_CERTIFICATE', meaning: revoked },
  { code: '501', message: 'REVOKED_CERTIFICATE', signature: true, meaning: revoked },
  { code: '503', message: 'INVALID_SIGNATURE', meaning: invalid },
  { code: '503', message: 'SIGNATURE', signature: true, meaning: invalid },
  { code: '500', message: 'SIGNATURE', meaning: unsigned('500 SIGNATURE') },
  { code: '502', message: 'VALID_SIGNATURE', meaning: unsigned('502 VALID_SIGNATURE') },
  {
    code: '599',
    message: 'SOMETHING_NEW',
    meaning: {
      code: 900,
      detail: 'The service answers with a status that is not known here: 599 SOMETHING_NEW',
    },
  },
  // A fault as the status of a 200: the interface has it as a Fault, TS 102 204 allows both.
  ...faultCodes.map((code) => ({
    code: String(code),
    message: faultTable[code].reason,
    meaning: { code, detail: faultTable[code].detail },
  })),
];

/** As a member of a sign or status answer. */
export const statusMembers = (
  { code, message, signature }: (typeof statusRows)[number],
  cms = 'AAAA',
) => ({
  Status: status(code, message),
  ...(signature && { MSS_Signature: { Base64Signature: cms } }),
});

/** The body of a 500. The older texts of 402 are in use, too. */
export const faultRows = [
  ...faultCodes.map((code) => ({
    code,
    reason: faultTable[code].reason,
    detail: faultTable[code].detail,
  })),
  { code: 402, reason: 'PIN_NR_BLOCKED', detail: 'PIN of the mobile user is blocked' },
];

export const faultBody = ({ code, reason, detail }: (typeof faultRows)[number]) => ({
  Fault: {
    Code: { SubCode: { Value: `_${code}`, ValueNs: 'http://uri.etsi.org/TS102204/v1.1.2#' } },
    Detail: detail,
    Reason: reason,
  },
});
