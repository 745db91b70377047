/** How requests about workflows are refused (workflows.route.ts). */
import type { Refusal } from '../../../src/http/application-refusals.ts';

export const tooManyOpen: Refusal = [
  429,
  'too-many',
  'The application has as many open instances as it may: this one was not started',
  900,
];
export const undecided: Refusal = [
  503,
  'busy',
  'No worker has decided in time, and it may still be done: send it again, under the same key',
  900,
];
export const tooManyStreams: Refusal = [429, 'too-many', 'There are too many streams open', 104];
export const unknown: Refusal = [404, 'not-found', 'There is no such instance', 101];
export const unknownWorkflow: Refusal = [404, 'not-found', 'There is no such workflow', 101];
export const conflict: Refusal = [
  409,
  'conflict',
  'Another instance was started under this id',
  101,
];
export const refusedEvent: Refusal = [
  409,
  'refused',
  'The instance takes no such event in its state',
  101,
];
