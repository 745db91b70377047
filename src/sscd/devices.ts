import type { KeyCustody } from '../pki/ports.ts';
import type { DeviceSpec, Sscd } from '../registry/subscriber.ts';
import type { SigningDevice } from './device.ts';
import { createBehindGateway, type GatewayNotes } from './gateway.ts';
import type { Gateways } from './gateways.ts';
import { createPhone, type PhoneOptions } from './phone.ts';
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

export interface DevicesOptions {
  readonly custody: KeyCustody;
  /** Sends texts. */
  readonly gateway: TextGateway;
  readonly phones: PhoneOptions;
  /** Other services, behind which devices are. */
  readonly upstream?: { readonly gateways: Pick<Gateways, 'find'>; readonly notes: GatewayNotes };
}

/** A new kind of device has its case here. */
const createDevice = (
  { custody, upstream }: DevicesOptions,
  phone: SigningDevice,
  spec: DeviceSpec,
): SigningDevice => {
  switch (spec.kind) {
    case 'robot':
      return createRobot(custody, spec.thinkSeconds);
    case 'simulated':
      return createPerson(custody, spec);
    case 'phone':
      return phone;
    case 'gateway': {
      const behind = upstream?.gateways.find(spec.upstream);
      if (upstream === undefined || behind === undefined)
        throw new Error(`There is no gateway ${spec.upstream}`);
      return createBehindGateway(behind, upstream.notes);
    }
  }
};

export const createDevices = (options: DevicesOptions) => {
  const { gateway, phones } = options;
  const otp = { 'otp-text': createOtp(gateway, false), 'otp-flash': createOtp(gateway, true) };
  const phone = createPhone(phones);
  return {
    /** The device to ask, for a chosen method. */
    deviceFor: (target: DeviceTarget): SigningDevice =>
      target.sscd === undefined ? otp[target.method] : createDevice(options, phone, target.sscd.device),
  };
};
