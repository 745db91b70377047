import type { KeyCustody } from '../pki/ports.ts';
import type { DeviceSpec, Sscd } from '../registry/subscriber.ts';
import type { SigningDevice } from './device.ts';
import { createPerson, createRobot } from './simulated.ts';
import type { TextGateway } from './text-gateway.ts';

export type DeviceTarget =
  | { readonly method: 'sim' | 'app'; readonly sscd: Sscd }
  | { readonly method: 'otp-text' | 'otp-flash'; readonly sscd?: undefined };

export type Devices = ReturnType<typeof createDevices>;

/**
 * One-time passwords by text message. The application puts the password into the text; this device
 * delivers it, and never answers with a signature.
 *
 * @param flash A flash message shows itself and is not kept by the phone.
 */
const createOtp = (gateway: TextGateway, flash: boolean): SigningDevice => ({
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

/** A new kind of device has its case here. */
const createDevice = (custody: KeyCustody, spec: DeviceSpec): SigningDevice => {
  switch (spec.kind) {
    case 'robot':
      return createRobot(custody, spec.thinkSeconds);
    case 'simulated':
      return createPerson(custody, spec);
  }
};

export const createDevices = ({
  custody,
  gateway,
}: {
  readonly custody: KeyCustody;
  readonly gateway: TextGateway;
}) => {
  const otp = { 'otp-text': createOtp(gateway, false), 'otp-flash': createOtp(gateway, true) };
  return {
    /** The device to ask, for a chosen method. */
    deviceFor: (target: DeviceTarget): SigningDevice =>
      target.sscd === undefined ? otp[target.method] : createDevice(custody, target.sscd.device),
  };
};
