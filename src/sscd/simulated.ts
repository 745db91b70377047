/**
 * A person whose behaviour is written down: signs, refuses with a fault, or lets the phone ring; accepts a receipt,
 * cancels it, looks at it and does nothing, or never sees it. The numbers of the test users are such persons.
 *
 * It has a screen like anybody's, so a second request while one is shown meets a busy phone.
 */
import type { KeyCustody } from '../pki/ports.ts';
import { fault, isFaultCode } from '../protocol/fault.ts';
import type { SimulatedReceipt, SimulatedSign } from '../registry/subscriber.ts';
import type { PromptResult, ReceiptResult, SigningDevice } from './device.ts';
import { signPrompt } from './signing.ts';

const receiptBehaviour: Record<SimulatedReceipt, ReceiptResult> = {
  accepts: { kind: 'answered', receipt: 'accepted' },
  cancels: { kind: 'answered', receipt: 'cancelled' },
  ignores: { kind: 'awaiting', lapsesAs: 'timeout' },
  'never-answers': { kind: 'awaiting', lapsesAs: 'unanswered' },
};

export const createSimulatedPerson = ({
  custody,
  sign,
  receipt,
}: {
  readonly custody: KeyCustody;
  readonly sign: SimulatedSign;
  readonly receipt: SimulatedReceipt;
}): SigningDevice => ({
  kind: 'simulated',
  screen: true,
  upstream: undefined,
  prompt: async (prompt): Promise<PromptResult> => {
    if (sign === 'signs') return { kind: 'answered', answer: await signPrompt(custody, prompt) };
    if (sign === 'never-answers') return { kind: 'awaiting' };
    const code = isFaultCode(sign.fault) ? sign.fault : 900;
    return { kind: 'answered', answer: { kind: 'fault', fault: fault(code) } };
  },
  receipt: async () => receiptBehaviour[receipt],
});
