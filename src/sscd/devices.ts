import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { type DeviceSpec, isSimulated, type Sscd } from '../registry/subscriber.ts';
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
    const sent = await gateway.send({
      id: `${transactionId}-${attempt}`,
      msisdn,
      text: data.text,
      flash,
    });
    return sent.kind === 'sent'
      ? { kind: 'answered', answer: { kind: 'delivered' } }
      : { kind: 'unreachable', cause: sent.cause, refused: sent.refused };
  },
  receipt: async () => ({ kind: 'answered', receipt: 'unanswered' }),
});

/**
 * Makes devices of one kind.
 *
 * @returns Undefined for a device of another kind.
 */
export type MakeDevice = (spec: DeviceSpec) => SigningDevice | undefined;

export interface DevicesOptions {
  readonly custody: KeyCustody;
  /** Sends texts. */
  readonly gateway: TextGateway;
  /** One for each kind that is not simulated here. */
  readonly kinds?: readonly MakeDevice[];
}

const simulatedHere =
  (custody: KeyCustody): MakeDevice =>
  (spec) => {
    if (!isSimulated(spec)) return undefined;
    return spec.kind === 'robot'
      ? createRobot(custody, spec.thinkSeconds)
      : createPerson(custody, spec);
  };

export const createDevices = ({ custody, gateway, kinds = [] }: DevicesOptions) => {
  const otp = { 'otp-text': createOtp(gateway, false), 'otp-flash': createOtp(gateway, true) };
  const makers = [simulatedHere(custody), ...kinds];
  const make = (spec: DeviceSpec): SigningDevice => {
    for (const maker of makers) {
      const device = maker(spec);
      if (device !== undefined) return device;
    }
    throw new Error(`This process has no device of the kind ${spec.kind}`);
  };
  return {
    /** The device to ask, for a chosen method. */
    deviceFor: (target: DeviceTarget): SigningDevice =>
      target.sscd === undefined ? otp[target.method] : make(target.sscd.device),
  };
};
