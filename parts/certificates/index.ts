/** The public face of this part, for one that puts proofs into documents. */

export type { certificatesConfiguration } from './configuration.ts';
export { openProofs, type Proofs } from './proofs.ts';
