/**
 * Schemas of every body on the wire: requests as they are checked, responses as they are written.
 * Types and the components of the OpenAPI document come from the same objects. Only the sign
 * request depends on configuration.
 */
export { faultResponseSchema } from './schemas/fault.ts';
export { type MssProfileResp, profileRequestSchema, profileResponseSchema } from './schemas/profile.ts';
export { type MssReceiptResp, receiptRequestSchema, receiptResponseSchema } from './schemas/receipt.ts';
export { type MssSignatureResp, signatureRequestSchema, signatureResponseSchema } from './schemas/sign.ts';
export { type MssStatusResp, statusRequestSchema, statusResponseSchema } from './schemas/status.ts';
