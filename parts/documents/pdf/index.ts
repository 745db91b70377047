/** PDF signatures: pure functions over bytes, without clock, store or network. */
export { attachEvidence } from './attach.ts';
export { type CheckedPdf, checkPdf } from './check.ts';
export { padesAttributes, padesCms, padesSignatureValue } from './pades.ts';
export { recordsIn } from './record.ts';
export { addRevocation, type ValidationMaterial } from './security-store.ts';
export { prepareSignature, type SignatureOrder } from './sign.ts';
export { type PdfReport, type PdfSignatureReport, verifyPdf } from './verify.ts';
