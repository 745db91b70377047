/** PDF signatures: pure functions over bytes, without clock, store or network. */
export { type Attachment, attachEvidence } from './attach.ts';
export { type AboutPdf, type CheckedPdf, checkPdf, maxPdfBytes } from './check.ts';
export { padesAttributes, padesCms, padesSignatureValue } from './pades.ts';
export type { ChangedPdf } from './refused.ts';
export { addRevocation, type ValidationMaterial } from './security-store.ts';
export {
  type Place,
  type PreparedOrRefused,
  type PreparedSignature,
  prepareSignature,
  type SignatureOrder,
} from './sign.ts';
export type { PadesLevel } from './trust.ts';
export { type PdfReport, type PdfSignatureReport, verifyPdf } from './verify.ts';
