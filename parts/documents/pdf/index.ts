/** PDF signatures: pure functions over bytes, without clock, store or network. */
export { type AboutPdf, type CheckedPdf, checkPdf, maxPdfBytes } from './check.ts';
export { padesAttributes, padesCms, padesSignatureValue } from './pades.ts';
export {
  type Place,
  type PreparedOrRefused,
  type PreparedSignature,
  prepareSignature,
  type SignatureOrder,
} from './sign.ts';
