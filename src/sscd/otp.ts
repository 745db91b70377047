/**
 * One-time passwords by text message. The application chooses the password and puts it into the text; this device only
 * sees to it that the text reaches the phone. What comes back is a delivery, never a signature: nobody has acted on the
 * bytes.
 */
import type { SigningDevice } from './device.ts';
import type { TextGateway } from './text-gateway.ts';

export const createOtp = ({
  gateway,
  flash,
}: {
  readonly gateway: TextGateway;
  /** A flash message shows itself and is not kept by the phone. */
  readonly flash: boolean;
}): SigningDevice => ({
  kind: flash ? 'otp-flash' : 'otp-text',
  screen: false,
  upstream: gateway.upstream,
  prompt: async ({ transactionId, attempt, msisdn, data }) => {
    const sent = await gateway.send({ id: `${transactionId}-${attempt}`, msisdn, text: data.text, flash });
    return sent.kind === 'sent'
      ? { kind: 'answered', answer: { kind: 'delivered' } }
      : { kind: 'unreachable', cause: sent.cause, refused: sent.refused };
  },
  receipt: async () => ({ kind: 'answered', receipt: 'unanswered' }),
});
