/** What programs that add workflows by themselves check of documents in processes. */
import type { InputRules } from '../../workflows/index.ts';
import { documentsInDefinition } from './definition.ts';

export const documentInputs: InputRules = {
  hidden: [],
  problemIn: () => undefined,
  brings: documentsInDefinition,
};
