import type { KeyCustody } from '../pki/ports.ts';
import type { Sscd } from '../registry/subscriber.ts';
import type { SigningDevice } from './device.ts';
import { createOtp } from './otp.ts';
import { createSimulated } from './simulated.ts';
import type { TextGateway } from './text-gateway.ts';

export type DeviceTarget =
  | { readonly method: 'sim' | 'app'; readonly sscd: Sscd }
  | { readonly method: 'otp-text' | 'otp-flash'; readonly sscd?: undefined };

export interface Devices {
  /** The device to ask, for a chosen method. */
  deviceFor(target: DeviceTarget): SigningDevice;
}

export const createDevices = ({
  custody,
  gateway,
}: {
  readonly custody: KeyCustody;
  readonly gateway: TextGateway;
}): Devices => {
  const otp = {
    'otp-text': createOtp({ gateway, flash: false }),
    'otp-flash': createOtp({ gateway, flash: true }),
  };
  return {
    deviceFor: (target) =>
      target.sscd === undefined ? otp[target.method] : createSimulated(custody, target.sscd.device),
  };
};
