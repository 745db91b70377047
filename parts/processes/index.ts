/** The public face of this part, for one that needs it: what it brings (addition.ts). */

export type {
  Added,
  AdditionConsole,
  AdditionPageRooms,
  AdditionPages,
  AdditionTask,
  AdditionWork,
  InProcess,
  Preparation,
  ProcessAddition,
} from './addition.ts';
export type { DefinitionAddition, Members } from './definition/addition.ts';

import type { DefinitionAddition } from './definition/addition.ts';
import type { VerifyEvidence } from './evidence/verify-evidence.ts';

export type { Completion } from './charts/signer-contract.ts';
export type { EvidenceVerification } from './evidence/verify-evidence.ts';

/** Verifies evidence records offline. @param addition Members of the part that asks. */
export const openVerifyEvidence = async (addition: DefinitionAddition): Promise<VerifyEvidence> =>
  (await import('./evidence/verify-evidence.ts')).createVerifyEvidence(addition);
