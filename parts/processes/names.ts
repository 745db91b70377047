/** The names of the workflows of this part, and of the activities of their charts. */
export { processName } from '../workflows/index.ts';

/** The workflow of one mail to a signer. The service alone starts it. */
export const mailWorkflowName = 'mail';

export const processActivities = {
  sign: 'process.sign',
  attest: 'process.attest',
  // Of another part (addition.ts).
  prepare: 'process.prepare',
  complete: 'process.complete',
  finish: 'process.finish',
} as const;
