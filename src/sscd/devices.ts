import type { KeyCustody } from '../pki/ports.ts';
import type { Sscd } from '../registry/subscriber.ts';
import type { SigningDevice } from './device.ts';
import { createOtp } from './otp.ts';
import { createRobot } from './robot.ts';
import { createSimulatedPerson } from './simulated.ts';
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
    deviceFor: (target) => {
      if (target.sscd === undefined) return otp[target.method];
      const spec = target.sscd.device;
      switch (spec.kind) {
        case 'robot':
          return createRobot({ custody, thinkSeconds: spec.thinkSeconds });
        case 'simulated':
          return createSimulatedPerson({ custody, sign: spec.sign, receipt: spec.receipt });
      }
    },
  };
};
