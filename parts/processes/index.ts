/** The public face of this part, for one that needs it: what it brings (addition.ts). */
export type {
  Added,
  AdditionPageRooms,
  AdditionPages,
  AdditionTask,
  AdditionWork,
  DefinitionAddition,
  InProcess,
  Members,
  Preparation,
  ProcessAddition,
} from './addition.ts';
export type { ProcessReport } from './charts/process-report.ts';
export type { Completion } from './charts/signer-contract.ts';
export { processName } from './names.ts';
