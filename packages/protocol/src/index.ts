/**
 * `@paraph/protocol`: the wire of the signature interface, for programs that speak it themselves:
 * other services, gateways, test doubles. Pure: no I/O and no clock.
 */
export { type Approval, approvalMimeType, readApproval, writeApproval } from './approval.ts';
export {
  type Checked,
  type Fault,
  type FaultCode,
  type FaultReason,
  fault,
  faultCodes,
  faultLine,
  faultTable,
  isFaultCode,
  parseFaultLine,
} from './fault.ts';
export { parseJson } from './json.ts';
export { createProtocol, type Operation, type Protocol, wrappers } from './parse.ts';
export type {
  AdditionalServices,
  Caller,
  DataToBeSigned,
  Msisdn,
  ProfileName,
  ProfileRequest,
  ReceiptRequest,
  SignatureRequest,
  StatusRequest,
} from './requests.ts';
export { bytesToSign } from './requests.ts';
export { defaultProtocolRules, type ProtocolRules } from './rules.ts';
export { faultResponseSchema } from './schemas/fault.ts';
export { profileResponseSchema } from './schemas/profile.ts';
export { receiptResponseSchema } from './schemas/receipt.ts';
export { signatureResponseSchema } from './schemas/sign.ts';
export { statusResponseSchema } from './schemas/status.ts';
export { type RequestInput, writeReceiptRequest, writeSignRequest } from './write-request.ts';
