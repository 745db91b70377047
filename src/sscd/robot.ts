/**
 * A user who agrees to everything, at once or after a while to think. What load tests and demonstrations sign with.
 *
 * While it thinks, nothing runs: it asks to be asked again, and the job sleeps until then.
 */
import type { KeyCustody } from '../pki/ports.ts';
import type { SigningDevice } from './device.ts';
import { signPrompt } from './signing.ts';

export const createRobot = ({
  custody,
  thinkSeconds,
}: {
  readonly custody: KeyCustody;
  readonly thinkSeconds: number;
}): SigningDevice => ({
  kind: 'robot',
  screen: false,
  upstream: undefined,
  prompt: async (prompt) => {
    const readyAt = prompt.promptedAt + thinkSeconds * 1000;
    if (prompt.now < readyAt) return { kind: 'awaiting', askAgainAt: readyAt };
    return { kind: 'answered', answer: await signPrompt(custody, prompt) };
  },
  receipt: async () => ({ kind: 'answered', receipt: 'accepted' }),
});
